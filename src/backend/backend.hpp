// The one interface between the engine and what computes: plans and memory in plain data, so that a second backend is
// an addition.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "core/faults.hpp"
#include "core/op.hpp"
#include "galop/device.hpp"
#include "galop/shape.hpp"

namespace galop {

/// A piece of a backend's memory.
struct Storage {
  void* data = nullptr;
  std::int64_t bytes = 0;     // as asked for
  std::int64_t capacity = 0;  // what the backend keeps for it
};

/// One input of a plan. Its value at a coordinate c of the domain: memory at data + Σ c·stride, the integer start + Σ
/// c·stride, or a constant.
struct Operand {
  enum class Kind : std::uint8_t { memory, iota, constant } kind;
  DType dtype;
  const void* data = nullptr;
  Dims strides{};
  std::int64_t start = 0;
  alignas(16) std::byte bits[16] = {};
};

/// One step over registers; registers 0 … operands-1 are the operands, every step defines new ones.
struct Instruction {
  Op op;
  DType loop;  // dtype of the kernel: of x and y; `where`: of y and z; `cast`: the source
  std::uint16_t in[3] = {};
  std::uint16_t out[2] = {};
  faults::Policy policy = 0;  // where the operation was called: which floating-point flags are wanted
  Op blame = Op::cast;        // a cast: the operation whose result it rounds, when it is not a cast by itself
};

/// Where a register goes.
struct Output {
  std::uint16_t reg;
  DType dtype;
  void* data;
  Dims strides;
  bool fresh;    // nobody reads this memory during the plan; false: it may be an operand's memory with the same map
  bool ordered;  // elements overlap: store one after the other in C order of the domain
};

/// What a register is folded into, when the plan is a reduction; then there are no outputs.
struct Reduction {
  Op op;
  DType dtype;  // of the accumulation and of the register
  std::uint16_t reg;
  std::uint64_t reduced;  // bit k: axis k of the domain is folded
  DType result;           // dtype of the memory that receives it
  void* data;             // strides in bytes per domain axis, 0 on folded ones
  Dims strides;
  bool has_initial = false;
  bool round_to_half = false;              // the fold is float16's: rounded to it after every run
  alignas(16) std::byte initial[16] = {};  // of `dtype`, or float16 when rounded to it
  Dims input_strides{};  // of the folded array in memory (or of the temporary that NumPy would make): they fix the
                         // order of sums
  faults::Policy policy = 0;
  bool buffered =
      false;  // NumPy would copy that array through a buffer: its dtype is not the fold's, or it is not aligned
  /// A sum that stands for the sum of the elements' squared distances from their mean, in one pass; of float32 or
  /// float64, without a start, and only where DeviceBackend::folds_about_mean().
  bool about_mean = false;
};

struct Plan {
  Dims shape;
  std::vector<Operand> operands;
  std::vector<Instruction> tape;
  std::vector<DType> registers;
  std::vector<Output> outputs;
  std::vector<Reduction> reductions;  // none or one
  // For DeviceBackend::pack() alone: outputs[0], a bool, says which elements of outputs[1] are kept.
  bool packs = false;
  // Where run() ors floating-point flags, a word for the reduction and one for each step of the tape; null: nobody
  // wants them. A device with memory of its own leaves it alone: DeviceBackend::take_late_faults() tells.
  std::uint8_t* faults = nullptr;
};

/// What flags in a word of Plan::faults mean.
inline faults::Fault fault_in(const Plan& p, std::size_t word, std::uint8_t flags) {
  if (word == 0) return {"reduce", flags, p.reductions[0].policy};
  const Instruction& i = p.tape[word - 1];
  return {info(i.op == Op::cast ? i.blame : i.op).name, flags, i.policy};
}

/// A matrix in memory: element (i, j) of batch b at data + i·row + j·col + Σ b·batch, strides in bytes.
struct Matrix {
  void* data;
  std::int64_t rows, cols;
  std::int64_t row, col;
};

/// An axis that is indexed by numbers in memory, `extent` of them valid; negative ones count from the end. `stride` in
/// bytes.
struct IndexedAxis {
  const std::int64_t* index;
  std::int64_t extent, stride;
};

/// Blocks of elements at scattered places, and the same blocks packed one after the other. Strides and offsets in
/// bytes.
struct Blocks {
  int itemsize;
  std::int64_t count;
  const std::int64_t* offsets;  // of each block, from `places`
  void* places;
  void* packed;
  std::int64_t packed_step;  // from one packed block to the next
  Dims shape{};              // of a block
  Dims place_strides{}, packed_strides{};
};

/// A stack of products c = a · b in one dtype; matrices apart from c. Strides of the stack in bytes, an axis of `batch`
/// each.
struct Product {
  DType dtype;
  Matrix a, b, c;  // of the first product
  Dims batch{}, a_batch{}, b_batch{}, c_batch{};
  bool tf32 = false;                  // float32 may be multiplied with the tensor cores' shorter significand
  std::string_view where = "matmul";  // of static storage; whose floating-point flags these are
  faults::Policy policy = 0;
};

/// Random numbers from one of NumPy's streams, with its bits: `n` of them, packed in `out`.
struct Draw {
  enum class Stream : std::uint8_t { pcg64, mt19937 };
  enum class Kind : std::uint8_t {
    uniform,   // float64: low + range · u, u of 53 bits; float32: u of the upper 24 bits of a 32-bit draw
    torch,     // float32: u · range + low rounded once, u of the lower 24 bits of a 32-bit draw
    integers,  // offset + [0, last] in an integer dtype or bool, by Lemire's method or by masks
    normal,    // by the ziggurat; float64, scaled or not, and float32
    polar,     // float64, n even: low + range · z, z in pairs by the polar method
  };
  Stream stream;
  Kind kind;
  DType dtype;
  std::int64_t n;
  void* out;

