// Maps: rows of vectors, tiles, one thread in order.
#include <algorithm>

#include "backend/cuda/writer.hpp"

namespace galop::cuda {

namespace {

constexpr int kTileRows = 8;  // of threads

}  // namespace

void Writer::rows() {
  const int last = l_.axes - 1, extents = 3, threads = static_cast<int>(l_.threads_x);  // flat ones know how many
  const bool flat = l_.axes == 1;
  const std::string v = text(l_.vec), strips = text(l_.strips);
  if (flat) {
    line("const i64 i = (i64)blockIdx.x * " + text(threads * l_.vec * l_.strips) + " + threadIdx.x * " + v + ";");
    line("const i64 n = " + parameter(extents) + ";");
    line("if (i >= n) return;");
  } else {
    line("u64 line = blockIdx.x;");
    line("const i64 piece = (i64)take(line, p.w[0]);");
    line("const i64 i = (piece * blockDim.x + threadIdx.x) * " + v + ";");
    line("u64 row = line * blockDim.y + threadIdx.y;");
    line("const i64 n = " + parameter(extents + last) + ";");
    line("if (i >= n || row >= p.w[1]) return;");
    const std::string band = last == 1 ? "(i64)row" : "(i64)take(row, p.w[2])";
    line("const i64 c" + text(last - 1) + " = " + band + " * " + strips + ";");
    coordinates(0, last - 1, "row", extents);
    if (last > 1) line("(void)row;");
  }
  bases(0, last);
  if (l_.vec * l_.strips == 1) {
    tape([&](std::size_t i) { return element(operand(i), here(operand(i), at("a", i), last)); });
    if (watched()) {
      line("if (" + happened() + ") {");
      declare_raised();
      test_steps();
      report();
      line("}");
    }
    for (std::size_t k = 0; k < l_.results.size(); ++k)
      line(put(l_.results[k], here(l_.results[k], at("q", k), last), at("r", plan_.outputs[k].reg)));
    return;
  }
  // Where every strip is whole there is one branch, and all loads are under way together.
  if (flat) {
    line("const bool whole = i + " + text((l_.strips - 1) * threads * l_.vec + l_.vec) + " <= n;");
  } else {
    line("const i64 rows = " + parameter(extents + last - 1) + " - c" + text(last - 1) + ";");
    line("const bool whole = i + " + v + " <= n && " + strips + " <= rows;");
  }
  const std::string inside =
      flat ? "i + s * " + text(threads * l_.vec) + " + j < n" : std::string("s < rows && i + j < n");
  const auto each = [&](const std::string& what) {
    line("#pragma unroll");
    line("for (int s = 0; s < " + strips + "; ++s)");
    line("#pragma unroll");
    line("for (int j = 0; j < " + v + "; ++j) " + what);
  };
  const auto in_memory = [&](std::size_t o) {
    return operand(o).mode != Mode::constant && operand(o).mode != Mode::counter;
  };
  const auto load = [&](std::size_t o, const std::string& guard) {
    const Access& a = operand(o);
    const std::string x = at("x", o), from = at("a", o);
    if (guard.empty() && a.mode == Mode::dense && l_.vec > 1) {
      line("#pragma unroll");
      line("for (int s = 0; s < " + strips + "; ++s) load_vector(" + strip(a, from, last, "s", "0") + ", " + x +
           "[s]);");
    } else {
      each(guard + x + "[s][j] = " + element(a, strip(a, from, last, "s", "j")) + ";");
    }
  };
  for (std::size_t o = 0; o < l_.operands.size(); ++o)
    if (in_memory(o)) line(type(operand(o).dtype) + " " + at("x", o) + "[" + strips + "][" + v + "] = {};");
  line("if (whole) {");
  for (std::size_t o = 0; o < l_.operands.size(); ++o)
    if (in_memory(o)) load(o, "");
  line("} else {");  // unrolled: an index known at run time only would put the vector into local memory
  for (std::size_t o = 0; o < l_.operands.size(); ++o)
    if (in_memory(o)) load(o, "if (" + inside + ") ");
  line("}");
  for (std::size_t k = 0; k < l_.results.size(); ++k)
    line(type(l_.results[k].dtype) + " " + at("y", k) + "[" + strips + "][" + v + "];");
  const auto value = [&](std::size_t o, const std::string& s, const std::string& j) {
    const Access& a = operand(o);
    if (a.mode == Mode::constant) return element(a, "");
    if (a.mode == Mode::counter) return strip(a, at("a", o), last, s, j);
    return at("x", o) + "[" + s + "][" + j + "]";
  };
  if (watched()) line("bool bad = false;");
  if (l_.heavy) {
    side_by_side([&](std::size_t o, int k) { return value(o, text(k / l_.vec), text(k % l_.vec)); });
  } else {
    line("#pragma unroll");
    line("for (int s = 0; s < " + strips + "; ++s)");
    line("#pragma unroll");
    line("for (int j = 0; j < " + v + "; ++j) {");
    tape([&](std::size_t o) { return value(o, "s", "j"); });
    for (std::size_t k = 0; k < l_.results.size(); ++k)
      line(at("y", k) + "[s][j] = " + at("r", plan_.outputs[k].reg) + ";");
    if (watched()) line("bad |= " + happened() + ";");
    line("}");
  }
  // Element by element and to the end: no result that is there already has to be kept meanwhile, which would cost those
  // threads registers where nothing happened. A result may lie where an operand does, whose element was read before.
  if (watched()) {
    line("if (bad) {");
    declare_raised();
    line("#pragma unroll 1");
    line("for (int e = 0; e < " + text(l_.strips * l_.vec) + "; ++e) {");
    line("const int s = e / " + v + ", j = e % " + v + ";");
    line("if (!(" + inside + ")) continue;");
    tape([&](std::size_t o) {
      return operand(o).mode == Mode::constant ? element(operand(o), "")
                                               : element(operand(o), strip(operand(o), at("a", o), last, "s", "j"));
    });
    test_steps();
    for (std::size_t k = 0; k < l_.results.size(); ++k)
      line(put(l_.results[k], strip(l_.results[k], at("q", k), last, "s", "j"), at("r", plan_.outputs[k].reg)));
    line("}");
    report();
    line("return;");
    line("}");
  }
  line("if (whole) {");
  for (std::size_t k = 0; k < l_.results.size(); ++k) {
    const Access& a = l_.results[k];
    const std::string y = at("y", k), to = at("q", k);
    if (l_.vec > 1) {
      line("#pragma unroll");
      line("for (int s = 0; s < " + strips + "; ++s) store_vector(" + strip(a, to, last, "s", "0") + ", " + y +
           "[s]);");
    } else {
      each(put(a, strip(a, to, last, "s", "j"), y + "[s][j]"));
    }
  }
  line("} else {");
  for (std::size_t k = 0; k < l_.results.size(); ++k)
    each("if (" + inside + ") " +
         put(l_.results[k], strip(l_.results[k], at("q", k), last, "s", "j"), at("y", k) + "[s][j]"));
  line("}");
}

std::string Writer::of_lanes(const Instruction& i, const std::string& f) const {
  if (i.loop != DType::float64) return {};
  const std::string x = at("r", i.in[0]), y = at("r", i.in[1]);
  if (f == "sincos") return "lanes_sincos(" + x;
  switch (i.op) {
    case Op::exp:
    case Op::log:
    case Op::erf:
    case Op::sin:
    case Op::cos:
    case Op::sqrt:
      return "lanes_" + std::string(info(i.op).name) + "(" + x;
    case Op::divide:
      if (i.in[1] >= l_.operands.size() || operand(i.in[1]).mode != Mode::constant)
        return "lanes_divide(" + x + ", " + y;
      return "lanes_divided(" + x + ", " + y + "[0], from_bits(p.w[" + text(operand(i.in[1]).word + 1) + "])";
    default:
      return {};
  }
}

void Writer::side_by_side(const std::function<std::string(std::size_t, int)>& x) {
  const int lanes = l_.vec * l_.strips;
  const auto declare = [&](DType t, std::size_t reg, const auto& value) {
    std::string all;
    for (int k = 0; k < lanes; ++k) all += (k ? ", " : "") + value(k);
    line(type(t) + " " + at("r", reg) + "[" + text(lanes) + "] = {" + all + "};");
  };
  for (std::size_t i = 0; i < plan_.operands.size(); ++i)
    declare(plan_.operands[i].dtype, i, [&](int k) { return x(i, k); });
  // Each register is looked at where it is made: none has to live longer for it.
  if (watched()) line("float seen = 0;");
  const auto glance_at = [&](std::uint16_t reg) {
    const std::vector<std::uint16_t>& wanted = look().registers;
    if (!watched() || std::find(wanted.begin(), wanted.end(), reg) == wanted.end()) return;
    for (int k = 0; k < lanes; ++k) line("seen = glance(seen, " + at("r", reg) + "[" + text(k) + "]);");
    line("asm volatile(\"\" : \"+f\"(seen));");
  };
  // Nothing moves across: the compiler would finish one lane after the other.
  const auto fence = [&](std::size_t reg) {
    std::string all;
    for (int k = 0; k < lanes; ++k) all += (k ? ", " : "") + ("\"+d\"(" + at("r", reg)) + "[" + text(k) + "])";
    line("asm volatile(\"\" : " + all + ");");
  };
  int pairs = 0;
  steps([&](const Instruction& i, const std::string& f, int results, const std::uint16_t* out) {
    const auto call = [&](int k) {
      std::string s = f + "(";
      for (int q = 0; q < info(i.op).nin; ++q) s += (q ? ", " : "") + at("r", i.in[q]) + "[" + text(k) + "]";
      return s + ")";
    };
    if (std::string together = of_lanes(i, f); !together.empty()) {
      for (int r = 0; r < results; ++r) {
        line("double " + at("r", out[r]) + "[" + text(lanes) + "];");
        together += ", " + at("r", out[r]);
      }
      line(together + ");");
    } else if (results == 1) {
      declare(plan_.registers[out[0]], out[0], call);
    } else {
      const std::string pair = "pair" + text(pairs++);
      std::string all;
      for (int k = 0; k < lanes; ++k) all += (k ? ", " : "") + call(k);
      line("const decltype(" + call(0) + ") " + pair + "[" + text(lanes) + "] = {" + all + "};");
      declare(plan_.registers[out[0]], out[0], [&](int k) { return pair + "[" + text(k) + "].first"; });
      declare(plan_.registers[out[1]], out[1], [&](int k) { return pair + "[" + text(k) + "].second"; });
    }
    for (int r = 0; r < results; ++r)
      if (is_heavy(i) && plan_.registers[out[r]] == DType::float64) fence(out[r]);
    for (int r = 0; r < results; ++r) glance_at(out[r]);
  });
  if (watched()) {
    line("bad = seen != seen;");
    for (int lane = 0; lane < lanes; ++lane)
      if (const std::string others = happened("[" + text(lane) + "]", false); !others.empty())
        line("bad |= " + others + ";");
  }
  for (std::size_t k = 0; k < l_.results.size(); ++k)
    for (int lane = 0; lane < lanes; ++lane)
      line(at("y", k) + "[" + text(lane / l_.vec) + "][" + text(lane % l_.vec) +
           "] = " + at("r", plan_.outputs[k].reg) + "[" + text(lane) + "];");
}

std::string Writer::here(const Access& a, const std::string& from, int last) {
  if (a.mode == Mode::dense) return from + " + i * " + text(itemsize(a.dtype));
  return from + " + i * " + parameter(a.word + 1 + last);
}

std::string Writer::strip(const Access& a, const std::string& from, int last, const std::string& s,
                          const std::string& j) const {
  const std::string step = a.mode == Mode::dense ? text(itemsize(a.dtype)) : parameter(a.word + 1 + last);
  const bool flat = l_.axes == 1;
  std::string place = from;
  if (l_.strips > 1 && !flat) place += " + " + s + " * " + parameter(a.word + last);
  if (a.mode == Mode::splat) return place;
  const std::string move =
      l_.strips > 1 && flat ? " + " + s + " * " + text(static_cast<int>(l_.threads_x) * l_.vec) : "";
  return place + " + (i" + move + " + " + j + ") * " + step;
}

void Writer::pack() {
  const std::string value = type(plan_.outputs[1].dtype);
  const auto in_memory = [&](std::size_t o) {
    return operand(o).mode != Mode::constant && operand(o).mode != Mode::counter;
  };
  bases(0, 0);
  line("(void)q0;");
  line("struct Raw {");
  for (std::size_t o = 0; o < l_.operands.size(); ++o)
    if (in_memory(o)) line(type(operand(o).dtype) + " " + at("x", o) + ";");
  line("};");
  line("const auto take_in = [&](i64 i) {");
  line("Raw raw;");
  for (std::size_t o = 0; o < l_.operands.size(); ++o)
    if (in_memory(o)) line("raw." + at("x", o) + " = " + element(operand(o), here(operand(o), at("a", o), 0)) + ";");
  line("return raw;");
  line("};");
  line("const auto keeps = [&](const Raw& raw, i64 i, " + value + "& value) {");
  tape([&](std::size_t o) {
    return in_memory(o) ? "raw." + at("x", o) : element(operand(o), here(operand(o), at("a", o), 0));
  });
  line("value = " + at("r", plan_.outputs[1].reg) + ";");
  line("return " + at("r", plan_.outputs[0].reg) + ";");
  line("};");
  line("pack_tiles<" + text(l_.strips) + ", Raw, " + value + ">(" + parameter(3) + ", " + parameter(0) + ", " +
       parameter(1) + ", reinterpret_cast<u64*>(p.w[2]), reinterpret_cast<" + value + "*>(q1), take_in, keeps);");
}

void Writer::ordered() {
  const int extents = 1;
  declare_raised();
  line("for (u64 i = 0; i < p.w[0]; ++i) {");
  line("u64 rest = i;");
  coordinates(0, l_.axes, "rest", extents);
  bases(0, l_.axes);
  tape([&](std::size_t i) { return element(operand(i), at("a", i)); });
  test_steps();
  for (std::size_t k = 0; k < l_.results.size(); ++k)
    line(put(l_.results[k], at("q", k), at("r", plan_.outputs[k].reg)));
  line("}");
  report();
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
  declare_raised();
  line("#pragma unroll 4");
  line("for (int j = 0; j < " + each + "; ++j) {");
  place("across", "down");
  line("const i64 row = row0 + down, column = column0 + across;");
  line("if (row >= rows || column >= columns) continue;");
  tape([&](std::size_t i) {
    const Access& a = operand(i);
    return a.mode == Mode::turned ? at("s", i) + "[across][down]" : element(a, address(a, at("a", i)));
  });
  if (watched()) {
    line("if (" + happened() + ") {");
    test_steps();
    line("}");
  }
  for (std::size_t k = 0; k < l_.results.size(); ++k)
    line(put(l_.results[k], address(l_.results[k], at("q", k)), at("r", plan_.outputs[k].reg)));
  line("}");
  report();
}

}  // namespace galop::cuda
