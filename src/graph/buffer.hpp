// The memory behind a Value: on the host, on devices, or on several in equal copies, which are made when they are
// needed.
#pragma once

#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <vector>

#include "backend/backend.hpp"

namespace galop::graph {

/// Equal copies of one array's bytes ("replicas"), one at most on each device. All calls are made under the engine's
/// lock.
class Buffer {
 public:
  /// Undefined bytes on one device. Throws MemoryError when even giving up other replicas there makes no room.
  Buffer(std::int64_t bytes, Device d);
  /// Memory of somebody else, who is told when it is no longer needed. `immutable`: nobody writes it while the Buffer
  /// lives, so that reading it can wait.
  Buffer(void* data, std::int64_t bytes, Device d, bool readonly, bool immutable, std::function<void()> owner);
  /// Bytes on the host that belong to the Block around this Buffer (value.hpp).
  struct InBlock {};
  Buffer(InBlock, void* data, std::int64_t bytes)
      : bytes_(bytes), home_(kCpu), in_block_(true), host_{kCpu, {data, bytes, 0}, true, {}} {}
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  ~Buffer() {
    if (!in_block_ || travelled_) end();
  }

  std::int64_t bytes() const { return bytes_; }
  /// Only so many bytes count from now on, of memory that was taken before their number was known.
  void shrink(std::int64_t bytes) { bytes_ = bytes; }
  /// Where it was written last; where the outside sees it, when the outside does.
  Device home() const { return home_; }
  bool foreign() const { return foreign_; }
  bool readonly() const { return readonly_; }
  /// Nobody writes it, nor counts it as memory that is in use: a file that is mapped to be read.
  bool immutable() const { return immutable_; }
  /// The outside can write it at any time (R5): then only the replica at home counts.
  bool outside() const { return !immutable_ && (foreign_ || exports_ > 0); }
  /// It cannot outlive its Value.
  bool in_block() const { return in_block_; }
  /// Nobody but its Value knows of it, nor ever did: it can go without the engine's lock.
  bool unknown() const { return !travelled_ && !owner_; }
  bool valid_on(Device d) const {
    if (d.is_cpu()) return host_.valid;
    const Replica* r = find(d);
    return r && r->valid;
  }

  /// The bytes on the host when they are there, and nobody else's copy of them counts; else null.
  const char* host_bytes() const {
    return host_.valid && (home_.is_cpu() || !outside()) ? static_cast<const char*>(host_.storage.data) : nullptr;
  }
  /// The bytes on `d`, copied there when they are not yet.
  const char* read(Device d);
  /// The same for writing: the other replicas are out of date from now on. At home only, while the outside sees it.
  char* write(Device d);
  /// The bytes on the host for writing when there are no others; else null.
  char* only_bytes() const { return travelled_ ? nullptr : static_cast<char*>(host_.storage.data); }
  /// The address of a replica that is valid.
  char* address(Device d) const { return static_cast<char*>((d.is_cpu() ? host_ : *find(d)).storage.data); }
  /// The bytes become visible to the outside on `d`, until end_export(). Throws BufferError when they are visible
  /// elsewhere.
  char* begin_export(Device d);
  void end_export() { --exports_; }

  /// Seconds that operations on the host have taken because these bytes were not on a GPU.
  double waited = 0;

 private:
  struct Replica {
    Device device{};
    Storage storage{};
    bool valid = false;
    std::list<Buffer*>::iterator place{};  // in the device's list of replicas, least recently used first
  };
  friend std::int64_t make_room(Device d, std::int64_t bytes);
  const Replica* find(Device d) const {
    for (const Replica& r : devices_)
      if (r.device == d) return &r;
    return nullptr;
  }
  Replica& replica(Device d);  // allocated, perhaps not valid
  void touch(Replica& r);
  void drop(Device d) noexcept;
  void end() noexcept;
  void release(Replica& r) noexcept;

  std::int64_t bytes_;
  Device home_;
  bool foreign_ = false, readonly_ = false, immutable_ = false;
  bool in_block_ = false;
  bool travelled_ = false;  // was ever on a device, whose list of residents others walk through
  int exports_ = 0;
  std::uint64_t used_ = 0;  // the step that used it last
  Replica host_;
  std::vector<Replica> devices_;
  std::function<void()> owner_;
};

/// Destroys a Buffer, and gives its memory back when that is its own.
struct EndBuffer {
  EndBuffer() = default;
  EndBuffer(std::default_delete<Buffer>) {}
  void operator()(Buffer* b) const noexcept {
    if (b->in_block())
      b->~Buffer();
    else
      delete b;
  }
};
using BufferPtr = std::unique_ptr<Buffer, EndBuffer>;

/// What is made, read or written from here on stays where it is until the next step begins: a device's memory is then
/// made free by giving up other replicas.
void begin_step();

/// Memory on a device, for which replicas there are given up where need be: first those that are valid elsewhere, then
/// others after a copy to the host, the least recently used first. Throws MemoryError.
Storage allocate_on(Device d, std::int64_t bytes);

/// Copies bytes from one device to another, or within one, and counts it.
void copy_bytes(Device to_device, void* to, Device from_device, const void* from, std::int64_t bytes);

}  // namespace galop::graph
