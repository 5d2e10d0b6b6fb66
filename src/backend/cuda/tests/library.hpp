// On a GPU: the library's operations on device memory, beside the CPU's on the host's.
#pragma once

#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "backend/cuda/library.hpp"
#include "core/view.hpp"
#include "device.hpp"

namespace galop::cuda::test {

/// They skip where there is no GPU. Device memory that a test takes is given back after it.
class CudaLibrary : public testing::Test {
 protected:
  static CudaExecutor* shared() {
    static auto* gpu = new CudaExecutor(0, std::filesystem::path());  // never destroyed: libraries may outlive main
    return gpu;
  }
  void SetUp() override {
    std::string reason;
    if (find_driver(&reason) == nullptr) GTEST_SKIP() << reason;
    gpu_ = shared();
  }
  void TearDown() override {
    for (void* p : taken_) gpu_->release(p);
    if (!taken_.empty()) gpu_->memory().trim();  // other processes of the tests need room too
  }

  char* take(std::int64_t bytes) {
    void* p = gpu_->allocate(bytes + 64);
    taken_.push_back(p);
    return static_cast<char*>(p);
  }
  template <class T>
  char* put(const std::vector<T>& v, std::int64_t shift = 0) {
    const auto bytes = static_cast<std::int64_t>(v.size() * sizeof(T));
    char* p = take(bytes + shift) + shift;
    gpu_->upload(p, v.data(), bytes);
    return p;
  }
  template <class T = char>
  std::vector<T> get(const void* p, std::int64_t n) {
    std::vector<T> v(static_cast<std::size_t>(n));
    gpu_->download(v.data(), p, n * static_cast<std::int64_t>(sizeof(T)));
    return v;
  }

  /// The first element in which two dense arrays differ (any two NaNs are equal), -1: none.
  static std::int64_t first_difference(DType t, const std::vector<char>& a, const std::vector<char>& b) {
    const std::int64_t item = itemsize(t), n = static_cast<std::int64_t>(a.size()) / item;
    if (a.size() != b.size()) return 0;
    for (std::int64_t i = 0; i < n; ++i)
      if (distance(t, a.data() + i * item, b.data() + i * item) != 0) return i;
    return -1;
  }
  static void expect_same(DType t, const std::vector<char>& expected, const std::vector<char>& got,
                          const std::string& what) {
    const std::int64_t i = first_difference(t, expected, got), item = itemsize(t);
    if (i >= 0)
      ADD_FAILURE() << what << ": element " << i << " of " << expected.size() / static_cast<std::size_t>(item) << " is "
                    << show(t, got.data() + i * item) << ", expected " << show(t, expected.data() + i * item);
  }

  CudaExecutor* gpu_ = nullptr;
  std::vector<void*> taken_;
};

inline std::string text(const std::vector<std::int64_t>& v) { return to_string(Dims(v)); }

}  // namespace galop::cuda::test
