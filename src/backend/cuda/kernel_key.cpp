// What the code of a plan's kernel depends on, as text: by it kernels are found, in memory and on the disk.
#include <charconv>
#include <string>

#include "backend/cuda/lower.hpp"

namespace galop::cuda {

std::string kernel_key(const Plan& plan, const Lowered& l) {
  std::string k = "galop-kernel-2 ";
  k.reserve(96 + 32 * plan.tape.size());
  const auto number = [&](std::int64_t v) {  // written for every launch
    char digits[24];
    char* const end = std::to_chars(digits, digits + 22, v).ptr;
    *end = ',';
    k.append(digits, end + 1);
  };
  k += static_cast<char>(l.kind);
  for (const int v : {l.vec, l.strips, int{l.heavy}, l.width, l.axes, l.kept, l.folded, l.tile_axis, l.tile,
                      int{l.start}, int{l.many}})
    number(v);
  for (const auto* list : {&l.operands, &l.results}) {
    k += list == &l.operands ? 'i' : 'o';
    for (const Access& a : *list) {
      k += static_cast<char>(a.mode);
      k += typecode(a.dtype);
    }
  }
  for (const Instruction& i : plan.tape) {
    k += ' ';
    k += info(i.op).name;
    k += typecode(i.loop);
    for (const auto r : i.in) number(r);
    for (const auto r : i.out) number(r);
  }
  k += " r";
  for (const DType t : plan.registers) k += typecode(t);
  for (const Output& o : plan.outputs) number(o.reg);
  for (const Reduction& r : plan.reductions) {
    k += info(r.op).name;
    k += typecode(r.dtype);
    number(r.reg);
    number(r.round_to_half);
    number(r.about_mean);
  }
  for (const Lowered::Watched& w : l.watched) {
    k += w.underflow ? 'u' : 'w';
    number(static_cast<std::int64_t>(w.word));
  }
  return k;
}

}  // namespace galop::cuda
