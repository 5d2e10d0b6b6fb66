// Maps: rows of vectors, tiles, one thread in order.
#include "backend/cuda/writer.hpp"

namespace galop::cuda {

namespace {

constexpr int kTileRows = 8;  // of threads

}  // namespace

void Writer::rows() {
  const int last = l_.axes - 1, extents = 2;
  const std::string v = text(l_.vec);
  if (l_.axes == 1) {
    line("const i64 i = ((i64)blockIdx.x * " + text(kThreads) + " + threadIdx.x) * " + v + ";");
    line("const i64 n = " + parameter(extents) + ";");
    line("if (i >= n) return;");
  } else {
    line("u64 line = blockIdx.x;");
    line("const i64 piece = (i64)take(line, p.w[0]);");
    line("const i64 i = (piece * blockDim.x + threadIdx.x) * " + v + ";");
    line("u64 row = line * blockDim.y + threadIdx.y;");
    line("const i64 n = " + parameter(extents + last) + ";");
    line("if (i >= n || row >= p.w[1]) return;");
    coordinates(0, last, "row", extents);
  }
  bases(0, last);
  if (l_.vec == 1) {
    tape([&](std::size_t i) { return element(operand(i), here(operand(i), at("a", i), last)); });
    for (std::size_t k = 0; k < l_.results.size(); ++k)
      line(put(l_.results[k], here(l_.results[k], at("q", k), last), at("r", plan_.outputs[k].reg)));
    return;
  }
  line("const bool whole = i + " + v + " <= n;");
  line("const int m = whole ? " + v + " : (int)(n - i);");
  loads("i", last, "whole", "m");
  for (std::size_t k = 0; k < l_.results.size(); ++k)
    line(type(l_.results[k].dtype) + " " + at("y", k) + "[" + v + "];");
  line("#pragma unroll");
  line("for (int j = 0; j < " + v + "; ++j) {");
  tape([&](std::size_t i) { return lane_value(i, last); });
  for (std::size_t k = 0; k < l_.results.size(); ++k) line(at("y", k) + "[j] = " + at("r", plan_.outputs[k].reg) + ";");
  line("}");
  for (std::size_t k = 0; k < l_.results.size(); ++k) {
    const std::string size = text(itemsize(l_.results[k].dtype));
    line("if (whole) store_vector(" + at("q", k) + " + i * " + size + ", " + at("y", k) + ");");
    line("else {");  // unrolled: an index known at run time only would put the vector into local memory
    line("#pragma unroll");
    line("for (int j = 0; j < " + v + "; ++j) if (j < m) store(" + at("q", k) + " + (i + j) * " + size + ", " +
         at("y", k) + "[j]);");
    line("}");
  }
}

std::string Writer::here(const Access& a, const std::string& from, int last) {
  if (a.mode == Mode::dense) return from + " + i * " + text(itemsize(a.dtype));
  return from + " + i * " + parameter(a.word + 1 + last);
}

void Writer::loads(const std::string& i, int last, const std::string& whole, const std::string& m) {
  const std::string v = text(l_.vec);
  for (std::size_t o = 0; o < l_.operands.size(); ++o) {
    const Access& a = operand(o);
    if (a.mode == Mode::constant || a.mode == Mode::counter) continue;
    const std::string x = at("x", o), from = at("a", o), t = type(a.dtype);
    if (a.mode == Mode::splat) {
      line("const " + t + " " + x + " = " + element(a, from) + ";");
      continue;
    }
    line(t + " " + x + "[" + v + "] = {};");
    const std::string step = a.mode == Mode::dense ? text(itemsize(a.dtype)) : parameter(a.word + 1 + last);
    const std::string each = x + "[j] = " + element(a, from + " + (" + i + " + j) * " + step) + ";";
    if (a.mode == Mode::dense) {
      line("if (" + whole + ") load_vector(" + from + " + " + i + " * " + step + ", " + x + ");");
      line("else {");
      line("#pragma unroll");
      line("for (int j = 0; j < " + v + "; ++j) if (j < " + m + ") " + each);
      line("}");
    } else {
      line("#pragma unroll");
      line("for (int j = 0; j < " + v + "; ++j) if (j < " + m + ") " + each);
    }
  }
}

std::string Writer::lane_value(std::size_t o, int last) const {
  const Access& a = operand(o);
  if (a.mode == Mode::constant) return element(a, "");
  if (a.mode == Mode::counter) return at("a", o) + " + (i + j) * " + parameter(a.word + 1 + last);
  return a.mode == Mode::splat ? at("x", o) : at("x", o) + "[j]";
}

void Writer::ordered() {
  const int extents = 1;
  line("for (u64 i = 0; i < p.w[0]; ++i) {");
  line("u64 rest = i;");
  coordinates(0, l_.axes, "rest", extents);
  bases(0, l_.axes);
  tape([&](std::size_t i) { return element(operand(i), at("a", i)); });
  for (std::size_t k = 0; k < l_.results.size(); ++k)
    line(put(l_.results[k], at("q", k), at("r", plan_.outputs[k].reg)));
  line("}");
}

void Writer::tile() {
  const int last = l_.axes - 1, extents = 2, axis = l_.tile_axis;
  const std::string side = text(l_.tile), warps = text(l_.tile / 32), each = text(l_.tile * l_.tile / kThreads);
  line("u64 rest = blockIdx.x;");
  line("const i64 column0 = (i64)take(rest, p.w[0]) * " + side + ";");
  line("const i64 row0 = (i64)take(rest, p.w[1]) * " + side + ";");
  coordinates(0, last, "rest", extents, "c", axis);
  if (l_.axes == 2) line("(void)rest;");
  line("const i64 " + ("c" + text(axis)) + " = 0;");
  bases(0, last);
  line("const i64 rows = " + parameter(extents + axis) + ", columns = " + parameter(extents + last) + ";");
  auto address = [&](const Access& a, const std::string& from) {
    return from + " + row * " + parameter(a.word + 1 + axis) + " + column * " + parameter(a.word + 1 + last);
  };
  // Element j of a thread: neighbouring threads lie along `fast`, the warps along `slow`.
  const auto place = [&](const char* fast, const char* slow) {
    line("const int " + std::string(fast) + " = threadIdx.x + j % " + warps + " * 32, " + slow +
         " = threadIdx.y + j / " + warps + " * " + text(kTileRows) + ";");
  };
  // All loads are under way before the first is stored.
  for (std::size_t i = 0; i < l_.operands.size(); ++i) {
    if (operand(i).mode != Mode::turned) continue;
    const std::string t = type(operand(i).dtype);
    line("__shared__ " + t + " " + at("s", i) + "[" + side + "][" + text(l_.tile + 1) + "];");
    line(t + " " + at("x", i) + "[" + each + "] = {};");
  }
  line("#pragma unroll");
  line("for (int j = 0; j < " + each + "; ++j) {");
  place("down", "across");
  line("const i64 row = row0 + down, column = column0 + across;");
  line("if (row < rows && column < columns) {");
  for (std::size_t i = 0; i < l_.operands.size(); ++i)
    if (operand(i).mode == Mode::turned)
      line(at("x", i) + "[j] = " + element(operand(i), address(operand(i), at("a", i))) + ";");
  line("}");
  line("}");
  line("#pragma unroll");
  line("for (int j = 0; j < " + each + "; ++j) {");
  place("down", "across");
  for (std::size_t i = 0; i < l_.operands.size(); ++i)
    if (operand(i).mode == Mode::turned) line(at("s", i) + "[across][down] = " + at("x", i) + "[j];");
  line("}");
  line("__syncthreads();");
  line("#pragma unroll 4");
  line("for (int j = 0; j < " + each + "; ++j) {");
  place("across", "down");
  line("const i64 row = row0 + down, column = column0 + across;");
  line("if (row >= rows || column >= columns) continue;");
  tape([&](std::size_t i) {
    const Access& a = operand(i);
    return a.mode == Mode::turned ? at("s", i) + "[across][down]" : element(a, address(a, at("a", i)));
  });
  for (std::size_t k = 0; k < l_.results.size(); ++k)
    line(put(l_.results[k], address(l_.results[k], at("q", k)), at("r", plan_.outputs[k].reg)));
  line("}");
}

}  // namespace galop::cuda
