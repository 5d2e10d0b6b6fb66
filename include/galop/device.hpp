// Where arrays lie and operations run: the host's processors, or an NVIDIA GPU. Placement never changes a result beyond
// the bound of its operation.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace galop {

enum class DeviceKind : std::uint8_t { automatic, cpu, cuda };

/// A place for arrays. The ordinal counts GPUs as the driver lists them.
struct Device {
  DeviceKind kind = DeviceKind::automatic;
  std::int16_t ordinal = 0;

  bool automatic() const { return kind == DeviceKind::automatic; }
  bool is_cpu() const { return kind == DeviceKind::cpu; }
  bool operator==(const Device&) const = default;
};
inline constexpr Device kCpu{DeviceKind::cpu, 0};

/// "cpu", "cuda", "cuda:1", "gpu" (the same as "cuda"), "auto" or "". Throws ValueError for another text; whether the
/// GPU exists is not asked.
Device parse_device(std::string_view text);
/// "cpu", "cuda:0" …, "auto".
std::string to_string(Device d);

/// Where new arrays and operations on them go when neither an operand nor a scope says it: GALOP_DEVICE at first, else
/// automatic, by size and cost. Throws DeviceError when there is no such device.
Device default_device();
void set_default_device(Device d);

/// Within it, everything that this thread creates or computes goes to one device. Throws DeviceError when there is no
/// such device. An automatic device changes nothing.
class device_scope {
 public:
  explicit device_scope(Device d);
  ~device_scope();
  device_scope(const device_scope&) = delete;
  device_scope& operator=(const device_scope&) = delete;

 private:
  Device before_;
};

/// Throws DeviceError with the reason and its remedy when the device cannot be used.
void require_device(Device d);

/// Waits for all that was started on the device; throws DeviceError for what failed there.
void synchronize(Device d = {DeviceKind::cuda, 0});

struct DeviceMemory {
  std::int64_t total = 0;   // bytes of the device
  std::int64_t free = 0;    // that the driver could still give
  std::int64_t in_use = 0;  // by arrays
  std::int64_t cached = 0;  // kept by Galop for later arrays
  std::int64_t limit = 0;   // that Galop may take; 0: all
};

/// Copies between host and devices since the start.
struct Transfers {
  std::int64_t to_device = 0, to_host = 0, between_devices = 0;                    // how many
  std::int64_t bytes_to_device = 0, bytes_to_host = 0, bytes_between_devices = 0;  // how much
};
Transfers transfers();

namespace cuda {

struct DeviceProperties {
  std::string name;
  int major = 0, minor = 0;  // compute capability
  std::int64_t memory = 0;   // bytes
};

/// At least one GPU can be used.
bool is_available();
/// GPUs that can be used.
int device_count();
/// Why none can be used, and what mends it; empty when one can.
std::string why_not();
DeviceProperties properties(int ordinal = 0);
DeviceMemory memory_info(int ordinal = 0);
/// Gives memory that no array uses back to the driver.
void empty_cache();
/// The most bytes that Galop takes on the device, 0: all there is. Arrays in use stay.
void set_memory_limit(std::int64_t bytes, int ordinal = 0);

}  // namespace cuda
}  // namespace galop
