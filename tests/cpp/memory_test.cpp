// Host memory: alignment, separate blocks, reuse, limits, poison, and memory given back to the system.
#include "backend/cpu/memory.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <fstream>
#include <random>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "backend/cpu/machine.hpp"
#include "galop/error.hpp"

#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/asan_interface.h>
#endif

namespace galop::cpu {
namespace {

constexpr std::int64_t kMiB = 1 << 20;

// Bytes of this process in physical memory.
std::int64_t resident() {
  std::ifstream file("/proc/self/statm");
  std::int64_t all = 0, pages = 0;
  file >> all >> pages;
  return pages * sysconf(_SC_PAGESIZE);
}

std::vector<std::int64_t> boundary_sizes() {
  std::vector<std::int64_t> sizes = {0, 1, 63, 64, 65, 4032, 4095, 4096, 4097, 4160, 4161, 4162};
  for (std::int64_t power = 8192; power <= 8 * kMiB; power *= 2)
    for (const std::int64_t delta : {-65, -64, -1, 0, 1, 64, 65, 128}) sizes.push_back(power + delta);
  return sizes;
}

TEST(Memory, BlocksAreAlignedLargeEnoughAndApart) {
  std::vector<Block> blocks;
  for (const std::int64_t bytes : boundary_sizes())
    for (int copy = 0; copy < 2; ++copy) {
      const Block block = allocate(bytes);
      EXPECT_NE(block.data, nullptr);
      EXPECT_EQ(reinterpret_cast<std::uintptr_t>(block.data) % 64, 0u);
      EXPECT_EQ(block.bytes, bytes);
      EXPECT_GE(block.capacity, bytes);
      EXPECT_LE(block.capacity, bytes + std::max<std::int64_t>(bytes / 3, 128) + (bytes > 65600 ? 8192 : 0) +
                                    (bytes > 8 * kMiB ? 2 * kMiB : 0));
      std::memset(block.data, static_cast<int>(blocks.size() % 251), static_cast<std::size_t>(bytes));
      blocks.push_back(block);
    }
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    const auto* bytes = static_cast<const unsigned char*>(blocks[i].data);
    for (std::int64_t at = 0; at < blocks[i].bytes; at += at + 64 < blocks[i].bytes ? 61 : 1)
      ASSERT_EQ(bytes[at], i % 251) << "block " << i << " of " << blocks[i].bytes << " bytes overlaps another";
  }
  for (const Block& block : blocks) release(block);
}

TEST(Memory, ReleasedMemoryIsReused) {
  trim();  // of what other tests left, one of the same size might be nearer
  for (const std::int64_t bytes : {std::int64_t{80}, std::int64_t{5000}, std::int64_t{300000}, 20 * kMiB}) {
    const Block first = allocate(bytes);
    const auto page = [](const Block& b) { return reinterpret_cast<std::uintptr_t>(b.data) / 4096; };
    release(first);
    const Block second = allocate(bytes);
    EXPECT_EQ(page(first), page(second)) << bytes;
    release(second);
  }
}

TEST(Memory, StartsOfLargeBlocksDifferModulo4KiB) {
  std::vector<Block> blocks;
  std::set<std::uintptr_t> offsets;
  for (int i = 0; i < 32; ++i) {
    blocks.push_back(allocate(64 * 1024 + 4096));
    offsets.insert(reinterpret_cast<std::uintptr_t>(blocks.back().data) % 4096);
  }
  EXPECT_EQ(offsets.size(), blocks.size());
  for (const Block& block : blocks) release(block);
}

TEST(Memory, StatisticsReturnToWhereTheyWere) {
  const MemoryStatistics before = memory_statistics();
  std::vector<Block> blocks;
  std::int64_t capacity = 0;
  for (const std::int64_t bytes : boundary_sizes()) {
    blocks.push_back(allocate(bytes));
    capacity += blocks.back().capacity;
  }
  const MemoryStatistics during = memory_statistics();
  EXPECT_EQ(during.in_use - before.in_use, capacity);
  EXPECT_GE(during.peak, before.in_use);
  for (const Block& block : blocks) release(block);
  EXPECT_EQ(memory_statistics().in_use, before.in_use);
  EXPECT_GE(memory_statistics().peak, during.peak);
  release(Block{});
  EXPECT_EQ(memory_statistics().in_use, before.in_use);
}

TEST(Memory, TrimGivesMemoryBack) {
  trim();
  const std::int64_t start = resident();
  std::vector<Block> blocks;
  for (int i = 0; i < 4; ++i) blocks.push_back(allocate(24 * kMiB));  // own regions
  for (int i = 0; i < 64; ++i) blocks.push_back(allocate(kMiB));      // arenas
  for (int i = 0; i < 20000; ++i) blocks.push_back(allocate(1000));   // slabs
  for (const Block& block : blocks) std::memset(block.data, 1, static_cast<std::size_t>(block.bytes));
  EXPECT_GE(resident() - start, 170 * kMiB);
  for (const Block& block : blocks) release(block);
  EXPECT_GE(memory_statistics().cached, 170 * kMiB);
  trim();
  EXPECT_LT(memory_statistics().cached, 4 * kMiB);
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)  // their shadows of what we touched stay
  EXPECT_LT(resident() - start, 40 * kMiB);
#endif
  const Block again = allocate(kMiB);  // address space that was given back is usable
  std::memset(again.data, 2, static_cast<std::size_t>(again.bytes));
  release(again);
}

