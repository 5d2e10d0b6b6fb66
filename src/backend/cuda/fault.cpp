// Counters that run down to the call that fails.
#include "backend/cuda/fault.hpp"

#include <array>
#include <atomic>
#include <cstdlib>
#include <string_view>

namespace galop::cuda {
namespace {

constexpr std::array<std::string_view, 2> kNames = {"allocate", "launch"};

struct Counters {
  std::array<std::atomic<long>, kNames.size()> left{};

  Counters() {
    const char* text = std::getenv("GALOP_CUDA_FAULT");
    for (std::string_view rest = text ? text : ""; !rest.empty();) {
      const std::string_view one = rest.substr(0, rest.find(','));
      rest.remove_prefix(one.size() + (one.size() < rest.size()));
      const std::size_t colon = one.find(':');
      for (std::size_t k = 0; colon != std::string_view::npos && k < kNames.size(); ++k)
        if (one.substr(0, colon) == kNames[k]) left[k] = std::strtol(one.data() + colon + 1, nullptr, 10);
    }
  }
};

Counters& counters() {
  static Counters c;
  return c;
}

}  // namespace

void inject(Fault kind, long n) { counters().left[static_cast<std::size_t>(kind)] = n; }

bool is_injected(Fault kind) {
  std::atomic<long>& left = counters().left[static_cast<std::size_t>(kind)];
  return left.load(std::memory_order_relaxed) > 0 && left.fetch_sub(1, std::memory_order_relaxed) == 1;
}

}  // namespace galop::cuda

extern "C" int galop_cuda_inject(const char* kind, long n) {
  for (std::size_t k = 0; k < galop::cuda::kNames.size(); ++k) {
    if (kind == nullptr || galop::cuda::kNames[k] != kind) continue;
    galop::cuda::inject(static_cast<galop::cuda::Fault>(k), n);
    return 0;
  }
  return -1;
}
