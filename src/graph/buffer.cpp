// Replicas: allocation, copies between devices, and which are given up when a device runs out of memory.
#include "graph/buffer.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "galop/error.hpp"
#include "graph/value.hpp"

namespace galop {
namespace graph {
namespace {

Transfers& counted() {
  static Transfers t;
  return t;
}

// The Buffers with a replica of their own on a device, least recently used first.
std::list<Buffer*>& resident(Device d) {
  static auto* lists = new std::vector<std::list<Buffer*>>;  // never destroyed: arrays may outlive main
  const auto i = static_cast<std::size_t>(d.ordinal);
  if (lists->size() <= i) lists->resize(i + 1);
  return (*lists)[i];
}

std::uint64_t step = 1;

}  // namespace

void copy_bytes(Device to_device, void* to, Device from_device, const void* from, std::int64_t bytes) {
  if (bytes == 0) return;
  Transfers& t = counted();
  if (to_device.is_cpu() && from_device.is_cpu()) {
    std::memcpy(to, from, static_cast<std::size_t>(bytes));
  } else if (to_device.is_cpu()) {
    cuda_backend(from_device.ordinal).download(to, from, bytes);
    note_late_faults(from_device);
    ++t.to_host;
    t.bytes_to_host += bytes;
  } else if (from_device.is_cpu()) {
    cuda_backend(to_device.ordinal).upload(to, from, bytes);
    ++t.to_device;
    t.bytes_to_device += bytes;
  } else if (to_device == from_device) {
    cuda_backend(to_device.ordinal).copy(to, from, bytes);
  } else {
    DeviceBackend& target = cuda_backend(to_device.ordinal);
    if (!target.copy_peer(to, from_device.ordinal, from, bytes)) {
      const Storage s = cpu_backend().allocate(bytes);
      try {
        cuda_backend(from_device.ordinal).download(s.data, from, bytes);
        target.upload(to, s.data, bytes);
      } catch (...) {
        cpu_backend().release(s);
        throw;
      }
      cpu_backend().release(s);
    }
    ++t.between_devices;
    t.bytes_between_devices += bytes;
  }
}

void begin_step() { ++step; }

std::int64_t make_room(Device d, std::int64_t bytes) {
  std::int64_t freed = 0;
  for (const bool spill : {false, true}) {
    auto& list = resident(d);
    for (auto it = list.begin(); it != list.end() && freed < bytes;) {
      Buffer& b = **it++;
      if (b.used_ == step || (b.outside() && b.home_ == d)) continue;
      const Buffer::Replica* here = b.find(d);
      const bool elsewhere =
          !here->valid || b.host_.valid ||
          std::any_of(b.devices_.begin(), b.devices_.end(), [&](auto& r) { return r.valid && !(r.device == d); });
      if (!elsewhere && !spill) continue;
      if (!elsewhere) {
        try {
          b.read(kCpu);
        } catch (const MemoryError&) {
          continue;  // nor has the host room for it
        }
      }
      freed += b.bytes_;
      b.drop(d);
      if (b.home_ == d) b.home_ = b.host_.valid ? kCpu : b.devices_.front().device;
    }
    if (freed >= bytes) break;
  }
  return freed;
}

Storage allocate_on(Device d, std::int64_t bytes) {
  if (d.is_cpu()) return cpu_backend().allocate(bytes);
  DeviceBackend& device = cuda_backend(d.ordinal);
  // Memory that was freed may lie in pieces: each round asks for twice as much to be given up.
  for (std::int64_t wanted = bytes;; wanted = std::min(wanted, std::int64_t{1} << 61) * 2) {
    try {
      return device.allocate(bytes);
    } catch (const MemoryError&) {
      if (bytes > device.capacity() || make_room(d, wanted) == 0) throw;
    }
    device.trim();
  }
}

Buffer::Buffer(std::int64_t bytes, Device d) : bytes_(bytes), home_(d), used_(step) {
  if (d.is_cpu()) {
    host_ = {kCpu, cpu_backend().allocate(bytes), true, {}};
  } else {
    replica(d).valid = true;
  }
}

Buffer::Buffer(void* data, std::int64_t bytes, Device d, bool readonly, bool immutable, std::function<void()> owner)
    : bytes_(bytes),
      home_(d),
      foreign_(true),
      readonly_(readonly || immutable),
      immutable_(immutable),
      owner_(std::move(owner)) {
  Replica r{d, {data, bytes, 0}, true, {}};
  if (d.is_cpu())
    host_ = r;
  else
    devices_.push_back(r);
  travelled_ = !d.is_cpu();
}

void Buffer::end() noexcept {
  for (Replica& r : devices_) release(r);
  if (host_.storage.data) release(host_);
  if (owner_) owner_();
}

void Buffer::release(Replica& r) noexcept {
  if (r.device.is_cpu() ? in_block_ || (foreign_ && home_.is_cpu()) : foreign_ && r.device == home_) return;
  if (!r.device.is_cpu()) resident(r.device).erase(r.place);
  backend_of(r.device).release(r.storage);
}

Buffer::Replica& Buffer::replica(Device d) {
  if (d.is_cpu()) {
    if (!host_.storage.data) host_ = {kCpu, cpu_backend().allocate(bytes_), false, {}};
    return host_;
  }
  for (Replica& r : devices_)
    if (r.device == d) return r;
  devices_.reserve(devices_.size() + 1);
  travelled_ = true;
  const Storage s = allocate_on(d, bytes_);
  auto& list = resident(d);
  devices_.push_back({d, s, false, list.insert(list.end(), this)});
  return devices_.back();
}

void Buffer::touch(Replica& r) {
  if (r.device.is_cpu() || (foreign_ && r.device == home_)) return;
  auto& list = resident(r.device);
  list.splice(list.end(), list, r.place);
}

void Buffer::drop(Device d) noexcept {
  for (auto it = devices_.begin(); it != devices_.end(); ++it)
    if (it->device == d) {
      release(*it);
      devices_.erase(it);
      return;
    }
}

const char* Buffer::read(Device d) {
  used_ = step;
  if (d.is_cpu() && host_.valid && (!outside() || home_.is_cpu())) return static_cast<const char*>(host_.storage.data);
  Replica& to = replica(d);
  touch(to);
  if (to.valid && (!outside() || home_ == d)) return static_cast<const char*>(to.storage.data);
  const Replica* from = nullptr;
  if (outside()) {
    from = home_.is_cpu() ? &host_ : find(home_);
  } else {
    if (host_.valid) from = &host_;
    for (const Replica& r : devices_)
      if (r.valid && (!from || r.device == home_)) from = &r;
  }
  copy_bytes(d, to.storage.data, from->device, from->storage.data, bytes_);
  to.valid = !outside();
  return static_cast<const char*>(to.storage.data);
}

char* Buffer::write(Device d) {
  char* p = const_cast<char*>(read(d));
  if (outside()) return p;
  host_.valid = d.is_cpu();
  for (Replica& r : devices_) r.valid = r.device == d;
  home_ = d;
  return p;
}

char* Buffer::begin_export(Device d) {
  if ((outside() || immutable_) && !(home_ == d))
    throw BufferError("[export] the array is visible to others on " + to_string(home_) + "; got " + to_string(d));
  char* p = immutable_ ? address(d) : write(d);
  ++exports_;
  return p;
}

}  // namespace graph

Transfers transfers() { return graph::counted(); }

}  // namespace galop
