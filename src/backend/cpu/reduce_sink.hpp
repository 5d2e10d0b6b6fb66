// Where a reduction's results go: their cast and their places in memory.
#pragma once

#include <cstdint>

#include "backend/backend.hpp"

namespace galop::cpu {

/// n dense elements of one dtype as another.
void convert(DType from, DType to, const void* in, void* out, std::int64_t n);

/// The memory of a plan's one reduction.
class Sink {
 public:
  explicit Sink(const Plan& plan);

  /// Number of results: the product of the kept axes.
  std::int64_t size() const { return size_; }
  /// Casts and stores the results [first, first + n), numbered in C order of the kept axes, from dense accumulators.
  /// Threads may store different results at a time.
  void store(const char* acc, std::int64_t first, std::int64_t n) const;

 private:
  DType from_, to_;
  char* data_;
  Dims shape_, strides_;
  std::int64_t size_ = 1;
  bool flat_;
};

}  // namespace galop::cpu