  // PCG64's state, the high half first, and the kept half of its last draw.
  std::uint64_t state[2] = {}, increment[2] = {};
  bool has_uint32 = false;
  std::uint32_t uinteger = 0;
  // MT19937's 624 words, of which `pos` are used up.
  const std::uint32_t* key = nullptr;
  std::uint32_t pos = 0;

  double low = 0, range = 1;  // or loc and scale
  bool scaled = false;        // normal: low + range · z instead of z
  std::uint64_t offset = 0, last = 0;
  bool masked = false;

  /// What the host's generator has to skip afterwards: draws of 64 bits when `wide`, else of 32.
  std::uint64_t taken = 0;
  bool wide = false;
};

/// What one kernel costs on a device, for choosing where to run it.
struct DeviceSpeed {
  double start;      // seconds before anything moves
  double bandwidth;  // bytes a second of its memory
  double transfer;   // bytes a second from and to the host; 0: it is the host
  double math;       // elements a second of a function such as sin in float64
};

/// A device that computes and has memory. All addresses are of its memory. Work is done in the order of the calls; only
/// what returns a value to the host waits for it.
class Backend {
 public:
  virtual ~Backend() = default;
  virtual Device device() const = 0;
  virtual DeviceSpeed speed() const = 0;

  // Memory. Throws MemoryError naming the bytes.
  virtual Storage allocate(std::int64_t bytes) = 0;
  virtual void release(const Storage& s) noexcept = 0;
  /// Bytes that an array could have at most here.
  virtual std::int64_t capacity() const = 0;

