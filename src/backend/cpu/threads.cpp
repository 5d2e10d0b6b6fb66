// The arena: made at the first parallel job, taken down around fork() so that parent and child each make a new one.
#include "backend/cpu/threads.hpp"

#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/parallel_for.h>
#include <oneapi/tbb/partitioner.h>
#include <oneapi/tbb/task_arena.h>
#include <pthread.h>
#include <sched.h>

#include <algorithm>
#include <atomic>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <new>
#include <optional>
#include <shared_mutex>
#include <string>
#include <thread>

#include "backend/cpu/machine.hpp"
#include "core/interrupt.hpp"
#include "galop/error.hpp"

#ifdef GALOP_TSAN
extern "C" void __tsan_acquire(void*);  // NOLINT(bugprone-reserved-identifier): ThreadSanitizer's own names
extern "C" void __tsan_release(void*);  // NOLINT(bugprone-reserved-identifier)
#endif

namespace galop::cpu {
namespace {

constexpr int kMaxThreads = 1024;

// oneTBB's library is not built for ThreadSanitizer, which would take all of its hand-overs for races. So
// CMakeLists.txt has this file compiled without it, and what happens before what is told here; an address stands for a
// moment.
void happens_before([[maybe_unused]] char& moment) {
#ifdef GALOP_TSAN
  __tsan_release(&moment);
#endif
}

void happens_after([[maybe_unused]] char& moment) {
#ifdef GALOP_TSAN
  __tsan_acquire(&moment);
#endif
}

// Tells it at the end of a scope, which an exception may bring about.
struct HappensBefore {
  char& moment;
  ~HappensBefore() { happens_before(moment); }
};
struct HappensAfter {
  char& moment;
  ~HappensAfter() { happens_after(moment); }
};

// Set while this thread runs a part. A part never waits for oneTBB, so it never picks up a stranger's task meanwhile.
thread_local bool inside_part = false;

class InsidePart {
 public:
  InsidePart() { inside_part = true; }
  ~InsidePart() { inside_part = false; }
  InsidePart(const InsidePart&) = delete;
  InsidePart& operator=(const InsidePart&) = delete;
};

struct Pool {
  explicit Pool(int n)
      : scheduler(tbb::attach{}),
        limit(std::in_place, tbb::global_control::max_allowed_parallelism, static_cast<std::size_t>(n)),
        arena(std::in_place, n, 1) {
    arena->initialize();
  }

  tbb::task_scheduler_handle scheduler;
  std::optional<tbb::global_control> limit;  // more threads than cores too, when somebody asks for them
  std::optional<tbb::task_arena> arena;

