// What the API layer builds expressions and storage with.
#pragma once

#include <memory>
#include <optional>
#include <span>

#include "graph/value.hpp"

namespace galop::graph {

/// Unevaluated results on one array before new ones are computed at once.
inline constexpr std::size_t kMaxReaders = 64;

/// Where an operation that is not lazy runs, and what its results ask for later.
struct Place {
  Device device = kCpu;
  Device wish{};
};
/// For an operation over these operands, which are evaluated, with so many functions like sin to compute (or what takes
/// as long). Throws DeviceError when the device that was asked for has failed.
Place place_call(std::span<const array* const> operands, double math = 0);
inline Place place_call(std::initializer_list<const array*> operands, double math = 0) {
  return place_call(std::span(operands.begin(), operands.size()), math);
}
/// For a new array.
Place place_new(std::int64_t bytes, double math = 0);

/// work(device), and on the host's processors once more when the device has no memory for it: it must not have changed
/// anything then.
template <class Work>
void run_at(const Place& place, Work&& work) {
  try {
    work(place.device);
  } catch (const MemoryError&) {
    if (place.device.is_cpu()) throw;
    work(kCpu);
  }
}

/// A Cell, counted once, of a Ready Value in C order with so many undefined bytes.
Cell* new_cell(const Dims& shape, DType t, std::int64_t bytes, const Place& place);
/// A fresh, uninitialised, Ready array in C order; sizes are checked by the caller. Without a place: on the host, with
/// the wish that a new array has.
array make_empty(const Dims& shape, DType t);
array make_empty(const Dims& shape, DType t, const Place& place);
/// The same with a given dense layout.
array make_empty(const View& layout, DType t, std::int64_t bytes);
array make_empty(const View& layout, DType t, std::int64_t bytes, const Place& place);
/// A Ready array in C order over a buffer of its size.
array make_ready(const Dims& shape, DType t, std::unique_ptr<Buffer> buffer, Device wish);
/// The elements of `x` where `mask`, of the same shape, holds: for a mask that is not computed yet and a device that
/// packs, else nothing, and the mask has to be computed.
std::optional<array> pack(const array& x, const array& mask);
/// Over memory of somebody else on `d`; `data` is element 0 and may lie anywhere inside the view.
array wrap(void* data, DType t, const Dims& shape, const Dims& strides, bool writeable, std::function<void()> owner,
           Device d = kCpu);
/// Over memory on the host that nobody writes until `owner` is called: expressions over it wait as over Galop's own.
array wrap_immutable(const void* data, DType t, const Dims& shape, const Dims& strides, std::function<void()> owner);
/// Every element equal to `bits`.
array fill(const Dims& shape, DType t, const void* bits);
/// int64: start + Σ coordinate · weight.
array iota(const Dims& shape, const Dims& weights, std::int64_t start);

/// An operand of map(): an array of any dtype, or the bits of a number in dtype `t`.
struct MapOperand {
  const array* a;  // null: a number
  DType t;
  alignas(16) std::byte bits[16];
};
/// op over operands that broadcast to `shape`, computed in dtype `loop`, result number `which` stored as `result`.
/// Lazy; the layout follows the operands (order='K').
array map(Op op, int which, DType loop, DType result, std::span<const MapOperand> operands, const Dims& shape);
/// The same without asking whether the result is so small that it is computed now.
array map_later(Op op, int which, DType loop, DType result, std::span<const MapOperand> operands, const Dims& shape);
/// The elements as dtype `t`, as a new array (also when the dtype is the same).
array cast(const array& a, DType t);
/// Folds the axes in `reduced` with a binary op, accumulating in `loop`; the result has the kept axes. `initial` may be
/// null.
array reduce(Op op, DType loop, DType result, const array& a, std::uint64_t reduced, const MapOperand* initial);

/// Evaluates what the array needs.
void force(const array& a);
/// Address on `d` of element 0 for reading; evaluates, and copies there what is elsewhere. Strides are those of the
/// array.
const void* read_pointer(const array& a, Device d = kCpu);
/// Address on `d` of element 0 for writing now: evaluates the storage and every pending reader of it that may see the
/// write. Of memory that the outside sees: at its home.
void* write_pointer(const array& a, Device d = kCpu);
/// The outside may read and, if the array is writeable, write from here on; balanced by array::release_export().
/// Throws BufferError when it does so on another device already.
void* export_pointer(const array& a, Device d);
/// It is evaluated, and the host can read it without a copy; a write there moves nothing.
bool on_host(const array& a);
/// The device where the outside sees the array's memory, else `otherwise`.
Device writing_place(const array& a, Device otherwise);

/// Where the array is, as array::device() says.
Device device_of(const array& a);
/// As array::to_device().
array to_device(const array& a, Device d);

/// dst[...] = value (broadcast, cast unsafely; casting rules and writeability are the caller's) by R2, R3 and R6. With
/// `where`, only where it is true. Pass a temporary with std::move, so that it can be fused into the write.
void assign(const array& dst, array value, const array* where = nullptr);

/// The two arrays may have a byte in common.
bool may_overlap(const array& a, const array& b);

}  // namespace galop::graph