  virtual void run(const Plan& plan) = 0;
  /// out[i] = op over the elements before and at i, along the last axis of `shape`; strides in bytes.
  virtual void scan(Op op, DType t, const Dims& shape, const void* in, const Dims& in_strides, void* out,
                    const Dims& out_strides) = 0;
  /// at = op(at, values[i]) for at = base + offsets[i], one after the other; unary operations when `values` is null.
  virtual void at(Op op, DType t, void* base, const std::int64_t* offsets, std::int64_t n, const void* values) = 0;
  /// offsets[i] = Σ index · stride over the axes; false, and no meaning in them, when an index is out of bounds.
  virtual bool locate(std::span<const IndexedAxis> axes, std::int64_t count, std::int64_t* offsets) = 0;
  /// The packed blocks from the scattered ones; they do not overlap.
  virtual void gather(const Blocks& b) = 0;
  /// The scattered blocks from the packed ones; of several for one place the last stays.
  virtual void scatter(const Blocks& b) = 0;
  /// How many of n bools are true, where they are, and the elements beside them packed.
  virtual std::int64_t count_true(const void* mask, std::int64_t n) = 0;
  virtual void positions(const void* mask, std::int64_t n, std::int64_t* out) = 0;
  virtual void compress(const void* mask, std::int64_t n, int itemsize, const void* in, void* out) = 0;
  virtual void matmul(const Product& p) = 0;
  /// The floating-point flags that scan(), at() and matmul() have raised since they were last taken; 0 where there are
  /// none, and on devices, which tell them late under the policy of the call.
  virtual std::uint8_t take_faults() { return 0; }
};

/// The host's processors; its memory is the program's.
class HostBackend : public Backend {
 public:
  /// One operation over n elements of dense, aligned arrays, at once; false when the backend has no kernel for it. A
  /// null operand stands for the constant beside it. An out may be an operand of the same item size.
  struct SmallOperand {
    const void* data;
    const void* constant;
    DType dtype;
  };
  /// `flags` receives the floating-point flags that the operation raised.
  virtual bool run_small(Op op, DType loop, const SmallOperand* operands, void* const* out, std::int64_t n,
                         std::uint8_t& flags) = 0;
  /// The same over arrays alone, with one result that lies apart from all of them: its flags, or -1 without a kernel.
  virtual int run_apart(Op op, DType loop, const void* const* in, void* out, std::int64_t n) = 0;
  /// As run_small(), casts among it, with tests for the flags in `watch` alone, on several threads where that pays.
  virtual bool run_dense(Op op, DType loop, DType result, const SmallOperand* operands, void* const* out,
                         std::int64_t n, std::uint8_t watch, std::uint8_t& flags) = 0;
  /// n dense, aligned elements as another dtype.
  virtual std::uint8_t cast_small(DType from, DType to, const void* in, void* out, std::int64_t n) = 0;
  /// The fold of n ≥ 1 dense, aligned elements of dtype `from`, accumulated in `loop`, at once; false when the backend
  /// does not fold so few by themselves.
  virtual bool fold_small(Op op, DType loop, DType from, const void* in, std::int64_t n, void* out,
                          std::uint8_t& flags) = 0;
  /// out[…] = position along the last axis of `shape` of the first greatest (or least) element, the first NaN before
  /// all, packed in C order of the other axes. Strides in bytes; the last extent is not 0.
  virtual void find_extremes(DType t, const Dims& shape, const void* in, const Dims& strides, std::int64_t* out,
                             bool greatest) = 0;
  /// Whether any of n ≥ 1 dense elements is true, or false; looks no further than it has to.
  virtual bool holds_any(DType t, const void* in, std::int64_t n, bool truth) = 0;
  /// f(begin, end) for parts that cover [0, n), on several threads at once; none is below `grain` items, save when n
  /// is.
  virtual void parallel(std::int64_t n, std::int64_t grain,
                        const std::function<void(std::int64_t, std::int64_t)>& f) = 0;
  /// 0: all cores allowed.
  virtual void set_threads(int n) = 0;
  /// The mapping of Galop's own that holds the address of a large array, {} for other memory: what a device can pin.
  virtual Storage region(const void* p) const = 0;
  /// `forget` hears of each such mapping just before it goes; it must allocate nothing.
  virtual void watch_regions(void (*forget)(char* base, std::int64_t bytes) noexcept) = 0;
};

/// A device with memory of its own, opened from a plug-in. A failure shows as DeviceError, at the latest when it is
/// waited for; then alive() is false, and what it holds is lost.
class DeviceBackend : public Backend {
 public:
  virtual std::string name() const = 0;
  /// Compute capability as one number: 90 for 9.0.
  virtual int capability() const = 0;
  virtual bool alive() const = 0;
  /// Waits for everything.
  virtual void synchronize() = 0;

