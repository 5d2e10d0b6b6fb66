// Device memory shared with other libraries without a copy: DLPack capsules and __cuda_array_interface__, with streams.
//
// Memory that changes hands is safe in this order: what was started on one side is waited for, on the device, by the
// other side's stream, when it is given and again when it is given back.
#include <cstdint>
#include <string>
#include <string_view>

#include "backend/backend.hpp"
#include "binding.hpp"
#include "core/view.hpp"
#include "graph/build.hpp"
#include "graph/place.hpp"
#include "numpy_api.hpp"

namespace galop::python {

namespace {

// DLPack's binary interface, version 1 and before it
// -------------------------------------------------------------------

enum DeviceType : std::int32_t { dl_cpu = 1, dl_cuda = 2, dl_cuda_managed = 13 };

struct Tensor {
  void* data;
  struct {
    std::int32_t type, id;
  } device;
  std::int32_t ndim;
  struct {
    std::uint8_t code, bits;
    std::uint16_t lanes;
  } dtype;
  std::int64_t* shape;
  std::int64_t* strides;  // in elements; null: C order
  std::uint64_t byte_offset;
};

struct Managed {
  static constexpr const char *kName = "dltensor", *kUsed = "used_dltensor";
  Tensor tensor;
  void* context;
  void (*deleter)(Managed*);
};

struct ManagedVersioned {
  static constexpr const char *kName = "dltensor_versioned", *kUsed = "used_dltensor_versioned";
  struct {
    std::uint32_t major, minor;
  } version;
  void* context;
  void (*deleter)(ManagedVersioned*);
  std::uint64_t flags;
  Tensor tensor;
};
constexpr std::uint64_t kReadOnly = 1, kCopied = 2;

constexpr std::uint8_t kCodes[] = {6, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 5, 5};  // as DType counts

DType tensor_dtype(const Tensor& t) {
  for (int i = 0; i < kDTypes; ++i)
    if (t.dtype.lanes == 1 && kCodes[i] == t.dtype.code && t.dtype.bits == 8 * itemsize(static_cast<DType>(i)))
      return static_cast<DType>(i);
  throw BufferError("[from_dlpack] not an element type of Galop; got code " + std::to_string(t.dtype.code) + ", " +
                    std::to_string(t.dtype.bits) + " bits, " + std::to_string(t.dtype.lanes) + " lanes");
}

// Out of Galop --------------------------------------------------------------------------------------------------------

/// What a consumer holds: the storage counts as shared until it lets go.
struct Lent {
  array value;
  Device device;
  std::uintptr_t stream;  // where the consumer works; 0: unknown
  Dims shape, strides;
};

// Any thread may call it, with or without the GIL.
void give_back(Lent* l) noexcept {
  try {
    DeviceBackend& d = cuda_backend(l->device.ordinal);
    if (d.alive()) d.wait_for(l->stream ? l->stream : 1);
  } catch (...) {  // a failed device has nothing to wait for
  }
  try {
    l->value.release_export();
  } catch (...) {
  }
  delete l;
}

template <class M>
void destroy_capsule(PyObject* capsule) {
  if (!PyCapsule_IsValid(capsule, M::kName)) return;  // a consumer has taken it
  auto* m = static_cast<M*>(PyCapsule_GetPointer(capsule, M::kName));
  if (m->deleter) m->deleter(m);
}

template <class M>
PyObject* make_capsule(Lent* lent, void* data, std::uint64_t flags) {
  auto* m = new M{};
  const DType t = lent->value.dtype();
  m->tensor = {data,
               {dl_cuda, lent->device.ordinal},
               lent->shape.size(),
               {kCodes[static_cast<int>(t)], static_cast<std::uint8_t>(8 * itemsize(t)), 1},
               lent->shape.data(),
               lent->strides.data(),
               0};
  m->context = lent;
  m->deleter = [](M* self) {
    give_back(static_cast<Lent*>(self->context));
    delete self;
  };
  if constexpr (std::is_same_v<M, ManagedVersioned>) {
    m->version = {1, 0};
    m->flags = flags;
  }
  PyObject* capsule = PyCapsule_New(m, M::kName, &destroy_capsule<M>);
  if (!capsule) m->deleter(m);
  return checked(capsule);
}

/// A stream's handle as DLPack counts: 1 and 2 are the default streams, -1 asks for no order. 0 would be ambiguous.
std::optional<std::uintptr_t> to_stream(nb::handle o) {
  if (o.is_none()) return 1;
  const long long v = PyLong_AsLongLong(o.ptr());
  if (v == -1 && PyErr_Occurred()) rethrow();
  if (v == -1) return {};
  if (v < -1 || v == 0)
    throw ValueError("[dlpack] a CUDA stream is 1, 2, a handle, or -1 for none; got " + std::to_string(v));
  return static_cast<std::uintptr_t>(v);
}

/// A capsule over the array's memory on its GPU.
nb::object dlpack_capsule(nb::handle self, nb::handle stream_, bool versioned, bool copied) {
  const std::optional<std::uintptr_t> stream = to_stream(stream_);
  array a = get(self.ptr());
  const Device d = residence(a);
  if (!a.writeable() && !versioned)
    throw BufferError("[dlpack] a read-only array needs DLPack 1.0 (max_version=(1, 0)); got a consumer without it");
  auto lent = std::make_unique<Lent>(Lent{a, d, stream.value_or(0), a.shape(), a.strides()});
  for (std::int64_t& s : lent->strides) {
    if (s % a.itemsize() != 0)
      throw BufferError("[dlpack] strides must be multiples of the item size; got " + to_string(a.strides()));
    s /= a.itemsize();
  }
  void* data = without_gil(a.size(), [&] { return graph::export_pointer(a, d); });
  Lent* held = lent.release();
  try {
    if (stream) cuda_backend(d.ordinal).make_wait(*stream);
  } catch (...) {
    give_back(held);
    throw;
  }
  const std::uint64_t flags = (a.writeable() ? 0 : kReadOnly) | (copied ? kCopied : 0);
  return nb::steal(versioned ? make_capsule<ManagedVersioned>(held, data, flags)
                             : make_capsule<Managed>(held, data, flags));
}

/// The same by address, for libraries from before DLPack. Nobody says when it is no longer used, so the storage counts
/// as shared from here on; whoever works on the legacy default stream needs not wait.
nb::dict cuda_array_interface(nb::handle self) {
  array a = get(self.ptr());
  const Device d = residence(a);
  if (d.is_cpu())
    throw nb::attribute_error("[__cuda_array_interface__] the array is on the CPU; x.cuda() copies it to a GPU");
  void* data = without_gil(a.size(), [&] { return graph::export_pointer(a, d); });
  cuda_backend(d.ordinal).make_wait(1);
  nb::dict r;
  r["data"] = nb::make_tuple(a.size() == 0 ? 0 : reinterpret_cast<std::uintptr_t>(data), !a.writeable());
  r["shape"] = to_tuple(a.shape());
  r["strides"] = a.is_c_contiguous() ? nb::object(nb::none()) : nb::object(to_tuple(a.strides()));
  r["typestr"] = nb::handle(dtype_object(a.dtype())).attr("str");
  r["stream"] = 1;
  r["version"] = 3;
  return r;
}

// Into Galop ----------------------------------------------------------------------------------------------------------

/// Somebody else's memory while Galop uses it: a capsule around it dies in `bury`, with the GIL.
struct Borrowed {
  Device device;
  PyObject* object = nullptr;  // its owner, or
  Managed* managed = nullptr;  // its DLPack tensor
  ManagedVersioned* versioned = nullptr;
};
constexpr const char* kBorrowed = "galop.borrowed";

void end_loan(PyObject* capsule) {
  auto* b = static_cast<Borrowed*>(PyCapsule_GetPointer(capsule, kBorrowed));
  try {
    // What Galop still does there comes before what its owner does next on the legacy default stream.
    DeviceBackend& d = cuda_backend(b->device.ordinal);
    if (d.alive()) d.make_wait(1);
  } catch (...) {
  }
  Py_XDECREF(b->object);
  if (b->managed && b->managed->deleter) b->managed->deleter(b->managed);
  if (b->versioned && b->versioned->deleter) b->versioned->deleter(b->versioned);
  delete b;
}

/// Takes over `b` whether it succeeds or not.
array wrap_borrowed(Borrowed b, void* data, DType t, const Dims& shape, const Dims& strides, bool writeable) {
  auto* held = new Borrowed(b);
  PyObject* capsule = PyCapsule_New(held, kBorrowed, &end_loan);
  if (!capsule) {
    delete held;
    rethrow();
  }
  nb::object keep = nb::steal(capsule);
  checked_size("from_memory", shape, itemsize(t));
  array a = graph::wrap(
      data, t, shape, strides, writeable, [capsule] { release_later(capsule); }, b.device);
  keep.release();
  return a;
}

array from_tensor(const Tensor& t, Borrowed b, bool writeable) {
  const DType type = tensor_dtype(t);
  Dims shape(t.shape, t.shape + t.ndim);
  Dims strides = c_strides(shape, itemsize(type));
  if (t.strides)
    for (int k = 0; k < t.ndim; ++k) strides[k] = t.strides[k] * itemsize(type);
  return wrap_borrowed(b, static_cast<char*>(t.data) + t.byte_offset, type, shape, strides, writeable);
}

Device device_of(const Tensor& t) {
  if (t.device.type != dl_cuda && t.device.type != dl_cuda_managed)
    throw BufferError("[from_dlpack] expected memory of an NVIDIA GPU; got DLPack's device type " +
                      std::to_string(t.device.type));
  const Device d{DeviceKind::cuda, static_cast<std::int16_t>(t.device.id)};
  require_device(d);
  return d;
}

/// The array of a capsule with memory of a GPU, which is ordered behind the legacy default stream.
nb::object from_capsule(nb::handle capsule) {
  PyObject* o = capsule.ptr();
  Borrowed b;
  auto take = [&]<class M>(M*) {
    auto* m = static_cast<M*>(PyCapsule_GetPointer(o, M::kName));
    bool writeable = true;
    if constexpr (std::is_same_v<M, ManagedVersioned>) {
      if (m->version.major != 1)
        throw BufferError("[from_dlpack] expected DLPack 1; got version " + std::to_string(m->version.major));
      writeable = (m->flags & kReadOnly) == 0;
    }
    tensor_dtype(m->tensor);  // a type that Galop lacks leaves the capsule alone
    b.device = device_of(m->tensor);
    cuda_backend(b.device.ordinal).wait_for(1);
    if (PyCapsule_SetName(o, M::kUsed) != 0) rethrow();
    if constexpr (std::is_same_v<M, ManagedVersioned>)
      b.versioned = m;
    else
      b.managed = m;
    return wrap_object(from_tensor(m->tensor, b, writeable));
  };
  if (PyCapsule_IsValid(o, ManagedVersioned::kName)) return take(static_cast<ManagedVersioned*>(nullptr));
  if (PyCapsule_IsValid(o, Managed::kName)) return take(static_cast<Managed*>(nullptr));
  throw TypeError("[from_dlpack] expected a DLPack capsule that nobody has taken; got " +
                  std::string(nb::repr(capsule).c_str()));
}

/// Which GPU the object's memory is on, as its DLPack side says; else the one in use here.
Device device_of(nb::handle o) {
  if (nb::hasattr(o, "__dlpack_device__")) {
    nb::object pair = o.attr("__dlpack_device__")();
    return {DeviceKind::cuda, nb::cast<std::int16_t>(nb::int_(pair[1]))};
  }
  const Device d = graph::scope_device().automatic() ? default_device() : graph::scope_device();
  return d.kind == DeviceKind::cuda ? d : Device{DeviceKind::cuda, 0};
}

}  // namespace

std::optional<array> from_cuda_interface(nb::handle o) {
  nb::object value = nb::steal(PyObject_GetAttrString(o.ptr(), "__cuda_array_interface__"));
  if (!value.is_valid()) {
    PyErr_Clear();
    return {};
  }
  if (!nb::isinstance<nb::dict>(value))
    throw TypeError(std::string("[__cuda_array_interface__] expected a dictionary; got ") + nb::repr(value).c_str());
  nb::dict d = nb::borrow<nb::dict>(value);
  auto part = [&](const char* name) -> nb::object {
    return d.contains(name) ? nb::object(d[name]) : nb::object(nb::none());
  };
  if (!part("mask").is_none()) throw ValueError("[__cuda_array_interface__] masks are not supported; got one");
  Borrowed b;
  b.device = device_of(o);
  require_device(b.device);
  const DType t = to_dtype(part("typestr").ptr());
  const Dims shape = to_dims(part("shape").ptr(), "shape");
  Dims strides = c_strides(shape, itemsize(t));
  if (nb::object s = part("strides"); !s.is_none()) strides = to_dims(s.ptr(), "strides");
  if (strides.size() != shape.size())
    throw ValueError("[__cuda_array_interface__] one stride for each axis; got shape " + to_string(shape) +
                     ", strides " + to_string(strides));
  nb::object data = part("data");
  auto* address = reinterpret_cast<void*>(nb::cast<std::uintptr_t>(data[0]));
  const bool read_only = PyObject_IsTrue(nb::object(data[1]).ptr()) > 0;
  if (nb::object stream = part("stream"); !stream.is_none())
    if (auto handle = to_stream(stream)) cuda_backend(b.device.ordinal).wait_for(*handle);
  b.object = o.inc_ref().ptr();
  return wrap_borrowed(b, address, t, shape, strides, !read_only);
}

void bind_dlpack(nb::module_& m) {
  m.def("dlpack_capsule", &dlpack_capsule, nb::arg(), nb::arg().none(), nb::arg(), nb::arg());
  m.def("from_capsule", &from_capsule);
  m.def("cuda_array_interface", &cuda_array_interface);
  // The same memory on the array's GPU read as another dtype, shape and strides.
  m.def("reinterpret", [](nb::handle self, nb::handle dtype, nb::handle shape, nb::handle strides) {
    array a = get(self.ptr());
    const Device d = residence(a);
    const DType t = to_dtype(dtype.ptr());
    void* data = without_gil(a.size(), [&] { return graph::export_pointer(a, d); });
    return wrap_object(graph::wrap(
        data, t, to_dims(shape.ptr(), "shape"), to_dims(strides.ptr(), "strides"), a.writeable(),
        [a] { a.release_export(); }, d));
  });
}

}  // namespace galop::python
