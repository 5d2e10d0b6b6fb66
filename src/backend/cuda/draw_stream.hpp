// The words of a Draw's stream on the GPU: leaps of PCG64 as parameters, MT19937's words in memory.
#pragma once

#include <cstdint>

#include "backend/cuda/draw.hpp"

namespace galop::cuda::draw {

/// Device memory until the end of the scope, then free again in the stream's order.
class Memory {
 public:
  Memory(Machine& machine, std::int64_t bytes) : machine_(machine), data_(machine.allocate(bytes)) {}
  ~Memory() { machine_.release(data_); }
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;
  template <class T = char>
  T* at(std::int64_t offset = 0) const {
    return reinterpret_cast<T*>(static_cast<char*>(data_) + offset);
  }

 private:
  Machine& machine_;
  void* data_;
};

/// PCG64 from where `d` has it; `halves`: draws of 32 bits, of which the first may be kept.
Stream pcg64_stream(const Draw& d, bool halves);

/// What Args::row_leaps holds.
void pcg64_row_leaps(const Draw& d, Leap* leaps);

/// The next `count` 32-bit words of MT19937, from where `d` has it, at the device address `to`, aligned to 4.
void make_twister_words(Machine& machine, const Draw& d, std::int64_t count, u32* to);

}  // namespace galop::cuda::draw