  /// Copies from and to the host: when they return, the host's memory can be written, or read. Another device's memory
  /// goes by way of the host unless `copy_peer` can do better.
  virtual void upload(void* to, const void* from, std::int64_t bytes) = 0;
  virtual void download(void* to, const void* from, std::int64_t bytes) = 0;
  virtual void copy(void* to, const void* from, std::int64_t bytes) = 0;
  virtual bool copy_peer(void* to, int from_ordinal, const void* from, std::int64_t bytes) = 0;

  /// Floating-point flags of work that synchronize() or download() has waited for since they were last taken, as far as
  /// its policies wanted them. Does not wait.
  virtual std::vector<faults::Fault> take_late_faults() { return {}; }

  /// Whether run() takes a Reduction that is `about_mean`.
  virtual bool folds_about_mean() const { return false; }

  /// A plan that `packs`, over one axis: how many elements will be kept, judged by a sample and with a margin; negative
  /// where the device does not pack. Waits for the device.
  virtual std::int64_t estimate_kept(const Plan& plan) {
    static_cast<void>(plan);
    return -1;
  }
  /// Writes the kept elements one behind the other, `room` of them at most, and returns how many there are. Waits for
  /// the device.
  virtual std::int64_t pack(const Plan& plan, std::int64_t room) {
    static_cast<void>(plan);
    return room;
  }

  /// Fills d.out and sets d.taken and d.wide; false, and no meaning in `out`, where the device cannot.
  virtual bool draw(Draw& d) {
    static_cast<void>(d);
    return false;
  }

  virtual DeviceMemory memory() const = 0;
  /// Gives memory that no array uses back to the driver.
  virtual void trim() = 0;
  /// The most bytes that allocate() gives out; 0: no limit.
  virtual void set_limit(std::int64_t bytes) = 0;

  /// Makes later work here wait for what `stream` has been given so far, and `stream` wait for what was started here.
  /// Streams are the driver's handles; 0 is not valid here, 1 and 2 are the default streams.
  virtual void wait_for(std::uintptr_t stream) = 0;
  virtual void make_wait(std::uintptr_t stream) = 0;
};

/// The host's processors.
HostBackend& cpu_backend();

/// GPUs that can be used; opens the plug-in when it is first asked and a driver answers.
int cuda_device_count();
/// Why there is none, or which of them did not start, with the remedy; empty when all is well.
std::string why_no_cuda();
/// Throws DeviceError when there is no such GPU, with the reason.
DeviceBackend& cuda_backend(int ordinal);
/// Null where the GPU cannot be started (its memory is full, say), which is tried once: for work that may go anywhere.
/// why_no_cuda() tells the reason from then on.
DeviceBackend* cuda_backend_if_it_starts(int ordinal);
/// Null until something used the GPU.
DeviceBackend* cuda_backend_if_started(int ordinal);
/// Of a device that is not automatic.
Backend& backend_of(Device d);

/// What a plug-in's one function `galop_device_plugin` returns.
struct DevicePlugin {
  const char* version;                  // GALOP_INTERFACE_VERSION: its classes are those of these very headers
  int (*count)();                       // of usable devices
  DeviceBackend* (*open)(int ordinal);  // kept until the process ends; throws DeviceError
};
using DevicePluginEntry = const DevicePlugin* (*)();

}  // namespace galop
