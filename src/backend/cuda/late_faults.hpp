// Floating-point flags of the kernels that are on their way: where each one puts them, and whose they are.
#pragma once

#include <cstdint>
#include <mutex>
#include <vector>

#include "backend/backend.hpp"
#include "backend/cuda/context.hpp"
#include "backend/cuda/lower.hpp"

namespace galop::cuda {

/// A launch that is watched takes words on the device, in which its threads collect flags, and 32 bytes a word on the
/// host, one a bit, which is set by the thread that sets the bit first. So a kernel where nothing happens touches
/// neither, and nothing needs to be copied: who has waited for the stream reads the bytes. Thread-safe.
class LateFaults {
 public:
  explicit LateFaults(Context& context) : context_(context) {}
  ~LateFaults();
  LateFaults(const LateFaults&) = delete;
  LateFaults& operator=(const LateFaults&) = delete;

  struct Place {
    std::uint64_t device, host;
  };
  /// For one launch, which follows at once. Waits for the stream when all words are taken.
  Place take(const std::vector<faults::Fault>& watched);
  Place take(const Plan& plan, const Lowered& l);

  /// Launches so far; the stream was waited for up to there.
  std::uint64_t launches() const;
  void settle(std::uint64_t launches);
  /// What launches that are settled have raised since it was last asked for.
  std::vector<faults::Fault> heard();

 private:
  void allocate();
  void settle_locked(std::uint64_t launches);

  Context& context_;
  mutable std::mutex mutex_;
  CUdeviceptr words_ = 0;
  std::uint8_t* bytes_ = nullptr;
  int next_ = 0;  // word
  struct Launch {
    int word;
    std::vector<faults::Fault> watched;  // without flags yet
  };
  std::vector<Launch> under_way_;
  std::uint64_t settled_ = 0;
  std::vector<faults::Fault> heard_;
};

}  // namespace galop::cuda
