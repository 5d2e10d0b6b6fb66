// Tiles: the slices of operands and results, and folds whose parts are joined.
#include "graph/tiles.hpp"

#include <algorithm>
#include <cstring>

#include "core/view.hpp"
#include "galop/error.hpp"
#include "graph/evaluate.hpp"

namespace galop::graph {
namespace {

constexpr std::int64_t kMostTiles = 1 << 16;

// Memory on a device for as long as one tile is computed.
class Piece {
 public:
  Piece(Device d, std::int64_t bytes) : device_(d), storage_(allocate_on(d, bytes)) {}
  Piece(Piece&& o) noexcept : device_(o.device_), storage_(std::exchange(o.storage_, {})) {}
  Piece& operator=(Piece&&) = delete;
  ~Piece() {
    if (storage_.data) backend_of(device_).release(storage_);
  }
  char* data() const { return static_cast<char*>(storage_.data); }

 private:
  Device device_;
  Storage storage_;
};

std::int64_t offset(const void* p) { return reinterpret_cast<std::int64_t>(p); }

// First and last byte that one tile touches.
std::pair<std::int64_t, std::int64_t> span_of(const Dims& shape, const Dims& strides, const void* at, DType t) {
  return byte_bounds(View{shape, strides, offset(at)}, itemsize(t));
}

class Tiles {
 public:
  Tiles(const Fusion& f, Device d, std::vector<BufferPtr>& results)
      : loads_(f.loads), plan_(f.plan), device_(d), results_(results) {
    for (std::size_t o = 0; o < plan_.outputs.size(); ++o)
      plan_.outputs[o].data = reinterpret_cast<void*>(f.saved[o]->layout.offset);
    for (Reduction& r : plan_.reductions) r.data = reinterpret_cast<void*>(f.saved[0]->layout.offset);
    canonicalize(plan_);
  }

  std::int64_t rows() const { return plan_.shape.size() == 0 ? 0 : plan_.shape[0]; }
  bool folds() const { return !plan_.reductions.empty(); }

  // The outermost axis is cut; each result's tile must lie in one piece of its own.
  bool fits(std::int64_t rows) const {
    Dims shape = plan_.shape;
    shape[0] = rows;
    for (const Output& o : plan_.outputs) {
      const auto [low, high] = span_of(shape, o.strides, nullptr, o.dtype);
      if (o.ordered || high - low != elements(shape) * itemsize(o.dtype)) return false;
    }
    return true;
  }

  void run(std::int64_t from, std::int64_t to) {
    Plan p = plan_;
    p.shape[0] = to - from;
    std::vector<Piece> pieces;
    load(p, from, pieces);
    std::vector<std::pair<char*, std::int64_t>> back;  // where on the device, and the bytes' place in the result
    for (Output& o : p.outputs) {
      o.data = reinterpret_cast<void*>(offset(o.data) + from * o.strides[0]);
      const auto [low, high] = span_of(p.shape, o.strides, o.data, o.dtype);
      pieces.emplace_back(device_, high - low);
      back.emplace_back(pieces.back().data(), low);
      o.data = pieces.back().data() + (offset(o.data) - low);
      o.fresh = true;
    }
    start(p);
    for (std::size_t o = 0; o < p.outputs.size(); ++o)
      copy_bytes(kCpu, results_[o]->address(kCpu) + back[o].second, device_, back[o].first,
                 elements(p.shape) * itemsize(p.outputs[o].dtype));
  }

  // Folds each tile into a small array on the device and joins them there; the sum goes to the host.
  bool fold(std::int64_t rows) {
    const Reduction& whole = plan_.reductions[0];
    if (whole.round_to_half || !can_join(whole.op)) return false;
    Dims kept, strides(plan_.shape.size(), 0), weights;
    std::int64_t step = itemsize(whole.dtype);
    for (int k = plan_.shape.size() - 1; k >= 0; --k)
      if (!(whole.reduced >> k & 1)) {
        strides[k] = step;
        step *= plan_.shape[k];
      }
    for (int k = 0; k < plan_.shape.size(); ++k)
      if (!(whole.reduced >> k & 1)) {
        kept.push_back(plan_.shape[k]);
        weights.push_back(whole.strides[k]);
      }
    const bool cut_kept = !(whole.reduced & 1);
    Piece total(device_, step), part(device_, step);
    for (std::int64_t from = 0; from < plan_.shape[0]; from += rows) {
      Plan p = plan_;
      p.shape[0] = std::min(rows, plan_.shape[0] - from);
      std::vector<Piece> pieces;
      load(p, from, pieces);
      Reduction& r = p.reductions[0];
      r.result = r.dtype;
      r.strides = strides;
      r.has_initial = whole.has_initial && (from == 0 || cut_kept);
      const bool first = from == 0 || cut_kept;
      r.data = (first ? total : part).data() + (cut_kept ? from * strides[0] : 0);
      start(p);
      if (!first) join(whole, step / itemsize(whole.dtype), total.data(), part.data());
    }
    finish(whole, kept, weights, total.data());
    return true;
  }