TEST(Memory, MoreThanTheMachineHasIsAMemoryError) {
  const std::int64_t before = resident();
  for (const std::int64_t bytes : {total_memory() + 1, total_memory() - 1, std::int64_t{1} << 45, INT64_MAX}) {
    try {
      release(allocate(bytes));
      ADD_FAILURE() << bytes << " bytes were allocated";
    } catch (const MemoryError& error) {
      EXPECT_NE(std::string(error.what()).find(std::to_string(bytes) + " bytes"), std::string::npos) << error.what();
    }
  }
  EXPECT_LT(resident() - before, 16 * kMiB);
  release(allocate(kMiB));
}

TEST(Memory, BlocksMayBeReleasedByOtherThreads) {
  const std::int64_t before = memory_statistics().in_use;
  for (int round = 0; round < 3; ++round) {
    std::vector<std::vector<Block>> made(4);
    std::vector<std::thread> threads;
    for (std::size_t t = 0; t < made.size(); ++t)
      threads.emplace_back([&, t] {
        std::mt19937 random(static_cast<unsigned>(t));
        for (int i = 0; i < 3000; ++i) {
          const Block block = allocate(static_cast<std::int64_t>(random() % (i % 50 == 0 ? 400000 : 9000)));
          std::memset(block.data, static_cast<int>(t), static_cast<std::size_t>(block.bytes));
          made[t].push_back(block);
          if (random() % 3 == 0) {
            const std::size_t k = random() % made[t].size();
            release(made[t][k]);
            made[t][k] = made[t].back();
            made[t].pop_back();
          }
        }
      });
    for (auto& thread : threads) thread.join();
    threads.clear();
    for (std::size_t t = 0; t < made.size(); ++t)
      threads.emplace_back([&, t] {
        const std::size_t other = (t + 1) % made.size();
        for (const Block& block : made[other]) {
          const auto* data = static_cast<const unsigned char*>(block.data);
          for (std::int64_t i = 0; i < block.bytes; i += 97) ASSERT_EQ(data[i], other);
          release(block);
        }
      });
    for (auto& thread : threads) thread.join();
  }
  EXPECT_EQ(memory_statistics().in_use, before);
}

int poison_everywhere() {
  setenv("GALOP_DEBUG", "1", 1);
  for (const std::int64_t bytes : {std::int64_t{40}, std::int64_t{6000}, std::int64_t{200000}, 12 * kMiB}) {
    const Block block = allocate(bytes);
    auto* data = static_cast<unsigned char*>(block.data);
    for (std::int64_t i = 0; i < bytes; ++i)
      if (data[i] != kPoison) return 1;
    std::memset(data, 0, static_cast<std::size_t>(bytes));
    release(block);
#ifdef __SANITIZE_ADDRESS__
    if (__asan_address_is_poisoned(data) == 0) return 3;
    __asan_unpoison_memory_region(data, static_cast<std::size_t>(bytes));
#endif
    for (std::int64_t i = 0; i < bytes; ++i)
      if (const_cast<volatile unsigned char*>(data)[i] != kPoison) return 2;
  }
  return 0;
}

TEST(MemoryDebug, FreshAndReleasedMemoryIsPoisoned) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");  // GALOP_DEBUG is read once a process
  EXPECT_EXIT(std::exit(poison_everywhere()), testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace galop::cpu
