// One line for each function: its parameters as Python writes them (= marks what may be left out) and what it does.
#include "calc_library.hpp"

#include <algorithm>
#include <tuple>

#include "galop/create.hpp"
#include "galop/linalg.hpp"
#include "galop/manipulate.hpp"
#include "galop/math.hpp"
#include "galop/reduce.hpp"

namespace galop::cli {
namespace {

int small(const Arguments& a, std::size_t i) { return static_cast<int>(a.integer(i)); }
int small(const Arguments& a, std::size_t i, int otherwise) { return a.has(i) ? small(a, i) : otherwise; }

void add_reductions(Table& table) {
  const auto options = [](const Arguments& a, bool with_dtype) {
    reduce_options o;
    o.axis = a.axes(1);
    o.dtype = with_dtype ? a.dtype(2) : std::nullopt;
    o.keepdims = a.flag(with_dtype ? 3 : 2, false);
    return o;
  };
  using Reduce = array (*)(const array&, const reduce_options&);
  const std::pair<const char*, Reduce> typed[] = {
      {"sum", sum}, {"prod", prod}, {"nansum", nansum}, {"nanprod", nanprod}};
  for (const auto& [name, f] : typed)
    table[name] = make("a, axis=, dtype=, keepdims=, initial=", [f = f, options](Arguments& a) -> Value {
      reduce_options o = options(a, true);
      if (a.has(4)) o.initial = a.number(4);
      return f(a.as_array(0), o);
    });
  const std::pair<const char*, Reduce> means[] = {{"mean", mean}, {"nanmean", nanmean}};
  for (const auto& [name, f] : means)
    table[name] = make("a, axis=, dtype=, keepdims=", [f = f, options](Arguments& a) -> Value {
      return f(a.as_array(0), options(a, true));
    });
  const std::pair<const char*, Reduce> extremes[] = {{"min", min},  {"max", max},       {"amin", min},
                                                     {"amax", max}, {"nanmin", nanmin}, {"nanmax", nanmax}};
  for (const auto& [name, f] : extremes)
    table[name] = make("a, axis=, keepdims=, initial=", [f = f, options](Arguments& a) -> Value {
      reduce_options o = options(a, false);
      if (a.has(3)) o.initial = a.number(3);
      return f(a.as_array(0), o);
    });
  const Reduce every = [](const array& a, const reduce_options& o) { return all(a, o); };
  const std::pair<const char*, Reduce> plain[] = {{"any", any}, {"all", every}, {"count_nonzero", count_nonzero}};
  for (const auto& [name, f] : plain)
    table[name] = make(
        "a, axis=, keepdims=", [f = f, options](Arguments& a) -> Value { return f(a.as_array(0), options(a, false)); });
  using Spread = array (*)(const array&, const reduce_options&, double);
  const std::pair<const char*, Spread> spreads[] = {
      {"var", var}, {"std", std_}, {"nanvar", nanvar}, {"nanstd", nanstd}};
  for (const auto& [name, f] : spreads)
    table[name] = make("a, axis=, dtype=, keepdims=, ddof=", [f = f, options](Arguments& a) -> Value {
      return f(a.as_array(0), options(a, true), a.real(4, 0));
    });
  using Position = array (*)(const array&, std::optional<int>, bool);
  const std::pair<const char*, Position> positions[] = {{"argmin", argmin}, {"argmax", argmax}};
  for (const auto& [name, f] : positions)
    table[name] = make("a, axis=, keepdims=", [f = f](Arguments& a) -> Value {
      return f(a.as_array(0), a.axis(1), a.flag(2, false));
    });
  using Running = array (*)(const array&, std::optional<int>, std::optional<DType>, const array*);
  const std::pair<const char*, Running> running[] = {{"cumsum", cumsum}, {"cumprod", cumprod}};
  for (const auto& [name, f] : running)
    table[name] = make("a, axis=, dtype=", [f = f](Arguments& a) -> Value {
      return f(a.as_array(0), a.axis(1), a.dtype(2), nullptr);
    });
  using Cumulative = array (*)(const array&, std::optional<int>, std::optional<DType>, bool, const array*);
  const std::pair<const char*, Cumulative> cumulative[] = {{"cumulative_sum", cumulative_sum},
                                                           {"cumulative_prod", cumulative_prod}};
  for (const auto& [name, f] : cumulative)
    table[name] = make("x, axis=, dtype=, include_initial=", [f = f](Arguments& a) -> Value {
      return f(a.as_array(0), a.axis(1), a.dtype(2), a.flag(3, false), nullptr);
    });
  table["ptp"] = make(
      "a, axis=, keepdims=", [](Arguments& a) -> Value { return ptp(a.as_array(0), a.axes(1), a.flag(2, false)); });
  table["average"] = make("a, axis=, weights=, keepdims=", [](Arguments& a) -> Value {
    const array x = a.as_array(0);
    if (!a.has(2)) return mean(x, {.axis = a.axes(1), .keepdims = a.flag(3, false)});
    return average(x, a.as_array(2), a.axes(1), a.flag(3, false));
  });
  table["trace"] = make("a, offset=, axis1=, axis2=, dtype=", [](Arguments& a) -> Value {
    return trace(a.as_array(0), small(a, 1, 0), small(a, 2, 0), small(a, 3, 1), a.dtype(4));
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
  using Filled = array (*)(const Dims&, DType, Order);
  const std::pair<const char*, Filled> filled[] = {{"zeros", zeros}, {"ones", ones}};
  for (const auto& [name, f] : filled)
    table[name] = make("shape, dtype=", [f = f](Arguments& a) -> Value {
      return f(a.dims(0), a.dtype(1).value_or(DType::float64), Order::C);
    });
  table["full"] = make(
      "shape, fill_value, dtype=", [](Arguments& a) -> Value { return full(a.dims(0), a.operand(1), a.dtype(2)); });
  table["zeros_like"] = make("a, dtype=", [](Arguments& a) -> Value { return zeros_like(a.as_array(0), a.dtype(1)); });
  table["ones_like"] = make("a, dtype=", [](Arguments& a) -> Value { return ones_like(a.as_array(0), a.dtype(1)); });
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
  table["tri"] = make("N, M=, k=, dtype=", [](Arguments& a) -> Value {
    return tri(a.integer(0), a.integer(1, -1), a.integer(2, 0), a.dtype(3).value_or(DType::float64));
  });
  table["identity"] = make(
      "n, dtype=", [](Arguments& a) -> Value { return identity(a.integer(0), a.dtype(1).value_or(DType::float64)); });
  table["geomspace"] = make("start, stop, num=, endpoint=, dtype=", [](Arguments& a) -> Value {
    return geomspace(a.as_array(0), a.as_array(1), a.integer(2, 50), a.flag(3, true), a.dtype(4));
  });
  using Diagonal = array (*)(const array&, std::int64_t);
  const std::pair<const char*, Diagonal> diagonals[] = {
      {"tril", tril}, {"triu", triu}, {"diag", diag}, {"diagflat", diagflat}};
  for (const auto& [name, f] : diagonals)
    table[name] = make("v, k=", [f = f](Arguments& a) -> Value { return f(a.as_array(0), a.integer(1, 0)); });
  table["indices"] = make("dimensions", [](Arguments& a) -> Value { return indices(a.dims(0)); });
}

void add_rearrangement(Table& table) {
  table["where"] =
      make("condition, x, y", [](Arguments& a) -> Value { return where(a.operand(0), a.operand(1), a.operand(2)); });
  table["reshape"] = make("a, shape", [](Arguments& a) -> Value { return a.as_array(0).reshape(a.dims(1)); });
  table["ravel"] = make("a", [](Arguments& a) -> Value { return a.as_array(0).ravel(); });
  table["transpose"] = make("a, axes=", [](Arguments& a) -> Value {
    return a.has(1) ? a.as_array(0).transpose(a.dims(1)) : a.as_array(0).T();
  });
  table["permute_dims"] = table["transpose"];
  table["copy"] = make("a", [](Arguments& a) -> Value { return a.as_array(0).copy(); });
  table["broadcast_to"] =
      make("array, shape", [](Arguments& a) -> Value { return broadcast_to(a.as_array(0), a.dims(1)); });
  table["expand_dims"] = make("a, axis", [](Arguments& a) -> Value { return expand_dims(a.as_array(0), a.dims(1)); });
  table["squeeze"] = make("a, axis=", [](Arguments& a) -> Value { return squeeze(a.as_array(0), a.axes(1)); });
  table["flip"] = make("m, axis=", [](Arguments& a) -> Value { return flip(a.as_array(0), a.axes(1)); });
  table["swapaxes"] =
      make("a, axis1, axis2", [](Arguments& a) -> Value { return swapaxes(a.as_array(0), small(a, 1), small(a, 2)); });
  table["moveaxis"] = make("a, source, destination",
                           [](Arguments& a) -> Value { return moveaxis(a.as_array(0), a.dims(1), a.dims(2)); });
  table["rollaxis"] = make(
      "a, axis, start=", [](Arguments& a) -> Value { return rollaxis(a.as_array(0), small(a, 1), small(a, 2, 0)); });
  table["rot90"] = make("m, k=", [](Arguments& a) -> Value { return rot90(a.as_array(0), small(a, 1, 1)); });
  table["diagonal"] = make("a, offset=, axis1=, axis2=", [](Arguments& a) -> Value {
    return diagonal(a.as_array(0), a.integer(1, 0), small(a, 2, 0), small(a, 3, 1));
  });
  table["nonzero"] = make("a", [](Arguments& a) -> Value { return sequence(nonzero(a.as_array(0))); });
  table["meshgrid"] = make("*", [](Arguments& a) -> Value { return sequence(meshgrid(a.arrays(0))); });
  table["broadcast_arrays"] = make("*", [](Arguments& a) -> Value { return sequence(broadcast_arrays(a.arrays(0))); });
}

void add_joins(Table& table) {
  table["concatenate"] =
      make("arrays, axis=", [](Arguments& a) -> Value { return concatenate(a.arrays(0), small(a, 1, 0)); });
  table["concat"] = table["concatenate"];
  table["stack"] = make("arrays, axis=", [](Arguments& a) -> Value { return stack(a.arrays(0), small(a, 1, 0)); });
  using Join = array (*)(array_list);
  const Join side_by_side = [](array_list all) { return hstack(all); },
             one_over_another = [](array_list all) { return vstack(all); };
  const std::pair<const char*, Join> joins[] = {
      {"hstack", side_by_side}, {"vstack", one_over_another}, {"dstack", dstack}, {"column_stack", column_stack}};
  for (const auto& [name, f] : joins)
    table[name] = make("tup", [f = f](Arguments& a) -> Value { return f(a.arrays(0)); });
  table["append"] =
      make("arr, values, axis=", [](Arguments& a) -> Value { return append(a.as_array(0), a.as_array(1), a.axis(2)); });
  const auto parts = [](Arguments& a, auto f) { return sequence(f(a.as_array(0), small(a, 2, 0))); };
  table["split"] = make("ary, indices_or_sections, axis=", [parts](Arguments& a) -> Value {
    return parts(a, [&](const array& x, int axis) {
      return a.value(1).number() != nullptr ? split(x, a.integer(1), axis) : split(x, a.dims(1), axis);
    });
  });
  table["array_split"] = make("ary, indices_or_sections, axis=", [parts](Arguments& a) -> Value {
    return parts(a, [&](const array& x, int axis) {
      return a.value(1).number() != nullptr ? array_split(x, a.integer(1), axis) : array_split(x, a.dims(1), axis);
    });
  });
  table["unstack"] =
      make("x, axis=", [](Arguments& a) -> Value { return sequence(unstack(a.as_array(0), small(a, 1, 0))); });
}

void add_picks(Table& table) {
  table["roll"] =
      make("a, shift, axis=", [](Arguments& a) -> Value { return roll(a.as_array(0), a.integer(1), a.axis(2)); });
  table["tile"] = make("A, reps", [](Arguments& a) -> Value { return tile(a.as_array(0), a.dims(1)); });
  using Pick = array (*)(const array&, const array&, std::optional<int>);
  const Pick at = [](const array& a, const array& i, std::optional<int> k) { return take(a, i, k); };
  const Pick where_true = [](const array& c, const array& a, std::optional<int> k) { return compress(c, a, k); };
  const std::tuple<const char*, const char*, Pick> picks[] = {{"repeat", "a, repeats, axis=", repeat},
                                                              {"delete", "arr, obj, axis=", delete_},
                                                              {"take", "a, indices, axis=", at},
                                                              {"compress", "condition, a, axis=", where_true}};
  for (const auto& [name, signature, f] : picks)
    table[name] =
        make(signature, [f = f](Arguments& a) -> Value { return f(a.as_array(0), a.as_array(1), a.axis(2)); });
  table["take_along_axis"] = make("arr, indices, axis=", [](Arguments& a) -> Value {
    return take_along_axis(a.as_array(0), a.as_array(1), small(a, 2, -1));
  });
}

// What takes one array, or two.
void add_plain(Table& table) {
  using One = array (*)(const array&);
  const One positive = [](const array&a) { return isposinf(a); }, negative = [](const array&a) { return isneginf(a); };
  const std::pair<const char*, One> one[] = {{"real", real},
                                             {"imag", imag},
                                             {"fix", fix},
                                             {"iscomplex", iscomplex},
                                             {"isreal", isreal},
                                             {"isposinf", positive},
                                             {"isneginf", negative},
                                             {"sinc", sinc},
                                             {"fliplr", fliplr},
                                             {"flipud", flipud},
                                             {"matrix_transpose", matrix_transpose},
                                             {"atleast_1d", atleast_1d},
                                             {"atleast_2d", atleast_2d},
                                             {"atleast_3d", atleast_3d},
                                             {"flatnonzero", flatnonzero},
                                             {"argwhere", argwhere}};
  for (const auto& [name, f] : one)
    table[name] = make("a", [f = f](Arguments& a) -> Value { return f(a.as_array(0)); });
  using Two = array (*)(const array&, const array&);
  const Two product = [](const array& a, const array& b) { return matmul(a, b); };
  const Two inner_product = [](const array& a, const array& b) { return dot(a, b); };
  const Two by_vector = [](const array& a, const array& b) { return vecdot(a, b); };
  const Two all_pairs = [](const array& a, const array& b) { return outer(a, b); };
  const Two by_matrix = [](const array& a, const array& b) { return matvec(a, b); };
  const Two of_matrix = [](const array& a, const array& b) { return vecmat(a, b); };
  const Two of_vectors = [](const array& a, const array& b) { return cross(a, b); };
  const std::pair<const char*, Two> two[] = {{"matmul", product},   {"dot", inner_product}, {"inner", inner},
                                             {"outer", all_pairs},  {"vdot", vdot},         {"vecdot", by_vector},
                                             {"matvec", by_matrix}, {"vecmat", of_matrix},  {"cross", of_vectors},
                                             {"extract", extract}};
  for (const auto& [name, f] : two)
    table[name] = make("a, b", [f = f](Arguments& a) -> Value { return f(a.as_array(0), a.as_array(1)); });
}

void add_math(Table& table) {
  table["tensordot"] = make(
      "a, b, axes=", [](Arguments& a) -> Value { return tensordot(a.as_array(0), a.as_array(1), small(a, 2, 2)); });
  table["round"] = make("a, decimals=", [](Arguments& a) -> Value { return round(a.as_array(0), small(a, 1, 0)); });
  table["around"] = table["round"];
  table["angle"] = make("z, deg=", [](Arguments& a) -> Value { return angle(a.as_array(0), a.flag(1, false)); });
  table["isclose"] = make("a, b, rtol=, atol=, equal_nan=", [](Arguments& a) -> Value {
    return isclose(a.as_array(0), a.as_array(1), a.real(2, 1e-5), a.real(3, 1e-8), a.flag(4, false));
  });
  table["allclose"] = make("a, b, rtol=, atol=, equal_nan=", [](Arguments& a) -> Value {
    return scalar(allclose(a.as_array(0), a.as_array(1), a.real(2, 1e-5), a.real(3, 1e-8), a.flag(4, false)));
  });
  table["array_equal"] = make("a1, a2, equal_nan=", [](Arguments& a) -> Value {
    return scalar(array_equal(a.as_array(0), a.as_array(1), a.flag(2, false)));
  });
  table["array_equiv"] =
      make("a1, a2", [](Arguments& a) -> Value { return scalar(array_equiv(a.as_array(0), a.as_array(1))); });
  table["nan_to_num"] = make("x, nan=, posinf=, neginf=", [](Arguments& a) -> Value {
    const auto given = [&](std::size_t i) { return a.has(i) ? std::optional(a.real(i, 0)) : std::nullopt; };
    return nan_to_num(a.as_array(0), a.real(1, 0), given(2), given(3));
  });
  table["diff"] =
      make("a, n=, axis=", [](Arguments& a) -> Value { return diff(a.as_array(0), small(a, 1, 1), small(a, 2, -1)); });
  table["trapezoid"] = make("y, x=, dx=, axis=", [](Arguments& a) -> Value {
    if (a.has(1)) return trapezoid(a.as_array(0), a.as_array(1), small(a, 3, -1));
    return trapezoid(a.as_array(0), a.real(2, 1), small(a, 3, -1));
  });
}

}  // namespace

Function make(std::string_view signature, std::function<Value(Arguments&)> run) {
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

void add_library(Table& table) {
  add_reductions(table);
  add_creation(table);
  add_rearrangement(table);
  add_joins(table);
  add_picks(table);
  add_plain(table);
  add_math(table);
}

}  // namespace galop::cli
