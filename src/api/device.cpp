// Where arrays are, and what the GPUs say about themselves.
#include "galop/device.hpp"

#include "backend/backend.hpp"
#include "core/interrupt.hpp"
#include "galop/array.hpp"
#include "graph/build.hpp"

namespace galop {

void synchronize(Device d) {
  if (d.kind != DeviceKind::cuda) return;
  {
    const interrupt::Scope scope(true);  // what the device was given goes on
    cuda_backend(d.ordinal).synchronize();
  }
  graph::Lock lock;
  graph::note_late_faults(d);
}

Device array::device() const { return graph::device_of(*this); }

array array::to_device(Device d) const {
  require_device(d);
  return d.automatic() ? *this : graph::to_device(*this, d);
}

namespace cuda {

bool is_available() { return cuda_device_count() > 0; }
int device_count() { return cuda_device_count(); }
std::string why_not() { return why_no_cuda(); }

DeviceProperties properties(int ordinal) {
  DeviceBackend& d = cuda_backend(ordinal);
  return {d.name(), d.capability() / 10, d.capability() % 10, d.memory().total};
}

DeviceMemory memory_info(int ordinal) { return cuda_backend(ordinal).memory(); }

void empty_cache() {
  graph::Lock lock;
  for (int i = 0; i < cuda_device_count(); ++i)
    if (DeviceBackend* gpu = cuda_backend_if_started(i)) gpu->trim();
}

void set_memory_limit(std::int64_t bytes, int ordinal) {
  if (bytes < 0) throw ValueError("[cuda] a memory limit must not be negative; got " + std::to_string(bytes));
  cuda_backend(ordinal).set_limit(bytes);
}

}  // namespace cuda
}  // namespace galop
