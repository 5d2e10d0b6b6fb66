// Views and rearrangements for the Python package: joins, splits, picks by index, masks.
#include "galop/manipulate.hpp"

#include <algorithm>

#include "binding.hpp"

namespace galop::python {

namespace {

void copy_to(nb::handle dst_, nb::handle src_, nb::handle casting_, nb::handle where) {
  Output dst;
  dst.take(dst_.ptr());
  if (!dst.get())
    throw TypeError("[copyto] destination must be an array; got " + std::string(Py_TYPE(dst_.ptr())->tp_name));
  DType to = dst.get()->dtype();
  Operand src;
  src.take(src_.ptr(), to);
  Casting casting = to_casting(casting_);
  DType from = src.is_array() ? src.as_array().dtype() : src.arg().as_scalar().dtype();
  // A Python integer goes into any numeric dtype that holds it.
  bool weak_fits = !src.is_array() && (kind(to) == 'f' || kind(to) == 'c' || is_integer(to)) && kind(from) == 'i';
  if (!weak_fits && !can_cast(from, to, casting))
    throw TypeError(std::string("[copyto] not allowed by casting=") + nb::repr(casting_).c_str() + "; got " +
                    std::string(name(from)) + " to " + std::string(name(to)));
  std::optional<array> mask, cast;
  const array* m = to_mask(where, mask);
  look_at_cast(from, to);
  if (casting == Casting::unsafe && from != to && (src.is_array() || src.is_complex()))
    cast.emplace((src.is_array() ? src.as_array() : array(src.arg().as_scalar())).astype(to));
  copyto(*dst.get(), cast ? arg(*cast) : src.arg(), m);
}

nb::object at_least(int ndim, nb::handle arrays) {
  std::vector<array> all = to_arrays(arrays);
  for (array& a : all) a = ndim == 1 ? atleast_1d(a) : ndim == 2 ? atleast_2d(a) : atleast_3d(a);
  return all.size() == 1 ? wrap_object(std::move(all[0])) : nb::object(wrap_all(std::move(all)));
}

// Joins ---------------------------------------------------------------------------------------------------------------

/// The arguments of a join, kept alive for the call.
struct Join {
  std::vector<array> arrays;
  Output out;
  join_options options;
  Join(nb::handle list, nb::handle dtype, nb::handle casting, nb::handle out_ = nb::handle())
      : arrays(to_arrays(list)) {
    out.take(out_.ptr());
    options.out = out.get();
    options.dtype = to_optional_dtype(dtype);
    if (options.out || options.dtype) options.casting = to_casting(casting);
    if (options.casting != Casting::unsafe) return;
    const DType to = options.dtype ? *options.dtype : options.out ? options.out->dtype() : DType::complex128;
    if (std::any_of(arrays.begin(), arrays.end(), [&](const array& a) { return drops_parts(a.dtype(), to); }))
      warn_of_dropped_parts();
  }
  nb::object give(array r) { return nb::steal(out.give(std::move(r))); }
};

void bind_joins(nb::module_& m) {
  const auto any = nb::arg().none();
  const auto none = nb::none();
  m.def(
      "concatenate",
      [](nb::handle arrays, nb::handle axis, nb::handle out, nb::handle dtype, nb::handle casting) {
        Join j(arrays, dtype, casting, out);
        return j.give(concatenate(j.arrays, to_optional_int(axis, "axis"), j.options));
      },
      nb::arg(), any, nb::arg("out") = none, nb::arg("dtype") = none, nb::arg("casting") = "same_kind");
  m.def(
      "stack",
      [](nb::handle arrays, nb::handle axis, nb::handle out, nb::handle dtype, nb::handle casting) {
        Join j(arrays, dtype, casting, out);
        return j.give(stack(j.arrays, to_int(axis.ptr(), "axis"), j.options));
      },
      nb::arg(), nb::arg(), nb::arg("out") = none, nb::arg("dtype") = none, nb::arg("casting") = "same_kind");
  using Stack = array (*)(array_list, const join_options&);
  for (auto [name, f] : {std::pair<const char*, Stack>{"hstack", &hstack}, {"vstack", &vstack}})
    m.def(
        name,
        [f = f](nb::handle arrays, nb::handle dtype, nb::handle casting) {
          Join j(arrays, dtype, casting);
          return j.give(f(j.arrays, j.options));
        },
        nb::arg(), any, nb::arg());
  m.def("dstack", [](nb::handle arrays) { return wrap_object(dstack(to_arrays(arrays))); });
  m.def("column_stack", [](nb::handle arrays) { return wrap_object(column_stack(to_arrays(arrays))); });
  m.def(
      "append",
      [](nb::handle a, nb::handle values, nb::handle axis) {
        return wrap_object(append(as_array(a.ptr()), as_array(values.ptr()), to_optional_int(axis, "axis")));
      },
      nb::arg(), nb::arg(), any);
}

// Splits --------------------------------------------------------------------------------------------------------------

/// f(a, cuts) of a sequence of places, or f(a, parts) of an integer, as a list.
template <class F>
nb::object parts_of(nb::handle a_, nb::handle sections, F&& f) {
  const array a = as_array(a_.ptr());
  PyObject* o = sections.ptr();
  const Dims places = to_dims(o, "indices_or_sections");
  const bool is_number = PyObject_Size(o) < 0;  // what has no length
  if (is_number) PyErr_Clear();
  std::vector<array> parts = is_number ? f(a, places[0]) : f(a, places);
  nb::object list = nb::steal(checked(PyList_New(static_cast<Py_ssize_t>(parts.size()))));
  for (std::size_t i = 0; i < parts.size(); ++i)
    PyList_SET_ITEM(list.ptr(), static_cast<Py_ssize_t>(i), wrap(std::move(parts[i])));
  return list;
}

void bind_splits(nb::module_& m) {
  m.def("array_split", [](nb::handle a, nb::handle sections, nb::handle axis) {
    const int k = to_int(axis.ptr(), "axis");
    return parts_of(a, sections, [k](const array& x, const auto& at) { return array_split(x, at, k); });
  });
  m.def("split", [](nb::handle a, nb::handle sections, nb::handle axis) {
    const int k = to_int(axis.ptr(), "axis");
    return parts_of(a, sections, [k](const array& x, const auto& at) { return split(x, at, k); });
  });
  m.def("hsplit", [](nb::handle a, nb::handle sections) {
    return parts_of(a, sections, [](const array& x, const auto& at) { return hsplit(x, at); });
  });
  m.def("vsplit", [](nb::handle a, nb::handle sections) {
    return parts_of(a, sections, [](const array& x, const auto& at) { return vsplit(x, at); });
  });
  m.def("dsplit", [](nb::handle a, nb::handle sections) {
    return parts_of(a, sections, [](const array& x, const auto& at) { return dsplit(x, at); });
  });
  m.def("unstack",
        [](nb::handle a, nb::handle axis) { return wrap_all(unstack(as_array(a.ptr()), to_int(axis.ptr(), "axis"))); });
}

// Picks ---------------------------------------------------------------------------------------------------------------

/// One shift or several; as NumPy, what int() takes.
Dims to_shifts(nb::handle o) {
  const bool many = PyList_Check(o.ptr()) || PyTuple_Check(o.ptr());
  if (!many && !PyLong_Check(o.ptr()) && !PyFloat_Check(o.ptr())) {
    const std::vector<std::int64_t> shifts = as_array(o.ptr()).to_vector<std::int64_t>();
    return Dims(shifts);
  }
  const auto whole = [](nb::handle v) {
    nb::object i = nb::steal(checked(PyNumber_Long(v.ptr())));
    return nb::cast<std::int64_t>(i);
  };
  Dims shifts;
  if (!many) return {whole(o)};
  for (nb::handle v : nb::borrow<nb::iterable>(o)) shifts.push_back(whole(v));
  return shifts;
}

nb::object roll_by(nb::handle a_, nb::handle shift, nb::handle axis) {
  const array a = as_array(a_.ptr());
  const Dims shifts = to_shifts(shift);
  if (!axis.is_none()) return wrap_object(roll(a, shifts, to_dims(axis.ptr(), "axis")));
  std::int64_t all = 0;
  for (const std::int64_t s : shifts) all += s;
  return wrap_object(roll(a, all));
}

nb::object delete_places(nb::handle a_, nb::handle places, nb::handle axis) {
  const array a = as_array(a_.ptr());
  const std::optional<int> k = to_optional_int(axis, "axis");
  if (PySlice_Check(places.ptr())) return wrap_object(delete_(a, std::get<slice>(to_parts(places.ptr())[0]), k));
  array at = as_array(places.ptr());
  if (at.size() == 0 && PySequence_Check(places.ptr()) && !is_array(places.ptr())) at = at.astype(DType::int64);
  return wrap_object(without_gil(a.size(), [&] { return delete_(a, at, k); }));
}

TakeMode to_take_mode(nb::handle o) {
  const std::string_view text = PyUnicode_Check(o.ptr()) ? nb::cast<nb::str>(o).c_str() : "";
  if (text == "raise") return TakeMode::raise;
  if (text == "wrap") return TakeMode::wrap;
  if (text == "clip") return TakeMode::clip;
  throw ValueError(std::string("[take] mode must be 'raise', 'wrap' or 'clip'; got ") + nb::repr(o).c_str());
}

/// f(a, places, axis) without the GIL.
template <class F>
nb::object pick(nb::handle a_, nb::handle places_, nb::handle axis, F&& f) {
  const array a = as_array(a_.ptr()), places = as_array(places_.ptr());
  const std::optional<int> k = to_optional_int(axis, "axis");
  return wrap_object(without_gil(a.size() + places.size(), [&] { return f(a, places, k); }));
}

/// The same with a place to write to: f(a, places, axis, out).
template <class F>
nb::object pick_into(nb::handle out, nb::handle a_, nb::handle places_, nb::handle axis, F&& f) {
  Output o;
  o.take(out.ptr());
  const array a = as_array(a_.ptr()), places = as_array(places_.ptr());
  const std::optional<int> k = to_optional_int(axis, "axis");
  std::optional<array> target;
  if (o.get()) target.emplace(*o.get());
  return nb::steal(
      o.give(without_gil(a.size() + places.size(), [&] { return f(a, places, k, target ? &*target : nullptr); })));
}

void bind_picks(nb::module_& m) {
  const auto any = nb::arg().none();
  m.def("roll", &roll_by, nb::arg(), nb::arg(), any);
  m.def("delete", &delete_places, nb::arg(), nb::arg(), any);
  m.def(
      "repeat", [](nb::handle a, nb::handle times, nb::handle axis) { return pick(a, times, axis, &repeat); },
      nb::arg(), nb::arg(), any);
  m.def(
      "take_along_axis",
      [](nb::handle a, nb::handle indices, nb::handle axis) { return pick(a, indices, axis, &take_along_axis); },
      nb::arg(), nb::arg(), any);
  m.def(
      "take",
      [](nb::handle a, nb::handle indices, nb::handle axis, nb::handle out, nb::handle mode_) {
        const TakeMode mode = to_take_mode(mode_);
        return pick_into(out, a, indices, axis,
                         [mode](const array& x, const array& at, std::optional<int> k, const array* target) {
                           return take(x, at, k, mode, target);
                         });
      },
      nb::arg(), nb::arg(), any, any, nb::arg());
  m.def(
      "compress",
      [](nb::handle condition, nb::handle a, nb::handle axis, nb::handle out) {
        return pick_into(out, condition, a, axis, &compress);
      },
      nb::arg(), nb::arg(), any, any);
  m.def("extract", [](nb::handle condition, nb::handle a) {
    return pick(condition, a, nb::none(),
                [](const array& c, const array& x, std::optional<int>) { return extract(c, x); });
  });
  m.def("nonzero", [](nb::handle a_) {
    const array a = as_array(a_.ptr());
    return wrap_all(without_gil(a.size(), [&] { return nonzero(a); }));
  });
  for (auto [name, f] :
       {std::pair<const char*, array (*)(const array&)>{"argwhere", &argwhere}, {"flatnonzero", &flatnonzero}})
    m.def(name, [f = f](nb::handle a_) {
      const array a = as_array(a_.ptr());
      return wrap_object(without_gil(a.size(), [&] { return f(a); }));
    });
}

void bind_views(nb::module_& m) {
  m.def("broadcast_to", [](nb::handle a, nb::handle shape) {
    return wrap_object(broadcast_to(as_array(a.ptr()), to_dims(shape.ptr(), "shape")));
  });
  m.def("broadcast_arrays", [](nb::handle arrays) { return wrap_all(broadcast_arrays(to_arrays(arrays))); });
  m.def("expand_dims", [](nb::handle a, nb::handle axes) {
    return wrap_object(expand_dims(as_array(a.ptr()), to_dims(axes.ptr(), "axis")));
  });
  m.def(
      "squeeze",
      [](nb::handle a, nb::handle axes) {
        return wrap_object(squeeze(as_array(a.ptr()), to_optional_dims(axes, "axis")));
      },
      nb::arg(), nb::arg().none());
  m.def("swapaxes", [](nb::handle a, nb::handle i, nb::handle j) {
    return wrap_object(swapaxes(as_array(a.ptr()), to_int(i.ptr(), "axis"), to_int(j.ptr(), "axis")));
  });
  m.def("moveaxis", [](nb::handle a, nb::handle from, nb::handle to) {
    return wrap_object(moveaxis(as_array(a.ptr()), to_dims(from.ptr(), "source"), to_dims(to.ptr(), "destination")));
  });
  m.def(
      "flip",
      [](nb::handle a, nb::handle axes) {
        return wrap_object(flip(as_array(a.ptr()), to_optional_dims(axes, "axis")));
      },
      nb::arg(), nb::arg().none());
  m.def("tile", [](nb::handle a, nb::handle times) {
    return wrap_object(tile(as_array(a.ptr()), to_dims(times.ptr(), "reps")));
  });
  m.def("rot90", [](nb::handle a, int k, int i, int j) { return wrap_object(rot90(as_array(a.ptr()), k, i, j)); });
  m.def("rollaxis", [](nb::handle a, nb::handle axis, nb::handle start) {
    return wrap_object(rollaxis(as_array(a.ptr()), to_int(axis.ptr(), "axis"), to_int(start.ptr(), "start")));
  });
  m.def("diagonal", [](nb::handle a, std::int64_t offset, nb::handle i, nb::handle j) {
    return wrap_object(diagonal(as_array(a.ptr()), offset, to_int(i.ptr(), "axis1"), to_int(j.ptr(), "axis2")));
  });
  m.def("shares_memory",
        [](nb::handle a, nb::handle b) { return shares_memory(as_array(a.ptr()), as_array(b.ptr())); });
  m.def("may_share_memory",
        [](nb::handle a, nb::handle b) { return may_share_memory(as_array(a.ptr()), as_array(b.ptr())); });
  m.def(
      "sliding_window_view",
      [](nb::handle a, nb::handle window, nb::handle axes, bool writeable) {
        return wrap_object(sliding_window_view(as_array(a.ptr()), to_dims(window.ptr(), "window_shape"),
                                               to_optional_dims(axes, "axis"), writeable));
      },
      nb::arg(), nb::arg(), nb::arg().none(), nb::arg());
  m.def("atleast", &at_least);
  m.def("copyto", &copy_to, nb::arg("dst"), nb::arg("src"), nb::arg("casting"), nb::arg("where"));
  m.def("where", [](nb::handle condition, nb::handle x, nb::handle y) {
    Operand c;
    c.take(condition.ptr());
    Pair p(x, y);
    return wrap_object(where(c.arg(), p.x.arg(), p.y.arg()));
  });
}

}  // namespace

void bind_manipulation(nb::module_& m) {
  bind_views(m);
  bind_joins(m);
  bind_splits(m);
  bind_picks(m);
}

}  // namespace galop::python
