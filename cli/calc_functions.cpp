// One line for each function: its parameters as Python writes them (= marks what may be left out) and what it does.
#include "calc_functions.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numbers>

#include "core/op.hpp"
#include "galop/create.hpp"
#include "galop/error.hpp"
#include "galop/linalg.hpp"
#include "galop/manipulate.hpp"
#include "galop/reduce.hpp"

namespace galop::cli {
namespace {

using Table = std::map<std::string, Function, std::less<>>;
using Run = std::function<Value(Arguments&)>;

// "a, axis=, dtype=" as parameters.
Function make(std::string_view signature, Run run) {
  Function f;
  f.run = std::move(run);
  f.many = signature == "*";
  for (std::string_view rest = f.many ? "" : signature; !rest.empty();) {
    std::string_view one = rest.substr(0, rest.find(", "));
    rest.remove_prefix(std::min(rest.size(), one.size() + 2));
    if (one.ends_with("=")) {
      one.remove_suffix(1);
    } else {
      ++f.required;
    }
    f.parameters.emplace_back(one);
  }
  return f;
}

Value sequence(std::vector<array> arrays) {
  Sequence s;
  for (array& a : arrays) s.items.emplace_back(std::move(a));
  return s;
}

void add_ufuncs(Table& table) {
  for (int i = 0; i < kTableOps; ++i) {
    const Op op = static_cast<Op>(i);
    const OpInfo& row = info(op);
    std::string signature = row.nin == 1 ? "x" : row.nin == 2 ? "x1, x2" : "a, a_min, a_max";
    table[std::string(row.name)] =
        make(signature + ", dtype=", [op, nin = static_cast<std::size_t>(row.nin)](Arguments& a) {
          std::vector<arg> operands;
          for (std::size_t k = 0; k < nin; ++k) operands.push_back(a.operand(k));
          ufunc_options options;
          options.dtype = a.dtype(nin);
          std::vector<array> results = ufunc(op).call(operands, options);
          return results.size() == 1 ? Value(results[0]) : sequence(std::move(results));
        });
  }
  for (const OpAlias& alias : op_aliases()) table[std::string(alias.alias)] = table.find(alias.name)->second;
}

void add_reductions(Table& table) {
  const auto options = [](const Arguments& a, bool with_dtype) {
    reduce_options o;
    o.axis = a.axes(1);
    o.dtype = with_dtype ? a.dtype(2) : std::nullopt;
    o.keepdims = a.flag(with_dtype ? 3 : 2, false);
    return o;
  };
  using Reduce = array (*)(const array&, const reduce_options&);
  const std::pair<const char*, Reduce> typed[] = {{"sum", sum}, {"prod", prod}};
  for (const auto& [name, f] : typed)
    table[name] = make("a, axis=, dtype=, keepdims=, initial=", [f = f, options](Arguments& a) -> Value {
      reduce_options o = options(a, true);
      if (a.has(4)) o.initial = a.number(4);
      return f(a.as_array(0), o);
    });
  table["mean"] = make("a, axis=, dtype=, keepdims=", [options](Arguments& a) -> Value {
    return mean(a.as_array(0), options(a, true));
  });
  const std::pair<const char*, Reduce> extremes[] = {{"min", min}, {"max", max}, {"amin", min}, {"amax", max}};
  for (const auto& [name, f] : extremes)
    table[name] = make("a, axis=, keepdims=, initial=", [f = f, options](Arguments& a) -> Value {
      reduce_options o = options(a, false);
      if (a.has(3)) o.initial = a.number(3);
      return f(a.as_array(0), o);
    });
  const std::pair<const char*, Reduce> plain[] = {{"any", any}, {"all", all}, {"count_nonzero", count_nonzero}};
  for (const auto& [name, f] : plain)
    table[name] = make(
        "a, axis=, keepdims=", [f = f, options](Arguments& a) -> Value { return f(a.as_array(0), options(a, false)); });
  using Spread = array (*)(const array&, const reduce_options&, double);
  const std::pair<const char*, Spread> spreads[] = {{"var", var}, {"std", std_}};
  for (const auto& [name, f] : spreads)
    table[name] = make("a, axis=, dtype=, keepdims=, ddof=", [f = f, options](Arguments& a) -> Value {
      return f(a.as_array(0), options(a, true), a.real(4, 0));
    });
  using Position = array (*)(const array&, std::optional<int>, bool);
  const std::pair<const char*, Position> positions[] = {{"argmin", argmin}, {"argmax", argmax}};
  for (const auto& [name, f] : positions)
    table[name] = make("a, axis=, keepdims=", [f = f](Arguments& a) -> Value {
      const std::optional<int> axis = a.has(1) ? std::optional(static_cast<int>(a.integer(1))) : std::nullopt;
      return f(a.as_array(0), axis, a.flag(2, false));
    });
  const std::pair<const char*, Op> running[] = {{"cumsum", Op::add}, {"cumprod", Op::multiply}};
  for (const auto& [name, op] : running)
    table[name] = make("a, axis=, dtype=", [op = op](Arguments& a) -> Value {
      const array x = a.has(1) ? a.as_array(0) : a.as_array(0).ravel();
      return ufunc(op).accumulate(x, static_cast<int>(a.integer(1, 0)), a.dtype(2));
    });
}

void add_creation(Table& table) {
  table["array"] = make("object, dtype=", [](Arguments& a) -> Value {
    const array x = to_array(a.value(0));
    return a.has(1) ? x.astype(*a.dtype(1)) : x.copy();
  });
  table["asarray"] = make("a, dtype=", [](Arguments& a) -> Value {
    const array x = to_array(a.value(0));
    return a.has(1) && *a.dtype(1) != x.dtype() ? x.astype(*a.dtype(1)) : x;
  });
  table["astype"] = make("x, dtype", [](Arguments& a) -> Value { return a.as_array(0).astype(*a.dtype(1)); });
  using Filled = array (*)(const Dims&, DType);
  const std::pair<const char*, Filled> filled[] = {{"zeros", zeros}, {"ones", ones}};
  for (const auto& [name, f] : filled)
    table[name] = make(
        "shape, dtype=", [f = f](Arguments& a) -> Value { return f(a.dims(0), a.dtype(1).value_or(DType::float64)); });
  table["full"] = make(
      "shape, fill_value, dtype=", [](Arguments& a) -> Value { return full(a.dims(0), a.operand(1), a.dtype(2)); });
  using Like = array (*)(const array&, std::optional<DType>);
  const std::pair<const char*, Like> likes[] = {{"zeros_like", zeros_like}, {"ones_like", ones_like}};
  for (const auto& [name, f] : likes)
    table[name] = make("a, dtype=", [f = f](Arguments& a) -> Value { return f(a.as_array(0), a.dtype(1)); });
  table["full_like"] = make("a, fill_value, dtype=", [](Arguments& a) -> Value {
    return full_like(a.as_array(0), a.operand(1), a.dtype(2));
  });
  table["arange"] = make("start, stop=, step=, dtype=", [](Arguments& a) -> Value {
    const scalar step = a.has(2) ? a.number(2) : scalar(1);
    return a.has(1) ? arange(a.number(0), a.number(1), step, a.dtype(3)) : arange(0, a.number(0), step, a.dtype(3));
  });
  table["linspace"] = make("start, stop, num=, endpoint=, dtype=", [](Arguments& a) -> Value {
    return linspace(a.operand(0), a.operand(1), a.integer(2, 50), a.flag(3, true), a.dtype(4));
  });
  table["logspace"] = make("start, stop, num=, endpoint=, base=, dtype=", [](Arguments& a) -> Value {
    return logspace(a.operand(0), a.operand(1), a.integer(2, 50), a.flag(3, true), a.real(4, 10), a.dtype(5));
  });
  table["eye"] = make("N, M=, k=, dtype=", [](Arguments& a) -> Value {
    return eye(a.integer(0), a.integer(1, -1), a.integer(2, 0), a.dtype(3).value_or(DType::float64));
  });
}

void add_rearrangement(Table& table) {
  table["where"] =
      make("condition, x, y", [](Arguments& a) -> Value { return where(a.operand(0), a.operand(1), a.operand(2)); });
  table["matmul"] = make("x1, x2", [](Arguments& a) -> Value { return matmul(a.as_array(0), a.as_array(1)); });
  table["dot"] = make("a, b", [](Arguments& a) -> Value { return dot(a.as_array(0), a.as_array(1)); });
  table["inner"] = make("a, b", [](Arguments& a) -> Value { return inner(a.as_array(0), a.as_array(1)); });
  table["tensordot"] = make("a, b, axes=", [](Arguments& a) -> Value {
    return tensordot(a.as_array(0), a.as_array(1), static_cast<int>(a.integer(2, 2)));
  });
  table["reshape"] = make("a, shape", [](Arguments& a) -> Value { return a.as_array(0).reshape(a.dims(1)); });
  table["ravel"] = make("a", [](Arguments& a) -> Value { return a.as_array(0).ravel(); });
  table["transpose"] = make("a, axes=", [](Arguments& a) -> Value {
    return a.has(1) ? a.as_array(0).transpose(a.dims(1)) : a.as_array(0).T();
  });
  table["copy"] = make("a", [](Arguments& a) -> Value { return a.as_array(0).copy(); });
  table["real"] = make("val", [](Arguments& a) -> Value { return a.as_array(0).real(); });
  table["imag"] = make("val", [](Arguments& a) -> Value { return a.as_array(0).imag(); });
  table["broadcast_to"] =
      make("array, shape", [](Arguments& a) -> Value { return broadcast_to(a.as_array(0), a.dims(1)); });
  table["expand_dims"] = make("a, axis", [](Arguments& a) -> Value { return expand_dims(a.as_array(0), a.dims(1)); });
  table["squeeze"] = make("a, axis=", [](Arguments& a) -> Value { return squeeze(a.as_array(0), a.axes(1)); });
  table["flip"] = make("m, axis=", [](Arguments& a) -> Value { return flip(a.as_array(0), a.axes(1)); });
  table["swapaxes"] = make("a, axis1, axis2", [](Arguments& a) -> Value {
    return swapaxes(a.as_array(0), static_cast<int>(a.integer(1)), static_cast<int>(a.integer(2)));
  });
  table["moveaxis"] = make("a, source, destination",
                           [](Arguments& a) -> Value { return moveaxis(a.as_array(0), a.dims(1), a.dims(2)); });
  table["concatenate"] = make("arrays, axis=", [](Arguments& a) -> Value {
    return concatenate(a.arrays(0), static_cast<int>(a.integer(1, 0)));
  });
  table["stack"] = make(
      "arrays, axis=", [](Arguments& a) -> Value { return stack(a.arrays(0), static_cast<int>(a.integer(1, 0))); });
  table["nonzero"] = make("a", [](Arguments& a) -> Value { return sequence(nonzero(a.as_array(0))); });
  table["meshgrid"] = make("*", [](Arguments& a) -> Value { return sequence(meshgrid(a.arrays(0))); });
}

void add_casts(Table& table) {
  for (int i = 0; i < kDTypes; ++i) {
    const DType t = static_cast<DType>(i);
    table[std::string(name(t))] = make("x", [t](Arguments& a) -> Value { return a.as_array(0).astype(t); });
  }
  table["int"] = table["int64"];
  table["float"] = table["float64"];
  table["complex"] = table["complex128"];
}

const Table& functions() {
  static const Table table = [] {
    Table t;
    add_ufuncs(t);
    add_reductions(t);
    add_creation(t);
    add_rearrangement(t);
    add_casts(t);
    return t;
  }();
  return table;
}

std::optional<DType> dtype_named(std::string_view text) {
  for (int i = 0; i < kDTypes; ++i) {
    const DType t = static_cast<DType>(i);
    const std::string code = std::string(1, kind(t)) + std::to_string(itemsize(t));  // f8, i4, …; and ? for bool
    if (text == name(t) || text == code || (text.size() == 1 && text[0] == typecode(t))) return t;
  }
  if (text == "int") return DType::int64;
  if (text == "float") return DType::float64;
  if (text == "complex") return DType::complex128;
  return {};
}

const std::map<std::string, Value, std::less<>>& constants() {
  static const std::map<std::string, Value, std::less<>> table = [] {
    const double infinity = std::numeric_limits<double>::infinity();
    std::map<std::string, Value, std::less<>> t = {{"pi", scalar(std::numbers::pi)},
                                                   {"e", scalar(std::numbers::e)},
                                                   {"inf", scalar(infinity)},
                                                   {"nan", scalar(std::numeric_limits<double>::quiet_NaN())},
                                                   {"euler_gamma", scalar(std::numbers::egamma)},
                                                   {"True", scalar(true)},
                                                   {"False", scalar(false)},
                                                   {"None", Value()},
                                                   {"newaxis", Value()},
                                                   {"int", DType::int64},
                                                   {"float", DType::float64},
                                                   {"complex", DType::complex128}};
    for (int i = 0; i < kDTypes; ++i) t[std::string(name(static_cast<DType>(i)))] = static_cast<DType>(i);
    return t;
  }();
  return table;
}

std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = std::exchange(row[0], i);
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t above = row[j];
      row[j] = std::min({above + 1, row[j - 1] + 1, diagonal + (a[i - 1] != b[j - 1])});
      diagonal = above;
    }
  }
  return row[b.size()];
}

}  // namespace

