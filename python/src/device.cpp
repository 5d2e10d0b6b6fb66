// Devices in Python: their names, scopes, copies between them, what the GPUs say of themselves.
#include <nanobind/stl/string.h>

#include <memory>
#include <string>
#include <vector>

#include "backend/backend.hpp"
#include "binding.hpp"
#include "graph/place.hpp"

namespace galop::python {

Device to_device(nb::handle o) {
  if (!o.is_valid() || o.is_none()) return {};
  if (nb::isinstance<Device>(o)) return nb::cast<Device>(o);
  // Other libraries' devices print as Galop's: "cuda:0".
  return parse_device(nb::str(o).c_str());
}

Device residence(const array& a) {
  // Without a GPU nothing is evaluated for this answer.
  if (!cuda::is_available()) return kCpu;
  return without_gil(a.size(), [a] { return a.device(); });
}

Device wish_of(const array& a) {
  graph::Lock lock;
  const graph::Value& v = *a.cell()->value;
  return v.ready() && v.buffer->outside() ? v.buffer->home() : v.wish;
}

bool lives_on_gpu(const array& a) {
  graph::Lock lock;
  const graph::Value& v = *a.cell()->value;
  if (v.ready() && v.buffer->outside()) return v.buffer->home().kind == DeviceKind::cuda;
  return v.wish.kind == DeviceKind::cuda && !(v.wish == default_device());
}

namespace {

/// The scopes that this thread has entered, innermost last.
std::vector<std::unique_ptr<device_scope>>& scopes() {
  static thread_local std::vector<std::unique_ptr<device_scope>> s;
  return s;
}

void enter_device(nb::handle device) {
  auto scope = std::make_unique<device_scope>(to_device(device));
  scopes().push_back(std::move(scope));
}

void leave_device() {
  if (!scopes().empty()) scopes().pop_back();
}

int ordinal_of(nb::handle device) {
  if (PyLong_Check(device.ptr())) return to_int(device.ptr(), "device");
  const Device d = to_device(device);
  if (d.is_cpu())
    throw ValueError(std::string("[cuda] expected a GPU, by number or as \"cuda:1\"; got ") + nb::repr(device).c_str());
  return d.ordinal;
}

nb::tuple properties(nb::handle device) {
  const cuda::DeviceProperties p = cuda::properties(ordinal_of(device));
  return nb::make_tuple(p.name, p.major, p.minor, p.memory);
}

nb::tuple memory_info(nb::handle device) {
  const DeviceMemory m = cuda::memory_info(ordinal_of(device));
  return nb::make_tuple(m.total, m.free, m.in_use, m.cached, m.limit);
}

nb::tuple transfer_counts() {
  const Transfers t = transfers();
  return nb::make_tuple(t.to_device, t.to_host, t.between_devices, t.bytes_to_device, t.bytes_to_host,
                        t.bytes_between_devices);
}

nb::object move_to(nb::handle self, nb::handle device) {
  array a = get(self.ptr());
  const Device d = to_device(device);
  require_device(d);
  if (d.automatic() || (d.is_cpu() && !cuda::is_available())) return nb::borrow(self);
  array r = without_gil(a.size(), [&] { return a.to_device(d); });
  if (r.cell() == a.cell()) return nb::borrow(self);
  return wrap_object(std::move(r));
}

/// Equal to another device and to the text that names it.
bool equals(const Device& d, nb::handle other) {
  if (nb::isinstance<Device>(other)) return d == nb::cast<Device>(other);
  if (!PyUnicode_Check(other.ptr())) return false;
  try {
    return d == parse_device(nb::str(other).c_str());
  } catch (const ValueError&) {
    return false;
  }
}

const char* type_of(const Device& d) { return d.automatic() ? "auto" : d.is_cpu() ? "cpu" : "cuda"; }

}  // namespace

void bind_device(nb::module_& m) {
  nb::class_<Device> device(m, "Device", "A place for arrays: str() names it, and it equals that text.");
  device.attr("__module__") = "galop";
  device.def(
      "__init__", [](Device* self, nb::handle d) { new (self) Device(to_device(d)); }, nb::arg("device"));
  device.def("__str__", [](const Device& d) { return to_string(d); })
      .def("__repr__", [](const Device& d) { return "Device('" + to_string(d) + "')"; })
      .def("__eq__", &equals, nb::arg("other").none())
      .def("__hash__", [](const Device& d) { return nb::hash(nb::str(to_string(d).c_str())); })
      .def("__reduce__", [cls = device.ptr()](
                             const Device& d) { return nb::make_tuple(nb::handle(cls), nb::make_tuple(to_string(d))); })
      .def_prop_ro("type", &type_of, "\"cpu\", \"cuda\" or \"auto\".")
      .def_prop_ro(
          "index", [](const Device& d) { return static_cast<int>(d.ordinal); }, "Which of the devices of that type.");

  m.def("enter_device", &enter_device, nb::arg().none());
  m.def("leave_device", &leave_device);
  m.def(
      "require_device",
      [](nb::handle d) {
        const Device device = to_device(d);
        require_device(device);
        return device;
      },
      nb::arg().none());
  m.def("default_device", &default_device);
  m.def(
      "set_default_device", [](nb::handle d) { set_default_device(to_device(d)); }, nb::arg().none());
  m.def("scope_device", [] {
    const Device scope = graph::scope_device();
    return scope.automatic() ? default_device() : scope;
  });
  // The device that the array was asked onto; None where size and cost decide.
  m.def(
      "asked_device",
      [](nb::handle a) -> nb::object {
        if (!is_array(a.ptr())) return nb::none();
        const Device d = wish_of(get(a.ptr()));
        return d.automatic() ? nb::object(nb::none()) : nb::cast(d);
      },
      nb::arg().none());
  m.def("lives_on_gpu", [](nb::handle a) { return is_array(a.ptr()) && lives_on_gpu(get(a.ptr())); });
  m.def("move_to", &move_to, nb::arg(), nb::arg().none());
  m.def("transfers", &transfer_counts);
  m.def("synchronize", [](nb::handle d) {
    const Device device = to_device(d);
    const WithoutGil away;
    synchronize(device);
  });
  m.def("wait_for", [](int ordinal, std::uintptr_t stream) { cuda_backend(ordinal).wait_for(stream); });
  m.def("make_wait", [](int ordinal, std::uintptr_t stream) { cuda_backend(ordinal).make_wait(stream); });

  nb::module_ gpu = m.def_submodule("cuda");
  gpu.def("is_available", &cuda::is_available);
  gpu.def("device_count", &cuda::device_count);
  gpu.def("why_not", &cuda::why_not);
  gpu.def("properties", &properties);
  gpu.def("memory_info", &memory_info);
  gpu.def("empty_cache", &cuda::empty_cache);
  gpu.def("set_memory_limit",
          [](std::int64_t bytes, nb::handle device) { cuda::set_memory_limit(bytes, ordinal_of(device)); });
  gpu.def("ordinal", &ordinal_of);
}

}  // namespace galop::python