  // Ends the workers. False when another user of oneTBB in this process still holds them.
  bool finish() {
    arena.reset();
    limit.reset();
    return tbb::finalize(scheduler, std::nothrow);
  }
};

struct State {
  std::shared_mutex mutex;  // shared: a job runs; exclusive: the pool changes
  std::unique_ptr<Pool> pool;
  bool serial_only = false;   // a child whose parent could not end its workers: oneTBB's state in it is of no use
  std::atomic<int> count{0};  // 0: not yet asked
};

State& state() {
  static State* const s = new State;  // never destroyed: static objects may still use arrays while the process ends
  return *s;
}

int count_from_environment() {
  const char* text = std::getenv("GALOP_THREADS");
  if (text == nullptr || *text == '\0') return allowed_cores();
  int n = 0;
  const char* end = text + std::strlen(text);
  const auto [stop, error] = std::from_chars(text, end, n);
  if (error != std::errc() || stop != end || n < 1 || n > kMaxThreads)
    throw ValueError("[threads] GALOP_THREADS must be a number from 1 to 1024; got '" + std::string(text) + "'");
  return n;
}

// Workers do not live on in a child. So they end before fork(), and the next job on either side starts new ones.
void before_fork() {
  if (inside_part) return;  // the job that holds the lock is ours; such a child may only exec
  State& s = state();
  s.mutex.lock();
  if (s.pool) {
    const bool ended = s.pool->finish();
    if (ended) {
      s.pool.reset();
    } else {
      static_cast<void>(s.pool.release());  // its workers are somebody else's too; both sides go on without it
    }
    s.serial_only = !ended;
  }
}

void after_fork_in_parent() {
  if (inside_part) return;
  State& s = state();
  s.serial_only = false;
  s.mutex.unlock();
}

void after_fork_in_child() {
  if (inside_part) return;
  // A fresh lock instead of an unlock, which glibc reserves to the thread id that locked: the child's is another.
  new (&state().mutex) std::shared_mutex;
}

void make_pool() {
  State& s = state();
  survive_forks();
  const int n = thread_count();
  std::unique_lock lock(s.mutex);
  if (!s.pool && !s.serial_only) s.pool = std::make_unique<Pool>(n);
}

// Runs f(0) … f(parts - 1), each as one task. oneTBB's static partitioner sends a part to the same thread each time
// where it can.
void run_parts(int parts, function_ref<void(int)> f) {
  State& s = state();
  char begun = 0, ended = 0;
  interrupt::Job* const job = interrupt::job;
  for (;;) {
    {
      std::shared_lock lock(s.mutex);
      if (s.serial_only) break;
      if (s.pool) {
        happens_before(begun);
        const HappensAfter all_parts{ended};
        s.pool->arena->execute([&] {
          tbb::parallel_for(
              0, parts, 1,
              [&](int part) {
                const InsidePart mark;
                const interrupt::Join join(job);
                happens_after(begun);
                const HappensBefore part_ends{ended};
                f(part);
              },
              tbb::static_partitioner());
        });
        return;
      }
    }
    make_pool();
  }
  const InsidePart mark;
  for (int part = 0; part < parts; ++part) f(part);
}

}  // namespace

void survive_forks() {
  static std::once_flag once;
  // Registered late, so that it runs before the handlers of the locks that running jobs need, such as memory's.
  std::call_once(once, [] { pthread_atfork(before_fork, after_fork_in_parent, after_fork_in_child); });
}

int allowed_cores() {
  int cores = static_cast<int>(std::thread::hardware_concurrency());
  // A mask of growing size, since a machine may have more processors than cpu_set_t holds.
  for (std::size_t processors = 1024; processors <= 1 << 18; processors *= 4) {
    cpu_set_t* set = CPU_ALLOC(processors);
    const std::size_t bytes = CPU_ALLOC_SIZE(processors);
    const bool known = sched_getaffinity(0, bytes, set) == 0;
    if (known) cores = CPU_COUNT_S(bytes, set);
    CPU_FREE(set);
    if (known) break;
  }
  const double quota = cgroup_cpu_quota();
  if (quota > 0) cores = std::min(cores, static_cast<int>(std::ceil(quota)));
  return std::clamp(cores, 1, kMaxThreads);
}

int thread_count() {
  State& s = state();
  int n = s.count.load(std::memory_order_relaxed);
  if (n != 0) return n;
  int fresh = count_from_environment();
  if (!s.count.compare_exchange_strong(n, fresh)) fresh = n;
  return fresh;
}

void set_thread_count(int n) {
  if (n < 1 || n > kMaxThreads)
    throw ValueError("[set_thread_count] the number of threads must be from 1 to 1024; got " + std::to_string(n));
  if (inside_part) throw ValueError("[set_thread_count] the number of threads cannot change inside a parallel job");
  State& s = state();
  std::unique_lock lock(s.mutex);
  s.count.store(n);
  s.pool.reset();
}

bool in_parallel() { return inside_part; }

void parallel_for(std::int64_t n, std::int64_t grain, function_ref<void(std::int64_t, std::int64_t, int)> f) {
  if (n <= 0) return;
  const std::int64_t wanted = n / std::max<std::int64_t>(grain, 1);
  if (wanted < 2 || inside_part) return f(0, n, 0);
  const int parts = static_cast<int>(std::min<std::int64_t>(wanted, thread_count()));
  if (parts < 2) return f(0, n, 0);
  // n * part may pass 2^63: the quotient and the remainder are split apart.
  const std::int64_t whole = n / parts;
  const std::int64_t rest = n % parts;
  const auto bound = [=](int part) { return whole * part + rest * part / parts; };
  run_parts(parts, [&](int part) { f(bound(part), bound(part + 1), part); });
}

void parallel_chunks(std::int64_t count, function_ref<void(std::int64_t, int)> f) {
  if (count <= 0) return;
  const int parts = inside_part ? 1 : static_cast<int>(std::min<std::int64_t>(count, thread_count()));
  if (parts < 2) {
    for (std::int64_t chunk = 0; chunk < count; ++chunk) {
      interrupt::poll();
      f(chunk, 0);
    }
    return;
  }
  std::atomic<std::int64_t> next{0};
  run_parts(parts, [&](int part) {
    try {
      for (std::int64_t chunk; (chunk = next.fetch_add(1, std::memory_order_relaxed)) < count;) {
        interrupt::poll();
        f(chunk, part);
      }
    } catch (...) {
      next.store(count, std::memory_order_relaxed);
      throw;
    }
  });
}

}  // namespace galop::cpu