void Arguments::wrong(std::size_t i, const std::string& needed) const {
  throw TypeError("[" + function_ + "] " + parameters_[i] + " must be " + needed + "; got " + describe(*values_[i]));
}

array Arguments::as_array(std::size_t i) const {
  const Value& v = *values_[i];
  if (v.number() == nullptr && v.as_array() == nullptr && v.sequence() == nullptr) wrong(i, "an array or a number");
  return to_array(v);
}

arg Arguments::operand(std::size_t i) {
  if (values_[i]->number() != nullptr) return *values_[i]->number();
  if (values_[i]->as_array() != nullptr) return *values_[i]->as_array();
  kept_.reserve(parameters_.size());  // so that no reference moves
  return kept_.emplace_back(as_array(i));
}

scalar Arguments::number(std::size_t i) const {
  const Value& v = *values_[i];
  if (v.number() != nullptr) return *v.number();
  const array* a = v.as_array();
  if (a == nullptr || a->ndim() != 0) wrong(i, "a number");
  if (kind(a->dtype()) == 'b') return a->item<bool>();
  if (is_integer(a->dtype())) return a->item<std::int64_t>();
  if (is_complex(a->dtype())) return a->item<std::complex<double>>();
  return a->item<double>();
}

double Arguments::real(std::size_t i, double otherwise) const {
  if (!has(i)) return otherwise;
  const scalar n = number(i);
  if (n.kind() == 'c') wrong(i, "a real number");
  return n.number().real();
}

