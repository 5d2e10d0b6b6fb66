// Devices by name.
#include "galop/device.hpp"

#include <charconv>

#include "galop/error.hpp"

namespace galop {

Device parse_device(std::string_view text) {
  const auto bad = [&] {
    return ValueError("[device] a device is \"cpu\", \"cuda\", \"cuda:1\" … or \"auto\"; got \"" + std::string(text) +
                      '"');
  };
  if (text.empty() || text == "auto") return {};
  if (text == "cpu") return kCpu;
  std::string_view rest = text;
  if (rest.starts_with("cuda"))
    rest.remove_prefix(4);
  else if (rest.starts_with("gpu"))
    rest.remove_prefix(3);
  else
    throw bad();
  if (rest.empty()) return {DeviceKind::cuda, 0};
  std::int16_t ordinal = -1;
  const auto [end, error] = std::from_chars(rest.data() + 1, rest.data() + rest.size(), ordinal);
  if (rest[0] != ':' || error != std::errc() || end != rest.data() + rest.size() || ordinal < 0) throw bad();
  return {DeviceKind::cuda, ordinal};
}

std::string to_string(Device d) {
  if (d.automatic()) return "auto";
  return d.is_cpu() ? "cpu" : "cuda:" + std::to_string(d.ordinal);
}

}  // namespace galop
