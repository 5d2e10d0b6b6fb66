// Three tiers: slabs of equal blocks behind thread caches (to 64 KiB), 64 MiB arenas of size classes (to 8 MiB), own
// regions above.
#include "backend/cpu/memory.hpp"

#include <pthread.h>
#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <new>
#include <string>
#include <vector>

#include "backend/cpu/machine.hpp"
#include "backend/cpu/threads.hpp"
#include "core/interrupt.hpp"
#include "galop/error.hpp"

#if defined(__SANITIZE_ADDRESS__)
#define GALOP_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define GALOP_ASAN 1
#endif
#endif
#ifdef GALOP_ASAN
#include <sanitizer/asan_interface.h>
#endif

namespace galop::cpu {
namespace {

constexpr std::int64_t kKiB = 1 << 10;
constexpr std::int64_t kMiB = 1 << 20;
constexpr std::int64_t kLine = 64;
constexpr std::int64_t kPage = 4 * kKiB;
constexpr std::int64_t kHugePage = 2 * kMiB;
constexpr std::int64_t kStepped = 4 * kKiB;         // classes in steps of a line up to here
constexpr std::int64_t kSmall = 64 * kKiB + kLine;  // slabs up to here
constexpr std::int64_t kMedium = 8 * kMiB;          // arenas up to here
constexpr std::int64_t kSlab = kMiB;
constexpr std::int64_t kArena = 64 * kMiB;
constexpr std::int64_t kTouch = 4 * kMiB;  // first touch in parallel from here on
constexpr std::size_t kSteppedClasses = kStepped / kLine;
constexpr std::size_t kClasses = kSteppedClasses + 32;
constexpr std::size_t kCacheSlots = 64;

// Small classes above 4 KiB: eight an octave, each an odd number of lines, so that neighbours differ modulo 4 KiB by
// themselves.
constexpr std::int64_t class_bytes(std::size_t c) {
  if (c < kSteppedClasses) return static_cast<std::int64_t>(c + 1) * kLine;
  const std::int64_t base = kStepped << ((c - kSteppedClasses) / 8);
  return base + static_cast<std::int64_t>((c - kSteppedClasses) % 8 + 1) * (base / 8) + kLine;
}

constexpr std::size_t small_class(std::int64_t bytes) {
  if (bytes <= kStepped) return static_cast<std::size_t>(std::max<std::int64_t>(bytes - 1, 0) / kLine);
  const auto x = static_cast<std::uint64_t>(bytes - kLine - 1);
  if (x < static_cast<std::uint64_t>(kStepped)) return kSteppedClasses;
  const auto octave = static_cast<std::size_t>(std::bit_width(x)) - 13;
  return kSteppedClasses + 8 * octave + ((x >> (octave + 9)) & 7);
}

constexpr bool classes_fit() {
  for (std::size_t c = 0; c < kClasses; ++c)
    if (small_class(class_bytes(c)) != c || (c > 0 && small_class(class_bytes(c - 1) + 1) != c)) return false;
  return class_bytes(kClasses - 1) == kSmall;
}
static_assert(classes_fit());

constexpr std::size_t cache_slots(std::size_t c) {
  return std::clamp<std::size_t>(static_cast<std::size_t>(128 * kKiB / class_bytes(c)), 2, kCacheSlots);
}

// The capacity of a larger block: room for any start below 4 KiB, then eight classes an octave (12.5 % at most, mostly
// untouched).
constexpr std::int64_t large_capacity(std::int64_t bytes) {
  const auto need = static_cast<std::uint64_t>(bytes + kPage - kLine);
  const std::uint64_t step = std::bit_floor(need) / 8;
  const auto unit = static_cast<std::uint64_t>(bytes <= kMedium ? kPage : kHugePage);
  const std::uint64_t grain = std::max(step, unit);
  return static_cast<std::int64_t>((need + grain - 1) / grain * grain);
}

// Start offsets of larger blocks: multiples of a line, about the golden section of 4 KiB apart from one block to the
// next.
std::int64_t next_stagger() {
  static std::atomic<std::uint32_t> counter{0};
  return static_cast<std::int64_t>(counter.fetch_add(25, std::memory_order_relaxed) % 64) * kLine;
}

char* page_of(void* data) {
  return reinterpret_cast<char*>(reinterpret_cast<std::uintptr_t>(data) & ~static_cast<std::uintptr_t>(kPage - 1));
}

void hide([[maybe_unused]] void* data, [[maybe_unused]] std::int64_t bytes) {
#ifdef GALOP_ASAN
  __asan_poison_memory_region(data, static_cast<std::size_t>(bytes));
#endif
}

void show([[maybe_unused]] void* data, [[maybe_unused]] std::int64_t bytes) {
#ifdef GALOP_ASAN
  __asan_unpoison_memory_region(data, static_cast<std::size_t>(bytes));
#endif
}

// Fresh zero pages, aligned; null when the system refuses.
char* map_pages(std::int64_t bytes, std::int64_t alignment) {
  const auto span = static_cast<std::size_t>(bytes + alignment);
  void* raw = mmap(nullptr, span, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (raw == MAP_FAILED) return nullptr;
  char* start = static_cast<char*>(raw);
  const auto address = reinterpret_cast<std::uintptr_t>(start);
  const auto past = static_cast<std::int64_t>(address % static_cast<std::uintptr_t>(alignment));
  const std::int64_t head = past == 0 ? 0 : alignment - past;
  if (head > 0) munmap(start, static_cast<std::size_t>(head));
  if (head < alignment) munmap(start + head + bytes, static_cast<std::size_t>(alignment - head));
  return start + head;
}

std::string in_words(std::int64_t bytes) {
  const char* const units[] = {"bytes", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  double value = static_cast<double>(bytes);
  int unit = 0;
  for (; value >= 1024 && unit < 6; ++unit) value /= 1024;
  std::string text = std::to_string(value);
  return text.substr(0, text.find('.') + 2) + " " + units[unit];
}

[[noreturn]] void out_of_memory(std::int64_t bytes, std::int64_t available) {
  throw MemoryError("[allocate] not enough memory for an array of " + std::to_string(bytes) + " bytes (" +
                    in_words(bytes) + "); got " + std::to_string(available) + " bytes (" + in_words(available) +
                    ") available");
}

struct Free {
  char* base;
  bool resident;        // false after trim(): the address space is ours, the pages are not
  std::uint64_t since;  // when it was released, for giving back the oldest first
};

struct ThreadCache {
  std::array<std::array<void*, kCacheSlots>, kClasses> slots;
  std::array<std::size_t, kClasses> count{};
  std::atomic<std::int64_t> in_use{
      0};  // written by its thread only; may be negative, for blocks that came from elsewhere
};

struct Central {
  std::mutex mutex;
  // Small.
  std::array<std::vector<void*>, kClasses> small_free;
  std::array<char*, kClasses> bump{};
  std::array<char*, kClasses> bump_end{};
  std::vector<ThreadCache*> caches;
  std::int64_t small_ended = 0;  // in_use of threads that have ended, and of releases after a thread's cache has gone
  std::int64_t slab_bytes = 0;
  // Medium and large.
  std::map<std::int64_t, std::vector<Free>> medium_free;
  std::multimap<std::int64_t, Free> large_free;
  std::map<char*, std::int64_t> regions;  // all large blocks, in use or free, by address
  void (*forget)(char* base, std::int64_t bytes) noexcept = nullptr;
  char* arena = nullptr;
  char* arena_end = nullptr;
  std::int64_t in_use = 0;
  std::int64_t medium_cached = 0;
  std::int64_t large_cached = 0;
  std::int64_t untouched = 0;  // handed out, but not yet taken from the system's available memory
  std::int64_t peak = 0;
  std::uint64_t clock = 0;

  void note_peak() { peak = std::max(peak, in_use + slab_bytes); }
};

Central& central() {
  static Central* const c =
      new Central;  // never destroyed: static objects may still hold arrays while the process ends
  return *c;
}

// A lock that another thread holds at fork() would stay locked in the child for ever.
[[maybe_unused]] const int registered_for_fork =
    pthread_atfork([] { central().mutex.lock(); }, [] { central().mutex.unlock(); }, [] { central().mutex.unlock(); });

// A load, without a call that finds the thread's storage.
constinit thread_local ThreadCache* thread_cache __attribute__((tls_model("initial-exec"))) = nullptr;
thread_local bool thread_ends = false;

struct AtThreadEnd {
  ~AtThreadEnd() {
    thread_ends = true;
    if (thread_cache == nullptr) return;
    Central& c = central();
    {
      const std::lock_guard lock(c.mutex);
      for (std::size_t k = 0; k < kClasses; ++k)
        c.small_free[k].insert(c.small_free[k].end(), thread_cache->slots[k].data(),
                               thread_cache->slots[k].data() + thread_cache->count[k]);
      c.small_ended += thread_cache->in_use.load(std::memory_order_relaxed);
      std::erase(c.caches, thread_cache);
    }
    delete thread_cache;
    thread_cache = nullptr;
  }
};

ThreadCache* make_own_cache() {
  if (thread_ends) return nullptr;
  static thread_local AtThreadEnd at_end;
  static_cast<void>(at_end);
  auto* fresh = new ThreadCache;
  Central& c = central();
  const std::lock_guard lock(c.mutex);
  c.caches.push_back(fresh);
  return thread_cache = fresh;
}

// This thread's cache, or null while the thread ends.
inline ThreadCache* own_cache() {
  if (thread_cache != nullptr) [[likely]]
    return thread_cache;
  return make_own_cache();
}

void count_small(ThreadCache& cache, std::int64_t bytes) {
  cache.in_use.store(cache.in_use.load(std::memory_order_relaxed) + bytes, std::memory_order_relaxed);
}

// One block of class k; the lock is held.
void* take_small(Central& c, std::size_t k) {
  if (!c.small_free[k].empty()) {
    void* data = c.small_free[k].back();
    c.small_free[k].pop_back();
    return data;
  }
  const std::int64_t size = class_bytes(k);
  if (c.bump_end[k] - c.bump[k] < size) {
    char* slab = map_pages(kSlab, kSlab);
    if (slab == nullptr) out_of_memory(size, 0);
    c.bump[k] = slab;
    c.bump_end[k] = slab + kSlab;
    c.slab_bytes += kSlab;
    c.note_peak();
    hide(slab, kSlab);
  }
  char* data = c.bump[k];
  c.bump[k] += size;
  if (poisons_memory()) {
    show(data, size);
    std::memset(data, kPoison, static_cast<std::size_t>(size));
    hide(data, size);
  }
  return data;
}

Block allocate_small(std::int64_t bytes) {
  const std::size_t k = small_class(bytes);
  Block block{nullptr, bytes, class_bytes(k)};
  ThreadCache* cache = own_cache();
  if (cache != nullptr && cache->count[k] > 0) [[likely]] {
    block.data = cache->slots[k][--cache->count[k]];
  } else {
    Central& c = central();
    const std::lock_guard lock(c.mutex);
    block.data = take_small(c, k);
    if (cache == nullptr) {
      c.small_ended += block.capacity;
    } else {
      // A few more from the free list, so that the lock is rare; never fresh ones, which would cost memory nobody asked
      // for.
      auto& list = c.small_free[k];
      while (cache->count[k] < cache_slots(k) / 2 && !list.empty()) {
        cache->slots[k][cache->count[k]++] = list.back();
        list.pop_back();
      }
    }
  }
  if (cache != nullptr) count_small(*cache, block.capacity);
  show(block.data, bytes);
  return block;
}

void release_small(const Block& block) {
  const std::size_t k = small_class(block.bytes);
  if (poisons_memory()) {
    show(block.data, block.capacity);
    std::memset(block.data, kPoison, static_cast<std::size_t>(block.capacity));
  }
  hide(block.data, block.capacity);
  ThreadCache* cache = own_cache();
  if (cache == nullptr) {
    Central& c = central();
    const std::lock_guard lock(c.mutex);
    c.small_free[k].push_back(block.data);
    c.small_ended -= block.capacity;
    return;
  }
  std::size_t& count = cache->count[k];
  if (count == cache_slots(k)) {
    Central& c = central();
    const std::lock_guard lock(c.mutex);
    const std::size_t keep = count / 2;
    c.small_free[k].insert(c.small_free[k].end(), cache->slots[k].data() + keep, cache->slots[k].data() + count);
    count = keep;
  }
  cache->slots[k][count++] = block.data;
  count_small(*cache, -block.capacity);
}

// Slabs whose blocks are all on the free list go back to the system; the lock is held.
void trim_small(Central& c) {
  const auto slab_of = [](void* p) {
    return reinterpret_cast<std::uintptr_t>(p) & ~static_cast<std::uintptr_t>(kSlab - 1);
  };
  for (std::size_t k = 0; k < kClasses; ++k) {
    auto& list = c.small_free[k];
    std::sort(list.begin(), list.end());
    const auto full = static_cast<std::size_t>(kSlab / class_bytes(k));
    // Blocks of the slab in hand that were never handed out are not on the list.
    const std::uintptr_t in_hand = c.bump[k] == nullptr ? 0 : slab_of(c.bump_end[k] - 1);
    std::vector<void*> kept;
    for (std::size_t i = 0, j; i < list.size(); i = j) {
      const std::uintptr_t slab = slab_of(list[i]);
      for (j = i + 1; j < list.size() && slab_of(list[j]) == slab; ++j) {
      }
      const bool last = slab == in_hand;
      const auto handed =
          last ? static_cast<std::size_t>((c.bump[k] - (c.bump_end[k] - kSlab)) / class_bytes(k)) : full;
      if (j - i < handed) {
        kept.insert(kept.end(), list.begin() + static_cast<std::ptrdiff_t>(i),
                    list.begin() + static_cast<std::ptrdiff_t>(j));
        continue;
      }
      if (last) c.bump[k] = c.bump_end[k] = nullptr;
      show(reinterpret_cast<void*>(slab), kSlab);
      munmap(reinterpret_cast<void*>(slab), static_cast<std::size_t>(kSlab));
      c.slab_bytes -= kSlab;
    }
    list = std::move(kept);
  }
}

void unmap_large(Central& c, std::multimap<std::int64_t, Free>::iterator entry) {
  show(entry->second.base, entry->first);
  if (c.forget) c.forget(entry->second.base, entry->first);
  c.regions.erase(entry->second.base);
  munmap(entry->second.base, static_cast<std::size_t>(entry->first));
  c.large_cached -= entry->first;
  c.large_free.erase(entry);
}

void trim_large(Central& c) {
  while (!c.large_free.empty()) unmap_large(c, c.large_free.begin());
  for (auto& [capacity, list] : c.medium_free)
    for (Free& free : list)
      if (free.resident && madvise(free.base, static_cast<std::size_t>(capacity), MADV_DONTNEED) == 0) {
        free.resident = false;
        c.medium_cached -= capacity;
      }
}

// Makes sure that `bytes` of fresh memory are there, by giving back free memory if need be; the lock is held.
void require_available(Central& c, std::int64_t bytes) {
  // The kernel's figure is an estimate, so a part is left to it.
  const auto left = [&] { return std::max<std::int64_t>(available_memory() - total_memory() / 64 - c.untouched, 0); };
  const std::int64_t available = left();
  if (bytes <= available) return;
  if (bytes > available + c.large_cached + c.medium_cached)
    out_of_memory(bytes, available + c.large_cached + c.medium_cached);
  trim_large(c);
  if (const std::int64_t now = left(); bytes > now) out_of_memory(bytes, now);
}

char* take_medium(Central& c, std::int64_t capacity, bool& fresh) {
  auto& list = c.medium_free[capacity];
  if (!list.empty()) {
    const Free free = list.back();
    list.pop_back();
    fresh = !free.resident;
    if (free.resident) c.medium_cached -= capacity;
    return free.base;
  }
  fresh = true;
  if (c.arena_end - c.arena < capacity) {
    require_available(c, capacity);
    char* arena = map_pages(kArena, kHugePage);
    if (arena == nullptr) out_of_memory(capacity, 0);
    madvise(arena, static_cast<std::size_t>(kArena), MADV_HUGEPAGE);
    c.arena = arena;
    c.arena_end = arena + kArena;
    hide(arena, kArena);
  }
  char* base = c.arena;
  c.arena += capacity;
  return base;
}

char* take_large(Central& c, std::int64_t bytes, std::int64_t& capacity, bool& fresh) {
  const auto entry = c.large_free.lower_bound(bytes + kPage - kLine);
  if (entry != c.large_free.end() && entry->first <= capacity + capacity / 4) {
    char* base = entry->second.base;
    capacity = entry->first;
    c.large_cached -= capacity;
    c.large_free.erase(entry);
    fresh = false;
    return base;
  }
  fresh = true;
  require_available(c, bytes);
  char* base = map_pages(capacity, kHugePage);
  if (base == nullptr) {
    trim_large(c);
    base = map_pages(capacity, kHugePage);
  }
  if (base == nullptr) out_of_memory(bytes, std::max<std::int64_t>(available_memory(), 0));
  madvise(base, static_cast<std::size_t>(capacity), MADV_HUGEPAGE);
  hide(base, capacity);
  c.regions.emplace(base, capacity);
  return base;
}

// The split is that of the kernels that come later, so that pages lie near the threads that use them.
void first_touch(char* data, std::int64_t bytes) {
  parallel_for(bytes, kHugePage, [data](std::int64_t begin, std::int64_t end, int) {
    for (std::int64_t huge = begin; huge < end; huge += kHugePage) {
      interrupt::poll();
      for (std::int64_t at = huge; at < std::min(end, huge + kHugePage); at += kPage)
        *const_cast<volatile char*>(data + at) = 0;
    }
  });
}

void release_large(const Block& block);

Block allocate_large(std::int64_t bytes) {
  Central& c = central();
  Block block{nullptr, bytes, 0};
  bool fresh = false;
  char* base = nullptr;
  {
    const std::lock_guard lock(c.mutex);
    if (bytes > total_memory()) out_of_memory(bytes, total_memory());
    block.capacity = large_capacity(bytes);
    base = bytes <= kMedium ? take_medium(c, block.capacity, fresh) : take_large(c, bytes, block.capacity, fresh);
    c.in_use += block.capacity;
    if (fresh && bytes >= kTouch) c.untouched += bytes;
    c.note_peak();
  }
  block.data = base + next_stagger();
  show(block.data, bytes);
  if (fresh && bytes >= kTouch) {
    const auto touched = [&] {
      const std::lock_guard lock(c.mutex);
      c.untouched -= bytes;
    };
    try {
      first_touch(static_cast<char*>(block.data), bytes);
    } catch (const Interrupted&) {
      touched();
      release_large(block);
      throw;
    }
    touched();
  }
  if (fresh && poisons_memory()) poison(block.data, bytes);
  return block;
}

void release_large(const Block& block) {
  if (poisons_memory()) poison(block.data, block.bytes);
  char* base = page_of(block.data);
  hide(base, block.capacity);
  Central& c = central();
  const std::lock_guard lock(c.mutex);
  c.in_use -= block.capacity;
  const Free free{base, true, c.clock++};
  if (block.bytes <= kMedium) {
    c.medium_free[block.capacity].push_back(free);
    c.medium_cached += block.capacity;
    return;
  }
  c.large_free.emplace(block.capacity, free);
  c.large_cached += block.capacity;
  while (!c.large_free.empty() && c.large_cached + c.medium_cached > total_memory() / 2)
    unmap_large(c, std::min_element(c.large_free.begin(), c.large_free.end(),
                                    [](const auto& x, const auto& y) { return x.second.since < y.second.since; }));
}

}  // namespace

Block allocate(std::int64_t bytes) { return bytes <= kSmall ? allocate_small(bytes) : allocate_large(bytes); }

void release(const Block& block) noexcept {
  if (block.data == nullptr) return;
  try {
    block.bytes <= kSmall ? release_small(block) : release_large(block);
  } catch (const std::bad_alloc&) {
    // The lists themselves found no memory: the block stays out of use, which is all that can be done here.
  }
}

void trim() {
  Central& c = central();
  ThreadCache* cache = own_cache();
  const std::lock_guard lock(c.mutex);
  for (std::size_t k = 0; cache != nullptr && k < kClasses; ++k) {
    c.small_free[k].insert(c.small_free[k].end(), cache->slots[k].data(), cache->slots[k].data() + cache->count[k]);
    cache->count[k] = 0;
  }
  trim_small(c);
  trim_large(c);
}

MemoryStatistics memory_statistics() {
  Central& c = central();
  const std::lock_guard lock(c.mutex);
  MemoryStatistics s{c.in_use + c.small_ended, c.medium_cached + c.large_cached, c.peak};
  for (const ThreadCache* cache : c.caches) s.in_use += cache->in_use.load(std::memory_order_relaxed);
  for (std::size_t k = 0; k < kClasses; ++k)
    s.cached += static_cast<std::int64_t>(c.small_free[k].size()) * class_bytes(k);
  return s;
}

Block region_of(const void* p) {
  Central& c = central();
  const std::lock_guard lock(c.mutex);
  const auto* address = static_cast<const char*>(p);
  auto after = c.regions.upper_bound(const_cast<char*>(address));
  if (after == c.regions.begin()) return {};
  const auto& [base, bytes] = *std::prev(after);
  return address < base + bytes ? Block{base, bytes, bytes} : Block{};
}

void watch_regions(void (*forget)(char* base, std::int64_t bytes) noexcept) {
  Central& c = central();
  const std::lock_guard lock(c.mutex);
  c.forget = forget;
}

bool poisons_memory() {
  static const bool asked = [] {
    const char* text = std::getenv("GALOP_DEBUG");
    return text != nullptr && *text != '\0' && std::strcmp(text, "0") != 0;
  }();
  return asked;
}

void poison(void* data, std::int64_t bytes) noexcept {
  char* start = static_cast<char*>(data);
  const auto fill = [start](std::int64_t begin, std::int64_t end, int) {
    std::memset(start + begin, kPoison, static_cast<std::size_t>(end - begin));
  };
  try {
    parallel_for(bytes, kMiB, fill);
  } catch (...) {
    fill(0, bytes, 0);
  }
}

}  // namespace galop::cpu