std::int64_t Arguments::integer(std::size_t i) const {
  const scalar n = number(i);
  if (n.kind() == 'i' || n.kind() == 'b') return n.integer();
  const double v = n.number().real();
  if (n.kind() != 'f' || v != std::floor(v) || std::fabs(v) > 9e15) wrong(i, "an integer");
  return static_cast<std::int64_t>(v);
}

bool Arguments::flag(std::size_t i, bool otherwise) const { return has(i) ? number(i).number() != 0.0 : otherwise; }

Dims Arguments::dims(std::size_t i) const {
  const Sequence* s = values_[i]->sequence();
  if (s == nullptr) return {integer(i)};
  Dims d;
  for (const Value& item : s->items) {
    const scalar* n = item.number();
    if (n == nullptr ||
        (n->kind() != 'i' && !(n->kind() == 'f' && n->number().real() == std::floor(n->number().real()))))
      wrong(i, "an integer or a tuple of integers");
    d.push_back(n->kind() == 'i' ? n->integer() : static_cast<std::int64_t>(n->number().real()));
  }
  return d;
}

std::optional<Dims> Arguments::axes(std::size_t i) const { return has(i) ? std::optional(dims(i)) : std::nullopt; }

std::optional<DType> Arguments::dtype(std::size_t i) const {
  if (!has(i)) return {};
  if (const auto* t = std::get_if<DType>(values_[i])) return *t;
  if (const auto* s = std::get_if<std::string>(values_[i]))
    if (const auto t = dtype_named(*s)) return t;
  wrong(i, "a dtype such as float32");
}

