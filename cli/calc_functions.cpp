// The names of `galop calc`: the rows of the table, dtypes, constants; how a function is called, what was perhaps
// meant.
#include "calc_functions.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numbers>

#include "calc_library.hpp"
#include "core/op.hpp"
#include "galop/error.hpp"
#include "galop/ufunc.hpp"

namespace galop::cli {
namespace {

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
    add_library(t);
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

std::optional<int> Arguments::axis(std::size_t i) const {
  return has(i) ? std::optional(static_cast<int>(integer(i))) : std::nullopt;
}

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
