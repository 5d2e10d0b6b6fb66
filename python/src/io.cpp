// Files: galop.load and galop.save by path, and the pieces from which Python reads and writes its file objects.
#include "galop/io.hpp"

#include <cstring>
#include <filesystem>

#include "binding.hpp"
#include "io/npy.hpp"
#include "io/write.hpp"

namespace galop::python {
namespace {

std::filesystem::path to_path(nb::bytes name) { return std::string(name.c_str(), name.size()); }

std::string text(nb::handle name) {
  Py_ssize_t n = 0;
  nb::object bytes = nb::steal(checked(PyUnicode_AsEncodedString(name.ptr(), "utf-8", "surrogateescape")));
  char* p = nullptr;
  if (PyBytes_AsStringAndSize(bytes.ptr(), &p, &n) < 0) rethrow();
  return {p, static_cast<std::size_t>(n)};
}

MapMode to_mode(nb::handle o) {
  if (o.is_none()) return MapMode::none;
  const std::string s = PyUnicode_Check(o.ptr()) ? text(o) : "";
  if (s == "r") return MapMode::read;
  if (s == "r+" || s == "w+") return MapMode::read_write;
  if (s == "c") return MapMode::copy_on_write;
  throw ValueError(std::string("[load] mmap_mode must be None, 'r', 'r+', 'w+' or 'c'; got ") + nb::repr(o).c_str());
}

nb::object load_path(nb::bytes file, nb::handle mode) {
  const auto path = to_path(file);
  const MapMode m = to_mode(mode);
  return wrap_object([&] {
    const WithoutGil away;
    return load(path, m);
  }());
}

nb::object load_bytes(nb::bytes file) {
  return wrap_object(load(std::span(reinterpret_cast<const std::byte*>(file.c_str()), file.size())));
}

void save_path(nb::bytes file, nb::handle a) {
  const auto path = to_path(file);
  const array x = as_array(a.ptr());
  const WithoutGil away;
  save(path, x);
}

auto writes_to(nb::handle file) {
  return [write = nb::object(file.attr("write"))](const void* data, std::int64_t bytes) {
    if (bytes == 0) return;
    nb::object view = nb::steal(checked(PyMemoryView_FromMemory(static_cast<char*>(const_cast<void*>(data)),
                                                                static_cast<Py_ssize_t>(bytes), PyBUF_READ)));
    write(view);
  };
}

void save_file(nb::handle file, nb::handle a) { io::write_npy_file(as_array(a.ptr()), writes_to(file)); }

NamedArrays to_named(nb::dict arrays) {
  NamedArrays all;
  for (auto [name, a] : arrays) all.emplace_back(text(name), as_array(a.ptr()));
  return all;
}

void savez_path(nb::bytes file, nb::dict arrays, bool compressed) {
  const auto path = to_path(file);
  const NamedArrays all = to_named(arrays);
  const WithoutGil away;
  compressed ? savez_compressed(path, all) : savez(path, all);
}

void savez_file(nb::handle file, nb::dict arrays, bool compressed) {
  io::write_npz(to_named(arrays), compressed, writes_to(file));
}

nb::object create_memmap_path(nb::bytes file, nb::handle shape, nb::handle dtype, bool fortran) {
  return wrap_object(create_memmap(to_path(file), to_dims(shape.ptr(), "shape"), to_dtype(dtype.ptr()), fortran));
}

/// Bytes of the values that the whole header of a .npy file announces.
std::int64_t values_of_header(nb::bytes header) {
  const char* p = header.c_str();
  auto read = [&p](void* to, std::int64_t bytes) {
    std::memcpy(to, p, static_cast<std::size_t>(bytes));
    p += bytes;
  };
  // The values are yet to be read, however many there are.
  constexpr std::int64_t kAny = std::int64_t{1} << 62;
  const auto n = static_cast<std::int64_t>(header.size());
  if (io::header_length(reinterpret_cast<const unsigned char*>(p), n) != n)
    throw ValueError("[load] the file ends in its header; got " + std::to_string(n) + " bytes");
  return io::read_header(read, kAny, "the file").bytes();
}

std::int64_t header_length(nb::bytes start) {
  return io::header_length(reinterpret_cast<const unsigned char*>(start.c_str()),
                           static_cast<std::int64_t>(start.size()));
}

nb::list npz_names(const Npz& z) {
  nb::list names;
  for (const std::string& s : z.names())
    names.append(
        nb::steal(checked(PyUnicode_DecodeUTF8(s.data(), static_cast<Py_ssize_t>(s.size()), "surrogateescape"))));
  return names;
}

}  // namespace

void bind_io(nb::module_& m) {
  nb::class_<Npz>(m, "Npz", "A .npz file that is open.")
      .def("__init__",
           [](Npz* self, nb::bytes name, bool in_memory) {
             if (!in_memory) {
               new (self) Npz(to_path(name));
               return;
             }
             const auto* p = reinterpret_cast<const std::byte*>(name.c_str());
             new (self) Npz(std::vector<std::byte>(p, p + name.size()));
           })
      .def("names", &npz_names)
      .def("read", [](const Npz& z, nb::handle name) {
        const std::string s = text(name);
        return wrap_object([&] {
          const WithoutGil away;
          return z[s];
        }());
      });
  m.def("load_path", &load_path, nb::arg("file"), nb::arg("mode").none());
  m.def("load_bytes", &load_bytes);
  m.def("save_path", &save_path);
  m.def("save_file", &save_file);
  m.def("savez_path", &savez_path);
  m.def("savez_file", &savez_file);
  m.def("create_memmap", &create_memmap_path);
  m.def("values_of_header", &values_of_header);
  m.def("header_length", &header_length);
}

}  // namespace galop::python