std::vector<array> Arguments::arrays(std::size_t i) const {
  const Sequence* s = values_[i]->sequence();
  if (s == nullptr) wrong(i, "a tuple or list of arrays");
  std::vector<array> list;
  for (const Value& item : s->items) list.push_back(to_array(item));
  return list;
}

const Function* find_function(std::string_view name) {
  const auto found = functions().find(name);
  return found == functions().end() ? nullptr : &found->second;
}

const Value* find_constant(std::string_view name) {
  const auto found = constants().find(name);
  return found == constants().end() ? nullptr : &found->second;
}

std::vector<std::string> known_names() {
  std::vector<std::string> names;
  for (const auto& [name, function] : functions()) names.push_back(name);
  for (const auto& [name, value] : constants()) names.push_back(name);
  return names;
}

std::string nearest(std::string_view name, const std::vector<std::string>& names) {
  std::string best;
  std::size_t least = name.size() < 3 ? 1 : 2;
  for (const std::string& candidate : names) {
    // A name that only lacks its end, or NumPy's "arc", is near too.
    const bool longer = name.size() >= 3 && (candidate.starts_with(name) || name.starts_with(candidate + "e"));
    const std::size_t distance = longer ? 1 : edit_distance(name, candidate);
    if (distance > least || distance >= name.size() || (distance == least && !best.empty())) continue;
    least = distance;
    best = candidate;
  }
  return best;
}

