// The stand-in device itself: what it computes, what it refuses, and the failures that can be ordered from it.
#include <dlfcn.h>
#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <stdexcept>
#include <vector>

#include "backend/backend.hpp"
#include "galop/error.hpp"

namespace galop {
namespace {

struct Library {
  void* handle = dlopen(GALOP_STAND_IN, RTLD_NOW | RTLD_LOCAL);
  template <class F>
  F find(const char* name) const {
    return reinterpret_cast<F>(handle ? dlsym(handle, name) : nullptr);
  }
};
const Library& library() {
  static const Library l;
  return l;
}
int inject(const char* kind, long n) {
  return library().find<int (*)(const char*, long)>("galop_stand_in_inject")(kind, n);
}

// Each test has devices of its own: one that fails must not fail for the others.
DeviceBackend& open(int ordinal) {
  const auto entry = library().find<DevicePluginEntry>("galop_device_plugin");
  static auto* kept = new std::vector<DeviceBackend*>;  // until the process ends, as the core keeps them
  kept->push_back(entry()->open(ordinal));
  return *kept->back();
}

Plan add_one(const void* in, void* out, std::int64_t n) {
  Plan p;
  p.shape = {n};
  Operand x{.kind = Operand::Kind::memory, .dtype = DType::float64, .data = in, .strides = {8}};
  Operand one{.kind = Operand::Kind::constant, .dtype = DType::float64, .strides = {0}};
  const double v = 1;
  std::memcpy(one.bits, &v, 8);
  p.operands = {x, one};
  p.tape = {{.op = Op::add, .loop = DType::float64, .in = {0, 1, 0}, .out = {2, 0}}};
  p.registers = {DType::float64, DType::float64, DType::float64};
  p.outputs = {{.reg = 2, .dtype = DType::float64, .data = out, .strides = {8}, .fresh = true, .ordered = false}};
  return p;
}

TEST(StandIn, ComputesInItsOwnMemory) {
  ASSERT_NE(library().handle, nullptr) << dlerror();
  DeviceBackend& d = open(1);
  EXPECT_EQ(to_string(d.device()), "cuda:1");
  std::array<double, 3> host{1, 2, 3};
  const Storage a = d.allocate(24), b = d.allocate(24);
  d.upload(a.data, host.data(), 24);
  d.run(add_one(a.data, b.data, 3));
  d.download(host.data(), b.data, 24);
  EXPECT_EQ(host, (std::array<double, 3>{2, 3, 4}));
  EXPECT_EQ(d.memory().in_use, 1024);
  d.release(a);
  d.release(b);
  EXPECT_EQ(d.memory().in_use, 0);
  EXPECT_EQ(d.memory().cached, 1024);
  d.trim();
  EXPECT_EQ(d.memory().cached, 0);
}

TEST(StandIn, MemoryThatNobodyWroteShows) {
  DeviceBackend& d = open(0);
  const Storage s = d.allocate(8);
  std::uint64_t seen = 0;
  d.download(&seen, s.data, 8);
  EXPECT_EQ(seen, 0xDBDBDBDBDBDBDBDBu);
  d.release(s);
}

TEST(StandIn, RefusesAddressesThatAreNotItsOwn) {
  DeviceBackend &d = open(0), &other = open(1);
  const Storage a = d.allocate(24), b = other.allocate(24);
  std::vector<double> host(4);
  EXPECT_THROW(d.run(add_one(host.data(), a.data, 3)), std::logic_error);
  EXPECT_THROW(d.run(add_one(a.data, b.data, 3)), std::logic_error);
  EXPECT_THROW(d.run(add_one(a.data, a.data, 4)), std::logic_error);
  EXPECT_THROW(d.upload(a.data, b.data, 24), std::logic_error);
  EXPECT_THROW(d.download(a.data, a.data, 24), std::logic_error);
  EXPECT_THROW(d.upload(a.data, host.data(), 32), std::logic_error);
  d.release(a);
  EXPECT_THROW(d.download(host.data(), a.data, 24), std::logic_error);
  other.release(b);
}

TEST(StandIn, LimitsItsMemory) {
  DeviceBackend& d = open(0);
  d.set_limit(1 << 20);
  EXPECT_THROW(d.allocate((1 << 20) + 1), MemoryError);
  d.release(d.allocate(1 << 20));
}

TEST(StandIn, FailsWhenOrdered) {
  DeviceBackend& d = open(0);
  ASSERT_EQ(inject("allocate", 2), 1);
  const Storage a = d.allocate(24);
  EXPECT_THROW(d.allocate(24), MemoryError);
  d.release(d.allocate(24));

  std::array<double, 3> host{1, 2, 3};
  d.upload(a.data, host.data(), 24);
  inject("launch", 1);
  EXPECT_THROW(d.run(add_one(a.data, a.data, 3)), DeviceError);
  EXPECT_TRUE(d.alive());
  d.run(add_one(a.data, a.data, 3));

  inject("late", 1);
  d.run(add_one(a.data, a.data, 3));
  EXPECT_TRUE(d.alive());
  EXPECT_THROW(d.download(host.data(), a.data, 24), DeviceError);
  EXPECT_FALSE(d.alive());
  d.release(a);

  DeviceBackend& next = open(0);
  inject("dead", 2);
  const Storage b = next.allocate(8);
  EXPECT_THROW(next.synchronize(), DeviceError);
  EXPECT_FALSE(next.alive());
  EXPECT_THROW(next.allocate(8), DeviceError);
  next.release(b);
  EXPECT_EQ(inject("nothing", 1), 0);
}

}  // namespace
}  // namespace galop
