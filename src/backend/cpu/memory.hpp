// Host memory for arrays: size-class caches over own regions, which are kept for reuse, since fresh pages are the
// dearest memory.
#pragma once

#include <cstdint>

#include "backend/backend.hpp"

namespace galop::cpu {

/// A piece of memory from allocate(), 64-byte aligned; `data` is null only in the empty handle Block{}. A plain handle:
/// copying it copies no memory, and exactly one release() must follow.
using Block = Storage;

/// Memory of `bytes` bytes (0 is allowed and gives a valid address), contents undefined. Starts of blocks differ modulo
/// 4 KiB, so that arrays streamed side by side do not meet the 4K-aliasing penalty. Fresh memory of 4 MiB and more is
/// first touched by the worker threads. Throws MemoryError, naming the bytes, when the machine or the control group has
/// not so much; nothing is touched then. Thread-safe, and cheap (tens of nanoseconds) when the size class has been used
/// before.
Block allocate(std::int64_t bytes);

/// Gives a block back to the cache; any thread may do it. Block{} is ignored.
void release(const Block& block) noexcept;

/// Gives all free memory back to the system, but for what other threads keep in their own small caches.
void trim();

/// The mapping of its own that holds the address of a block above 8 MiB, {} for other addresses. It stays mapped until
/// the watcher hears of it.
Block region_of(const void* p);
/// `forget` hears of each such mapping just before it goes; it must not allocate here.
void watch_regions(void (*forget)(char* base, std::int64_t bytes) noexcept);

struct MemoryStatistics {
  std::int64_t in_use = 0;  // bytes of blocks not yet released, as their capacities
  std::int64_t cached = 0;  // bytes free but kept resident, other threads' small caches excepted
  std::int64_t peak = 0;    // greatest in_use so far; small blocks are counted here by whole slabs
};
MemoryStatistics memory_statistics();

/// The byte that released and fresh blocks are filled with under GALOP_DEBUG.
inline constexpr unsigned char kPoison = 0xDB;

/// Whether GALOP_DEBUG asks for poisoned memory (set, and neither empty nor "0"). Read once.
bool poisons_memory();

/// Fills memory with kPoison by all threads; for buffers that are given up without release().
void poison(void* data, std::int64_t bytes) noexcept;

}  // namespace galop::cpu
