// Running folds: lines are independent, a line is one chain.
#include "backend/cpu/scan.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "backend/cpu/fp_flags.hpp"
#include "backend/cpu/kernels.hpp"
#include "backend/cpu/threads.hpp"
#include "core/interrupt.hpp"
#include "galop/error.hpp"

namespace galop::cpu {
namespace {

constexpr std::int64_t kChunk = 1024;                   // elements scanned at once through buffers
constexpr std::int64_t kGrain = std::int64_t{1} << 14;  // elements worth a thread

struct Item {
  Scan scan;
  Kernel op;
  Kernel widen = nullptr, narrow = nullptr;  // float16 is scanned in float32 and rounded at every step
  std::int64_t size;
  bool adds;
};

void copy(char* to, std::int64_t to_step, const char* from, std::int64_t from_step, std::int64_t n, std::int64_t size) {
  if (to_step == size && from_step == size) {
    std::memmove(to, from, static_cast<std::size_t>(n * size));
    return;
  }
  for (std::int64_t i = 0; i < n; ++i)
    std::memcpy(to + i * to_step, from + i * from_step, static_cast<std::size_t>(size));
}

void convert(Kernel kernel, void* to, const void* from, std::int64_t n) {
  void* out[] = {to};
  const void* in[] = {from};
  kernel(out, in, n);
}

// x rounded to float16, as a float.
float round_to_half(float x) {
  const float size = std::fabs(x);
  if (!(size < 65520.0F)) return x != x ? x : std::copysign(std::numeric_limits<float>::infinity(), x);
  if (size < 0x1p-14F) {
    const float magic = 0.75F;  // its last bit is float16's last bit of all
    return std::copysign((size + magic) - magic, x);
  }
  const auto bits = std::bit_cast<std::uint32_t>(x);
  return std::bit_cast<float>((bits + 0xFFFU + (bits >> 13 & 1U)) & ~0x1FFFU);
}

// Scans n dense elements in place; the first one of a line starts it.
void scan_dense(const Item& item, char* at, std::int64_t n, bool first, char* acc, float* wide) {
  const auto size = static_cast<std::size_t>(item.size);
  if (first) std::memcpy(acc, at, size);
  const std::int64_t from = first ? 1 : 0;
  if (!item.widen) {
    item.scan(acc, at + from * item.size, at + from * item.size, n - from);
    return;
  }
  convert(item.widen, wide + 1, at, n);
  convert(item.widen, wide, acc, 1);
  if (item.adds) {
    for (std::int64_t i = from; i < n; ++i) wide[1 + i] = wide[0] = round_to_half(wide[0] + wide[1 + i]);
    convert(item.narrow, at, wide + 1, n);
  }
  for (std::int64_t i = from; i < n && !item.adds; ++i) {
    void* out[] = {wide};
    const void* in[] = {wide, wide + 1 + i};
    item.op(out, in, 1);
    convert(item.narrow, at + i * item.size, wide, 1);
    convert(item.widen, wide, at + i * item.size, 1);
  }
  if (n > 0) std::memcpy(acc, at + (n - 1) * item.size, size);
}

}  // namespace

void run_scan(Op op, DType t, const Dims& shape, const void* in, const Dims& in_strides, void* out,
              const Dims& out_strides, std::uint8_t* flags) {
  const Kernels& k = kernels();
  const bool half = compute_dtype(op, t) != t;
  const int loop = static_cast<int>(half ? DType::float32 : t);
  const int table = static_cast<int>(op);
  const Item item{k.scan[table][loop],
                  k.op[table][loop],
                  half ? k.cast[static_cast<int>(DType::float16)][loop] : nullptr,
                  half ? k.cast[loop][static_cast<int>(DType::float16)] : nullptr,
                  itemsize(t),
                  op == Op::add};
  if (!item.scan || !item.op)
    throw Error("[" + std::string(info(op).name) + "] no running fold for this dtype; got " + std::string(name(t)));
  const int last = shape.size() - 1;
  const std::int64_t n = shape[last];
  std::int64_t lines = 1;
  for (int a = 0; a < last; ++a) lines *= shape[a];
  if (lines == 0 || n == 0) return;

  const std::int64_t size = item.size;
  const std::int64_t in_step = in_strides[last], out_step = out_strides[last];
  // Lines are scanned where they lie when they are dense and, as memory from outside may not be, aligned.
  auto bits = reinterpret_cast<std::uintptr_t>(in);
  for (std::int64_t s : in_strides) bits |= static_cast<std::uintptr_t>(s);
  const bool dense = !half && in_step == size && out_step == size &&
                     bits % static_cast<std::uintptr_t>(std::min<std::int64_t>(size, 8)) == 0;
  // Lines that lie side by side are scanned together, an element of each at a time, by the kernel over whole rows.
  const bool side_by_side =
      !half && last > 0 && in_strides[last - 1] == size && out_strides[last - 1] == size && shape[last - 1] >= 8;
  const std::int64_t together = side_by_side ? std::min<std::int64_t>(shape[last - 1], kChunk) : 1;
  const std::int64_t groups_in_row = side_by_side ? (shape[last - 1] + together - 1) / together : 1;
  const std::int64_t groups = side_by_side ? lines / shape[last - 1] * groups_in_row : lines;
  const std::int64_t grain = std::max<std::int64_t>(1, kGrain / (n * together));

  const bool watched = flags && flag_test(op, t == DType::float16 ? DType::float32 : t) == FlagTest::hardware;
  parallel_for(groups, grain, [&](std::int64_t begin, std::int64_t end, int) {
    const HardwareFlags hardware(watched ? flags : nullptr);
    std::vector<char> buffer(static_cast<std::size_t>(kChunk * size));
    std::vector<float> wide(half ? kChunk + 1 : 0);
    alignas(16) char acc[16];
    for (std::int64_t g = begin; g < end; ++g) {
      const auto* from = static_cast<const char*>(in);
      auto* to = static_cast<char*>(out);
      std::int64_t rest = g, width = 1;
      int axis = last - 1;
      if (side_by_side) {
        const std::int64_t c = rest % groups_in_row * together;
        width = std::min(together, shape[axis] - c);
        from += c * size;
        to += c * size;
        rest /= groups_in_row;
        --axis;
      }
      for (; axis >= 0; --axis) {
        from += rest % shape[axis] * in_strides[axis];
        to += rest % shape[axis] * out_strides[axis];
        rest /= shape[axis];
      }
      if (side_by_side) {
        copy(to, size, from, size, width, size);
        for (std::int64_t i = 1; i < n; ++i) {
          interrupt::poll();
          void* result[] = {to + i * out_step};
          const void* operands[] = {to + (i - 1) * out_step, from + i * in_step};
          item.op(result, operands, width);
        }
        continue;
      }
      for (std::int64_t i = 0; i < n; i += kChunk) {
        interrupt::poll();
        const std::int64_t here = std::min(kChunk, n - i);
        const char* p = from + i * in_step;
        char* q = to + i * out_step;
        if (dense) {
          const std::int64_t skip = i == 0 ? 1 : 0;
          if (skip) {
            std::memcpy(acc, p, static_cast<std::size_t>(size));
            std::memmove(q, p, static_cast<std::size_t>(size));
          }
          item.scan(acc, p + skip * size, q + skip * size, here - skip);
          continue;
        }
        copy(buffer.data(), size, p, in_step, here, size);
        scan_dense(item, buffer.data(), here, i == 0, acc, wide.data());
        copy(q, out_step, buffer.data(), size, here, size);
      }
    }
  });
}

}  // namespace galop::cpu
