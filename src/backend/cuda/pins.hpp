// Regions of Galop's own host memory that the driver has pinned, so that copies run at the bus's speed.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>

#include "backend/cuda/context.hpp"

namespace galop::cuda {

/// One table for all devices. A region is pinned when so much of it has been copied that pinning pays, until it is
/// unmapped, or others need the room: a quarter of the machine's memory. Thread-safe.
class Pins {
 public:
  static Pins& instance();

  /// Whether [p, p + bytes) lies in a pinned region, which then stays so while the object lives.
  class [[nodiscard]] Hold {
   public:
    Hold(Pins& pins, const Context& context, const void* p, std::int64_t bytes)
        : pins_(pins), base_(pins.hold(context, p, bytes)) {}
    ~Hold() {
      if (base_) pins_.let_go(base_);
    }
    Hold(const Hold&) = delete;
    Hold& operator=(const Hold&) = delete;
    explicit operator bool() const { return base_ != nullptr; }

   private:
    Pins& pins_;
    char* const base_;
  };

  /// Unpins what a context has pinned, before the context goes.
  void forget(const Context& context) noexcept;
  std::int64_t bytes() const;

 private:
  struct Region {
    std::int64_t bytes = 0;
    std::int64_t copied = 0;      // before it was pinned
    const Context* by = nullptr;  // pinned; null: not
    bool refused = false;         // the driver would not
    int users = 0;
    std::uint64_t used = 0;
  };

  Pins();
  char* hold(const Context& context, const void* p, std::int64_t bytes);
  void let_go(char* base) noexcept;
  static void gone(char* base, std::int64_t bytes) noexcept;
  void unpin(char* base, Region& r) noexcept;
  bool make_room(std::int64_t bytes) noexcept;

  const std::int64_t cap_;
  mutable std::mutex mutex_;
  std::map<char*, Region> regions_;
  std::int64_t pinned_ = 0;
  std::uint64_t clock_ = 0;
};

}  // namespace galop::cuda