Value call(const std::string& name, const Function& f, const std::vector<Value>& positional,
           const std::vector<std::pair<std::string, Value>>& keywords) {
  if (f.many) {
    if (!keywords.empty()) throw TypeError("[" + name + "] takes no keyword arguments; got " + keywords[0].first);
    Value all = Sequence{positional, false};
    static const std::vector<std::string> parameters = {"arrays"};
    Arguments a(name, parameters, {&all});
    return f.run(a);
  }
  std::vector<const Value*> values(f.parameters.size());
  const auto takes = [&] {
    std::string text;
    for (std::size_t i = 0; i < f.parameters.size(); ++i)
      text += (i == 0 ? "" : ", ") + f.parameters[i] + (i < f.required ? "" : "=");
    return "; it is " + name + "(" + text + ")";
  };
  if (positional.size() > values.size())
    throw TypeError("[" + name + "] takes at most " + std::to_string(values.size()) + " arguments; got " +
                    std::to_string(positional.size()) + takes());
  for (std::size_t i = 0; i < positional.size(); ++i) values[i] = &positional[i];
  for (const auto& [key, value] : keywords) {
    const auto found = std::find(f.parameters.begin(), f.parameters.end(), key);
    if (found == f.parameters.end()) throw TypeError("[" + name + "] takes no argument " + key + takes());
    const Value*& place = values[static_cast<std::size_t>(found - f.parameters.begin())];
    if (place != nullptr) throw TypeError("[" + name + "] got " + key + " twice" + takes());
    place = &value;
  }
  for (std::size_t i = 0; i < f.required; ++i)
    if (values[i] == nullptr) throw TypeError("[" + name + "] needs the argument " + f.parameters[i] + takes());
  Arguments a(name, f.parameters, std::move(values));
  return f.run(a);
}

}  // namespace galop::cli
