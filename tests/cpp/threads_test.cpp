// Worker threads: the splits, exceptions, nesting, GALOP_THREADS, and a pool on both sides of fork().
#include "backend/cpu/threads.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <mutex>
#include <set>
#include <stdexcept>
#include <thread>
#include <vector>

#include "galop/error.hpp"

namespace galop::cpu {
namespace {

class Threads : public testing::Test {
 protected:
  void SetUp() override { before_ = thread_count(); }
  void TearDown() override { set_thread_count(before_); }

 private:
  int before_ = 1;
};

struct Part {
  std::int64_t begin, end;
  bool operator<(const Part& other) const { return begin < other.begin; }
};

std::set<Part> parts_of(std::int64_t n, std::int64_t grain) {
  std::set<Part> parts;
  std::mutex mutex;
  parallel_for(n, grain, [&](std::int64_t begin, std::int64_t end, int) {
    const std::lock_guard lock(mutex);
    parts.insert({begin, end});
  });
  return parts;
}

TEST_F(Threads, SplitCoversEachItemOnceAndRespectsTheGrain) {
  for (const int threads : {1, 2, 3, 7}) {
    set_thread_count(threads);
    for (const std::int64_t n : {0, 1, 2, 6, 7, 8, 99, 1000})
      for (const std::int64_t grain : {1, 5, 64, 5000}) {
        std::int64_t at = 0;
        const auto parts = parts_of(n, grain);
        for (const Part& part : parts) {
          EXPECT_EQ(part.begin, at);
          EXPECT_TRUE(part.end - part.begin >= grain || parts.size() == 1) << n << " " << grain;
          at = part.end;
        }
        EXPECT_EQ(at, n);
        EXPECT_LE(parts.size(), static_cast<std::size_t>(threads));
      }
  }
}

TEST_F(Threads, SplitOfHugeCountsDoesNotOverflow) {
  set_thread_count(7);
  const std::int64_t n = INT64_MAX - 3;
  const auto parts = parts_of(n, 1);
  ASSERT_EQ(parts.size(), 7u);
  EXPECT_EQ(parts.begin()->begin, 0);
  EXPECT_EQ(parts.rbegin()->end, n);
}

TEST_F(Threads, WorkersAreNumberedWithinTheCount) {
  set_thread_count(4);
  std::vector<std::atomic<int>> seen(4);
  parallel_for(400, 1, [&](std::int64_t, std::int64_t, int worker) { ++seen.at(static_cast<std::size_t>(worker)); });
  for (const auto& count : seen) EXPECT_EQ(count, 1);
  parallel_chunks(100, [&](std::int64_t, int worker) { ++seen.at(static_cast<std::size_t>(worker)); });
  EXPECT_EQ(seen[0] + seen[1] + seen[2] + seen[3], 104);
}

TEST_F(Threads, ChunksRunOnceEach) {
  set_thread_count(3);
  std::vector<std::atomic<int>> runs(1000);
  parallel_chunks(1000, [&](std::int64_t chunk, int) { ++runs[static_cast<std::size_t>(chunk)]; });
  for (const auto& count : runs) EXPECT_EQ(count, 1);
}

TEST_F(Threads, NestedCallsAreSerialAndTheMarkGoesAway) {
  set_thread_count(2);
  EXPECT_FALSE(in_parallel());
  std::atomic<int> inner_parts{0};
  parallel_for(2, 1, [&](std::int64_t, std::int64_t, int) {
    EXPECT_TRUE(in_parallel());
    parallel_for(100, 1, [&](std::int64_t begin, std::int64_t end, int worker) {
      EXPECT_EQ(begin, 0);
      EXPECT_EQ(end, 100);
      EXPECT_EQ(worker, 0);
      ++inner_parts;
    });
    EXPECT_THROW(set_thread_count(3), ValueError);
  });
  EXPECT_EQ(inner_parts, 2);
  EXPECT_FALSE(in_parallel());
}

TEST_F(Threads, ExceptionsReachTheCaller) {
  set_thread_count(3);
  const auto fail = [](std::int64_t begin, std::int64_t, int) {
    if (begin > 0) throw std::domain_error("part");
  };
  EXPECT_THROW(parallel_for(300, 1, fail), std::domain_error);
  std::atomic<int> ran{0};
  EXPECT_THROW(parallel_chunks(100000,
                               [&](std::int64_t chunk, int) {
                                 ++ran;
                                 if (chunk == 10) throw std::domain_error("chunk");
                               }),
               std::domain_error);
  EXPECT_LT(ran, 100000);
  EXPECT_FALSE(in_parallel());
  EXPECT_EQ(parts_of(300, 1).size(), 3u);  // the pool still works
}

TEST_F(Threads, SeveralCallersAtOnce) {
  set_thread_count(2);
  std::atomic<std::int64_t> total{0};
  std::vector<std::thread> callers;
  for (int i = 0; i < 6; ++i)
    callers.emplace_back([&] {
      for (int round = 0; round < 50; ++round)
        parallel_for(1000, 10, [&](std::int64_t begin, std::int64_t end, int) { total += end - begin; });
    });
  for (auto& caller : callers) caller.join();
  EXPECT_EQ(total, 6 * 50 * 1000);
}

TEST_F(Threads, CountIsChecked) {
  EXPECT_THROW(set_thread_count(0), ValueError);
  EXPECT_THROW(set_thread_count(-1), ValueError);
  EXPECT_THROW(set_thread_count(1025), ValueError);
  set_thread_count(5);
  EXPECT_EQ(thread_count(), 5);
  EXPECT_GE(allowed_cores(), 1);
}

// Two parts that wait for each other end only when two threads run.
bool two_threads_meet() {
  std::atomic<int> arrived{0};
  std::atomic<bool> met{true};
  parallel_for(2, 1, [&](std::int64_t, std::int64_t, int) {
    ++arrived;
    const auto start = std::chrono::steady_clock::now();
    while (arrived < 2) {
      std::this_thread::yield();
      if (std::chrono::steady_clock::now() - start > std::chrono::seconds(20)) {
        met = false;
        return;
      }
    }
  });
  return met;
}

TEST_F(Threads, BothSidesOfAForkHaveAPool) {
#ifdef __SANITIZE_THREAD__
  GTEST_SKIP() << "ThreadSanitizer ends a child of a threaded process that starts threads";
#endif
  set_thread_count(2);
  ASSERT_TRUE(two_threads_meet());
  for (int round = 0; round < 3; ++round) {
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) _exit(two_threads_meet() ? 42 : 1);
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 42);
    EXPECT_TRUE(two_threads_meet());
  }
}

// The variable is read once a process, so each value needs a process of its own.
class ThreadsFromEnvironment : public testing::Test {
 protected:
  void SetUp() override { GTEST_FLAG_SET(death_test_style, "threadsafe"); }
};

TEST_F(ThreadsFromEnvironment, NumberIsTaken) {
  EXPECT_EXIT(
      {
        setenv("GALOP_THREADS", "3", 1);
        std::exit(thread_count() == 3 ? 0 : 1);
      },
      testing::ExitedWithCode(0), "");
}

TEST_F(ThreadsFromEnvironment, NonsenseIsAValueError) {
  for (const char* text : {"0", "-2", "two", "4x", "1025", "99999999999"})
    EXPECT_EXIT(
        {
          setenv("GALOP_THREADS", text, 1);
          try {
            thread_count();
          } catch (const ValueError& error) {
            std::fputs(error.what(), stderr);
            std::exit(7);
          }
          std::exit(0);
        },
        testing::ExitedWithCode(7), "GALOP_THREADS must be a number from 1 to 1024; got");
}

}  // namespace
}  // namespace galop::cpu
