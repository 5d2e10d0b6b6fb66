// Folds: neighbours or columns a thread, trees in shared memory, and the last block joins the parts.
#include "backend/cuda/writer.hpp"

#include <algorithm>

namespace galop::cuda {

void Writer::fold() {
  const Reduction& r = plan_.reductions[0];
  const int extents = 4, start = extents + l_.kept + l_.folded;
  const std::string item = type(r.dtype), acc = r.about_mean ? "Moments" : item;
  const std::string join = r.about_mean ? "joined" : function(r.op, r.dtype, r.dtype);
  // Away from the loop over the elements: a division at each join would take long to compile.
  const std::string apart = r.about_mean ? "joined_apart" : join;
  line("const i64 kept = " + parameter(0) + ", folded = " + parameter(1) + ";");
  if (l_.kind == Kind::serial) {
    line("const i64 k = (i64)blockIdx.x * " + text(kThreads) + " + threadIdx.x;");
    line("if (k >= kept) return;");
  } else {
    line("const int splits = (int)p.w[3];");
    line(std::string("const int part = ") + (l_.many ? "(int)(blockIdx.x % splits)" : "0") + ";");
    line(std::string("const int group = ") + (l_.many ? "(int)(blockIdx.x / splits)" : "(int)blockIdx.x") + ";");
    line(std::string("const i64 k = (i64)group * ") +
         (l_.kind == Kind::inner ? "blockDim.y + threadIdx.y;" : "blockDim.x + threadIdx.x;"));
  }
  line("u64 kept_rest = (u64)k;");
  coordinates(0, l_.kept, "kept_rest", extents);
  if (l_.kept == 0) line("(void)kept_rest;");
  bases(0, l_.kept);

  if (watched()) line("bool bad = false;");
  declare_raised();
  // One element of the folded axes.
  line("const auto one = [&](i64 q) -> " + item + " {");
  element_at(false);
  if (watched() && look().any()) line("bad |= " + happened() + ";");
  line("return " + at("r", r.reg) + ";");
  line("};");
  if (l_.kind == Kind::inner) {
    if (l_.vec > 1) {
      line("const auto vector = [&](i64 q, " + item + "* y) {");
      element_at(true);
      line("};");
    }
    line("const auto several = [&](i64 q, " + item + "* y) {");
    line("#pragma unroll");
    line("for (int s = 0; s < " + text(l_.width) + "; s += " + text(l_.vec) + ") " +
         (l_.vec > 1 ? "vector(q + s, y + s);" : "y[s] = one(q + s);"));
    line("};");
  }
  line("const auto finish = [&](" + acc + " total, bool has) {");
  if (l_.start) {
    line("const " + acc + " start = constant<" + acc + ">(p.w[" + text(start) + "], p.w[" + text(start + 1) + "]);");
    if (folds_watched()) line("const " + acc + " folded_total = total;");
    line("total = has ? " + join + "(start, total) : start;");
    if (folds_watched()) line("if (has && wild(total)) { " + raised_by_join("start", "folded_total", "total") + " }");
  }
  const Access& out = l_.results[0];
  line("char* const q = reinterpret_cast<char*>(p.w[" + text(out.word) + "])" + offset(out, 0, l_.kept, "c") + ";");
  const std::string total_of = r.about_mean ? "spread(total)" : "total";
  const std::string rounded = r.round_to_half && r.result != DType::float16 ? "Cast<f16>::of(total)" : total_of;
  raise_rounding(rounded == total_of ? out.dtype : DType::float16);
  line(put(out, "q", "Cast<" + type(out.dtype) + ">::of(" + rounded + ")"));
  line("};");
  line(acc + " total = {};");
  line("bool has = false;");
  const auto join_in = [&](const std::string& value) {
    return "{ const " + acc + " v = " + value + "; total = has ? " + apart + "(total, v) : v; has = true; }";
  };
  const auto take = [&](const std::string& value) {
    return join_in(r.about_mean ? "moment(" + value + ", pivot)" : value);
  };
  if (l_.kind == Kind::serial) {
    in_order(join, start);
    return;
  }
  // An element from which all are measured keeps the means small beside the distances; then several elements at once,
  // about their own mean.
  if (r.about_mean) line("const double pivot = k < kept ? (double)one(0) : 0.0;");
  const auto join_group = [&](const std::string& first, int n, const std::string& by) {
    return "{ const " + acc + " v = moments<" + text(n) + ">(&" + first + "[0], pivot); total = has ? " + by +
           "(total, v) : v; has = true; }";
  };
  line("const i64 begin = part * " + parameter(2) + ";");
  line("const i64 end = min(folded, begin + " + parameter(2) + ");");
  if (l_.kind == Kind::inner) {
    const int width = l_.width, unroll = std::max(1, std::min(4, 16 / width));
    const std::string v = text(width), u = text(unroll);
    line("if (k < kept) {");
    line("const i64 step = (i64)blockDim.x * " + v + ";");
    line("const i64 stop = begin + (end - begin) / (step * " + u + ") * (step * " + u + ");");
    line("i64 q = begin + threadIdx.x * " + v + ";");
    const auto read = [&](const char* into) {
      line("#pragma unroll");
      line("for (int u = 0; u < " + u + "; ++u) several(q + u * step, " + into + "[u]);");
    };
    if (r.about_mean) {
      line("for (; q < stop; q += step * " + u + ") {");
      line(item + " next[" + u + "][" + v + "];");
      read("next");
      line(join_group("next[0]", width * unroll, join));
      line("}");
    } else {
      line("if (q < stop) {");
      line(acc + " sum[" + u + "][" + v + "], next[" + u + "][" + v + "];");
      read("sum");
      line("for (q += step * " + u + "; q < stop; q += step * " + u + ") {");
      read("next");
      line("#pragma unroll");
      line("for (int u = 0; u < " + u + "; ++u)");
      line("#pragma unroll");
      line("for (int j = 0; j < " + v + "; ++j) sum[u][j] = " + join + "(sum[u][j], next[u][j]);");
      line("}");
      line("#pragma unroll");
      line("for (int h = " + v + " / 2; h > 0; h /= 2)");
      line("#pragma unroll");
      line("for (int u = 0; u < " + u + "; ++u)");
      line("#pragma unroll");
      line("for (int j = 0; j < h; ++j) sum[u][j] = " + join + "(sum[u][j], sum[u][j + h]);");
      line("#pragma unroll");
      line("for (int h = " + u + " / 2; h > 0; h /= 2)");
      line("#pragma unroll");
      line("for (int u = 0; u < h; ++u) sum[u][0] = " + join + "(sum[u][0], sum[u + h][0]);");
      line("total = sum[0][0];");
      line("has = true;");
      line("}");
    }
    // What is left: whole vectors, then single elements.
    if (width > 1) {
      line("q = stop + threadIdx.x * " + v + ";");
      line("for (; q + " + v + " <= end; q += step) {");
      line(item + " y[" + v + "];");
      line("several(q, y);");
      if (r.about_mean) {
        line(join_group("y", width, apart));
      } else {
        line("#pragma unroll");
        line("for (int j = 0; j < " + v + "; ++j) " + take("y[j]"));
      }
      line("}");
      line("q = end - (end - stop) % " + v + " + threadIdx.x;");
    } else {
      line("q = stop + threadIdx.x;");
    }
    line("for (; q < end; q += blockDim.x) " + take("one(q)"));
    line("}");
  } else {
    line("if (k < kept) {");
    line("i64 q = begin + threadIdx.y;");
    line("const i64 step = blockDim.y;");
    if (r.about_mean) {
      line("for (; q + 7 * step < end; q += 8 * step) {");
      line(item + " next[8];");
      line("#pragma unroll");
      line("for (int u = 0; u < 8; ++u) next[u] = one(q + u * step);");
      line(join_group("next", 8, join));
      line("}");
    } else {
      line("if (q + 7 * step < end) {");
      line(acc + " sum[8], next[8];");
      line("#pragma unroll");
      line("for (int u = 0; u < 8; ++u) sum[u] = one(q + u * step);");
      line("for (q += 8 * step; q + 7 * step < end; q += 8 * step) {");
      line("#pragma unroll");
      line("for (int u = 0; u < 8; ++u) next[u] = one(q + u * step);");
      line("#pragma unroll");
      line("for (int u = 0; u < 8; ++u) sum[u] = " + join + "(sum[u], next[u]);");
      line("}");
      line("#pragma unroll");
      line("for (int h = 4; h > 0; h /= 2)");
      line("#pragma unroll");
      line("for (int u = 0; u < h; ++u) sum[u] = " + join + "(sum[u], sum[u + h]);");
      line("total = sum[0];");
      line("has = true;");
      line("}");
    }
    line("for (; q < end; q += step) " + take("one(q)"));
    line("}");
  }
  if (watched()) test_part();
  tree(acc, apart);
  const std::string first = l_.kind == Kind::inner ? "threadIdx.x == 0" : "threadIdx.y == 0";
  if (!l_.many) {
    line("if (" + first + " && k < kept) finish(total, has);");
    report();
    return;
  }
  // The block that is last to arrive joins the parts in their order.
  line(acc + "* const parts = reinterpret_cast<" + acc + "*>(p.w[" + text(l_.scratch_word) + "]) + k * splits;");
  line("if (" + first + " && k < kept) parts[part] = total;");
  line("__shared__ bool is_last;");
  line("__threadfence();");
  line("__syncthreads();");
  line("if (threadIdx.x == 0 && threadIdx.y == 0) {");
  line("is_last = atomicAdd(&arrived[group], 1u) + 1 == (u32)splits;");
  line("if (is_last) arrived[group] = 0;");  // for the next launch
  line("}");
  line("__syncthreads();");
  // One report at the end, where something is watched: it is long to compile.
  line(watched() ? "if (is_last) {" : "if (!is_last) return;");
  line("__threadfence();");
  line("has = false;");
  const std::string axis = l_.kind == Kind::inner ? "x" : "y";
  line("if (k < kept) {");
  line("const int count = blockDim." + axis + ";");
  line("int s = threadIdx." + axis + ";");
  line("for (; s + 7 * count < splits; s += 8 * count) {");  // eight in flight
  line(acc + " y[8];");
  line("#pragma unroll");
  line("for (int j = 0; j < 8; ++j) y[j] = parts[s + j * count];");
  line("total = has ? " + apart + "(total, y[0]) : y[0];");
  line("has = true;");
  line("#pragma unroll");
  line("for (int j = 1; j < 8; ++j) total = " + apart + "(total, y[j]);");
  line("}");
  line("for (; s < splits; s += count) " + join_in("parts[s]"));
  if (folds_watched()) {
    line("if (has && wild(total)) {");
    line("u32 seen = 0;");
    line("#pragma unroll 1");
    line("for (s = threadIdx." + axis + "; s < splits; s += count) seen |= kind_of(parts[s]);");
    line(raised_by_fold());
    line("}");
  }
  line("}");
  line("block_tree(total, has);");
  line("if (" + first + " && k < kept) finish(total, has);");
  if (watched()) line("}");
  report();
}

bool Writer::folds_watched() const { return watched() && l_.watched[0].word == 0; }

std::string Writer::raised_by_join(const std::string& x, const std::string& y, const std::string& joined) const {
  const Reduction& r = plan_.reductions[0];
  return "raised0 |= " + flags_of(r.op, r.dtype, r.dtype, l_.watched[0].underflow, x, y, joined) + ";";
}

std::string Writer::raised_by_fold() const {
  return std::string("raised0 |= fold_flags<") + (plan_.reductions[0].op == Op::multiply ? "true" : "false") + ", " +
         (l_.watched[0].underflow ? "true" : "false") + ">(seen, total);";
}

// What the last rounding of a fold raises counts as the fold's.
void Writer::raise_rounding(DType to) {
  const Reduction& r = plan_.reductions[0];
  if (!folds_watched() || cast_flag_test(r.dtype, to) == FlagTest::none) return;
  const std::string t = type(to);
  line("{ const " + t + " narrow = Cast<" + t + ">::of(total); raised0 |= " +
       flags_of(Op::cast, r.dtype, to, l_.watched[0].underflow, "total", "", "narrow") + "; }");
}

// Where a thread's part shows that something happened, its elements once more, one by one.
void Writer::test_part() {
  const Reduction& r = plan_.reductions[0];
  if (look().total) line(std::string("if (has) bad |= ") + (r.about_mean ? "wild(total.mean)" : "wild(total)") + ";");
  if (folds_watched() && l_.watched[0].underflow) line("if (has) bad |= tiny(total);");
  line("if (bad) {");
  if (folds_watched()) line("u32 seen = 0;");
  const std::string v = text(l_.width);
  if (l_.kind == Kind::inner) {
    line("const i64 whole = end - (end - begin) % " + v + ", apart = (i64)blockDim.x * " + v + ";");
    line("i64 q = begin + threadIdx.x * " + v + ";");
    line("if (q >= whole) q = whole + threadIdx.x;");
    line("#pragma unroll 1");
    line("while (q < end) {");
  } else if (l_.kind == Kind::outer) {
    line("#pragma unroll 1");
    line("for (i64 q = begin + threadIdx.y; q < end; q += blockDim.y) {");
  } else {
    line("#pragma unroll 1");
    line("for (i64 q = 0; q < folded; ++q) {");
  }
  line("{");
  element_at(false);
  test_steps();
  if (folds_watched()) line("seen |= kind_of(" + at("r", r.reg) + ");");
  line("}");
  if (l_.kind == Kind::inner) {
    line("if (q >= whole) {");
    line("q += blockDim.x;");
    line("} else if ((q + 1 - begin) % " + v + " != 0) {");
    line("++q;");
    line("} else {");
    line("q += apart - " + v + " + 1;");
    line("if (q >= whole) q = whole + threadIdx.x;");
    line("}");
  }
  line("}");
  if (folds_watched() && l_.kind != Kind::serial) line("if (has) " + raised_by_fold());
  line("}");
}

void Writer::in_order(const std::string& join, int start) {
  const std::string acc = type(plan_.reductions[0].dtype);
  // The start is the first operand here, not joined at the end.
  if (l_.start) {
    line("total = constant<" + acc + ">(p.w[" + text(start) + "], p.w[" + text(start + 1) + "]);");
    line("has = true;");
  }
  line("for (i64 q = 0; q < folded; ++q) {");
  line("const " + acc + " v = one(q)" + (folds_watched() ? ", before = total;" : ";"));
  line("total = has ? " + join + "(total, v) : v;");
  if (folds_watched()) line("if (has) { " + raised_by_join("before", "v", "total") + " }");
  line("has = true;");
  line("}");
  if (watched()) test_part();
  raise_rounding(l_.results[0].dtype);
  const Access& out = l_.results[0];
  line("char* const q = reinterpret_cast<char*>(p.w[" + text(out.word) + "])" + offset(out, 0, l_.kept, "c") + ";");
  line(put(out, "q", "Cast<" + type(out.dtype) + ">::of(total)"));
  report();
  line("(void)finish;");
}

void Writer::element_at(bool vector) {
  const int extents = 4, from = l_.kept, to = l_.kept + l_.folded;
  if (l_.folded > 0) {
    line("u64 rest = (u64)q;");
    coordinates(from, to, "rest", extents, "c");
  }
  for (std::size_t i = 0; i < l_.operands.size(); ++i) {
    const Access& a = operand(i);
    if (a.mode == Mode::constant) continue;
    const std::string kind = a.mode == Mode::counter ? "const i64 " : "const char* const ";
    line(kind + at("b", i) + " = " + at("a", i) + offset(a, from, to, "c") + ";");
  }
  if (!vector) {
    tape([&](std::size_t i) { return element(operand(i), at("b", i)); });
    return;
  }
  const int last = to - 1;
  const std::string v = text(l_.vec);
  for (std::size_t i = 0; i < l_.operands.size(); ++i) {
    const Access& a = operand(i);
    if (a.mode == Mode::constant || a.mode == Mode::counter) continue;
    const std::string x = at("x", i), t = type(a.dtype);
    if (a.mode == Mode::splat) {
      line("const " + t + " " + x + " = " + element(a, at("b", i)) + ";");
      continue;
    }
    line(t + " " + x + "[" + v + "];");
    if (a.mode == Mode::dense) {
      line("load_vector(" + at("b", i) + ", " + x + ");");
      continue;
    }
    line("#pragma unroll");
    line("for (int j = 0; j < " + v + "; ++j) " + x +
         "[j] = " + element(a, at("b", i) + " + j * " + parameter(a.word + 1 + last)) + ";");
  }
  line("#pragma unroll");
  line("for (int j = 0; j < " + v + "; ++j) {");
  tape([&](std::size_t i) -> std::string {
    const Access& a = operand(i);
    if (a.mode == Mode::constant) return element(a, "");
    if (a.mode == Mode::counter) return at("b", i) + " + j * " + parameter(a.word + 1 + last);
    return a.mode == Mode::splat ? at("x", i) : at("x", i) + "[j]";
  });
  if (watched() && look().any()) line("bad |= " + happened() + ";");
  line("y[j] = " + at("r", plan_.reductions[0].reg) + ";");
  line("}");
}

void Writer::tree(const std::string& acc, const std::string& join) {
  const bool inner = l_.kind == Kind::inner;
  line("__shared__ " + acc + " values[" + text(kThreads) + "];");
  line("__shared__ bool present[" + text(kThreads) + "];");
  line("const auto block_tree = [&](" + acc + "& sum, bool& any) {");
  line("const int me = threadIdx.y * blockDim.x + threadIdx.x;");
  line("values[me] = sum;");
  line("present[me] = any;");
  line(std::string("const int mine = ") + (inner ? "threadIdx.x" : "threadIdx.y") + ";");
  line("#pragma unroll 1");
  line(std::string("for (int h = ") + (inner ? "blockDim.x" : "blockDim.y") + " / 2; h > 0; h /= 2) {");
  line("__syncthreads();");
  line(std::string("const int other = me + ") + (inner ? "h" : "h * blockDim.x") + ";");
  line("if (mine < h && present[other]) {");
  if (folds_watched()) line("const " + acc + " left = values[me];");
  line("values[me] = present[me] ? " + join + "(values[me], values[other]) : values[other];");
  if (folds_watched())
    line("if (present[me] && wild(values[me])) { " + raised_by_join("left", "values[other]", "values[me]") + " }");
  line("present[me] = true;");
  line("}");
  line("}");
  line("sum = values[me];");
  line("any = present[me];");
  line("__syncthreads();");
  line("};");
  line("block_tree(total, has);");
}

}  // namespace galop::cuda
