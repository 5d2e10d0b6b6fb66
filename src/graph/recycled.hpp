// Memory of objects that come and go by the dozen, kept for the next of their type.
#pragma once

#include <cstddef>
#include <new>

namespace galop::graph {

/// Base class `T : Recycled<T>`: each thread keeps the memory of a few deleted objects, which spares the allocator's
/// slow ways when a graph of some twenty operations is built and dropped again and again.
template <class T>
class Recycled {
 public:
  static void* operator new(std::size_t size) {
    if (!kept_.first) return ::operator new(size);
    Link* const taken = kept_.first;
    kept_.first = taken->next;
    --kept_.count;
    return taken;
  }
  static void* operator new(std::size_t, void* at) noexcept { return at; }
  static void operator delete(void* p) noexcept {
    if (kept_.ended || kept_.count >= kMost) return ::operator delete(p);
    if (kept_.count == 0) static thread_local End at_end;
    kept_.first = new (p) Link{kept_.first};
    ++kept_.count;
  }
  static void operator delete(void*, void*) noexcept {}

 private:
#ifdef GALOP_SANITIZED  // which is to see what is used after its end
  static constexpr int kMost = 0;
#else
  static constexpr int kMost = 64;
#endif
  struct Link {
    Link* next;
  };
  struct Kept {  // without a destructor: objects may go after the thread's other variables
    Link* first;
    int count;
    bool ended;
  };
  struct End {
    ~End() {
      kept_.ended = true;
      while (Link* const l = kept_.first) {
        kept_.first = l->next;
        ::operator delete(l);
      }
    }
  };
  static inline constinit thread_local Kept kept_{};
};

}  // namespace galop::graph
