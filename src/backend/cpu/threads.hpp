// The CPU's worker threads: one oneTBB arena, static splits whose shape depends on sizes and the thread count only.
#pragma once

#include <cstdint>
#include <memory>
#include <type_traits>
#include <utility>

namespace galop::cpu {

/// A callable by reference: two words, no allocation. The callable must outlive the call it is passed to.
template <class Signature>
class function_ref;

template <class R, class... Args>
class function_ref<R(Args...)> {
 public:
  template <class F>
  requires(!std::is_same_v<std::remove_cvref_t<F>, function_ref> && std::is_invocable_r_v<R, F&, Args...>)
      function_ref(F&& f)  // implicit, so that a lambda can be written at the call
      : object_(const_cast<void*>(static_cast<const void*>(std::addressof(f)))),
        call_([](void* object, Args... args) -> R {
          return (*static_cast<std::remove_reference_t<F>*>(object))(std::forward<Args>(args)...);
        }) {}

  R operator()(Args... args) const { return call_(object_, std::forward<Args>(args)...); }

 private:
  void* object_;
  R (*call_)(void*, Args...);
};

/// Threads that take part in a job, the caller included: set_thread_count's, else GALOP_THREADS, else the cores that
/// affinity and the control group allow. Throws ValueError for a GALOP_THREADS that is no number from 1 to 1024.
int thread_count();

/// Sets thread_count() for all later jobs; throws ValueError unless 1 <= n <= 1024.
void set_thread_count(int n);

/// Cores that this process may use: the affinity mask, cut by the control group's quota.
int allowed_cores();

/// Calls f(begin, end, worker) for contiguous parts that cover [0, n), at most one a thread and none below `grain`
/// items (save when n is). worker counts the parts from 0. Serial, as worker 0, when there is one part or the caller is
/// itself inside a part. The split is part i = [n*i/parts, n*(i+1)/parts). The first exception stops parts that have
/// not begun and is rethrown here.
void parallel_for(std::int64_t n, std::int64_t grain, function_ref<void(std::int64_t, std::int64_t, int)> f);

/// Calls f(chunk, worker) once for each chunk in [0, count), handed out in order to whichever thread is free. For
/// chunks that write to places of their own, so that nothing depends on who took which. worker < thread_count() numbers
/// the thread's scratch.
void parallel_chunks(std::int64_t count, function_ref<void(std::int64_t, int)> f);

/// Has fork() end the workers, which both sides then start anew; the first job does this by itself. Locks that are held
/// while jobs run register their own handlers after it, so that fork() takes them first.
void survive_forks();

/// Whether the calling thread is inside a part, where further calls run serially.
bool in_parallel();

}  // namespace galop::cpu