 private:
  static std::int64_t elements(const Dims& shape) {
    std::int64_t n = 1;
    for (std::int64_t d : shape) n *= d;
    return n;
  }
  static bool can_join(Op op) {
    switch (op) {
      case Op::add:
      case Op::multiply:
      case Op::minimum:
      case Op::maximum:
      case Op::fmin:
      case Op::fmax:
      case Op::logical_and:
      case Op::logical_or:
      case Op::logical_xor:
      case Op::bitwise_and:
      case Op::bitwise_or:
      case Op::bitwise_xor:
        return true;
      default:
        return false;
    }
  }

  void start(Plan p) const {
    canonicalize(p);
    backend_of(device_).run(p);
    counters().kernels += 1;
    counters().bytes += plan_bytes(p);
  }

  void load(Plan& p, std::int64_t from, std::vector<Piece>& pieces) const {
    for (std::size_t i = 0; i < p.operands.size(); ++i) {
      Operand& o = p.operands[i];
      if (o.kind == Operand::Kind::iota) o.start += from * o.strides[0];
      if (o.kind != Operand::Kind::memory) continue;
      Buffer& b = *loads_[i]->buffer;
      o.data = reinterpret_cast<const void*>(offset(o.data) + from * o.strides[0]);
      if (b.valid_on(device_) && !(b.outside() && !(b.home() == device_))) {
        o.data = b.read(device_) + offset(o.data);
        continue;
      }
      const auto [low, high] = span_of(p.shape, o.strides, o.data, o.dtype);
      const char* host = b.read(kCpu);
      pieces.emplace_back(device_, high - low);
      copy_bytes(device_, pieces.back().data(), kCpu, host + low, high - low);
      o.data = pieces.back().data() + (offset(o.data) - low);
    }
  }

  // total = op(total, part), element by element.
  void join(const Reduction& r, std::int64_t n, char* total, const char* part) const {
    Plan p;
    p.shape = {n};
    const Dims dense{itemsize(r.dtype)};
    for (const char* data : {static_cast<const char*>(total), part}) {
      Operand o{Operand::Kind::memory, r.dtype};
      o.data = data;
      o.strides = dense;
      p.operands.push_back(o);
    }
    p.registers = {r.dtype, r.dtype, r.dtype};
    Instruction step{r.op, r.dtype};
    step.in[1] = 1;
    step.out[0] = 2;
    p.tape.push_back(step);
    p.outputs.push_back({2, r.dtype, total, dense, false, false});
    start(std::move(p));
  }

  // The joined fold, in the dtype and layout of the result, to the host.
  void finish(const Reduction& r, const Dims& kept, const Dims& strides, char* total) const {
    Piece device_result(device_, results_[0]->bytes());
    Plan p;
    p.shape = kept;
    Operand o{Operand::Kind::memory, r.dtype};
    o.data = total;
    o.strides = c_strides(kept, itemsize(r.dtype));
    p.operands.push_back(o);
    p.registers = {r.dtype};
    std::uint16_t reg = 0;
    if (r.result != r.dtype) {
      Instruction step{Op::cast, r.dtype};
      step.out[0] = reg = 1;
      p.registers.push_back(r.result);
      p.tape.push_back(step);
    }
    p.outputs.push_back({reg, r.result, device_result.data() + offset(r.data), strides, true, false});
    start(std::move(p));
    copy_bytes(kCpu, results_[0]->address(kCpu), device_, device_result.data(), results_[0]->bytes());
  }

  const std::vector<Value*>& loads_;
  Plan plan_;
  Device device_;
  std::vector<BufferPtr>& results_;
};

}  // namespace

bool run_in_tiles(const Fusion& f, Device d, std::vector<BufferPtr>& results) {
  begin_step();
  results.clear();
  for (const Value* v : f.saved) results.push_back(std::make_unique<Buffer>(v->bytes, kCpu));
  Tiles tiles(f, d, results);
  const std::int64_t rows = tiles.rows();
  for (std::int64_t count = 2; count <= std::min(rows, kMostTiles); count *= 2) {
    const std::int64_t each = (rows + count - 1) / count;
    try {
      if (tiles.folds()) {
        if (tiles.fold(each)) return true;
        break;
      }
      if (!tiles.fits(each)) break;
      for (std::int64_t from = 0; from < rows; from += each) tiles.run(from, std::min(from + each, rows));
      return true;
    } catch (const MemoryError&) {
      // Smaller tiles, from the start: what was written is written again.
    }
  }
  results.clear();
  return false;
}

}  // namespace galop::graph
