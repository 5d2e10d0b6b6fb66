// The three programs in C++; peer_script.cpp has the same in Python.
#include "article.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <optional>

#include "galop/galop.hpp"

namespace gp = galop;

namespace galop::cli {
namespace {

class AddOne : public Program {
 public:
  explicit AddOne(double scale) {
    name = "add";
    title = "a += 1";
    size = std::max<std::int64_t>(std::llround(3e8 * scale), 1);
    bytes = 16.0 * static_cast<double>(size);
    memory = numpy_memory = 8 * size;
  }
  void prepare() override {
    a = gp::ones({size});
    gp::eval(a);
  }
  void run() override {
    a += 1;
    gp::eval(a);
  }
  gp::Device device() const override { return a.device(); }
  std::vector<double> values() override {
    return {a(0).item<double>(), a(size / 2).item<double>(), a(-1).item<double>()};
  }

 private:
  gp::array a;
};

class Matmul : public Program {
 public:
  explicit Matmul(double scale) {
    name = "matmul";
    title = "A @ B";
    size = std::max<std::int64_t>(std::llround(1e4 * std::cbrt(scale)), 1);
    const auto n = static_cast<double>(size);
    bytes = 12 * n * n;
    operations = 2 * n * n * n;
    tolerance = 1e-5;
    memory = numpy_memory = (8 + 4 + 4 + 4) * size * size;
  }
  void prepare() override {
    gp::random::seed(0);
    A = gp::random::uniform(1, 100, {size, size}).astype(gp::DType::float32);
    gp::eval(A);
    B = gp::random::uniform(1, 100, {size, size}).astype(gp::DType::float32);
    gp::eval(B);
  }
  void run() override {
    C = gp::matmul(A, B);
    gp::eval(C);
  }
  void forget() override { C = gp::array(); }
  gp::Device device() const override { return C.device(); }
  std::vector<double> values() override {
    std::vector<double> first;
    for (std::int64_t j = 0; j < std::min<std::int64_t>(size, 4); ++j) first.push_back(C(0, j).item<double>());
    return first;
  }

 private:
  gp::array A, B, C;
};

class Polar : public Program {
 public:
  explicit Polar(double scale) {
    name = "polar";
    title = "r = 1 + 3/4 sin 3t";
    size = std::max<std::int64_t>(std::llround(1e8 * scale), 1);
    bytes = 16.0 * static_cast<double>(size);
    tolerance = 1e-14;
    memory = 2 * 8 * size;
    numpy_memory = 5 * 8 * size;
  }
  void prepare() override {}
  void run() override {
    gp::array theta = gp::linspace(0, 2 * std::numbers::pi, size);
    gp::array r = 1 + 0.75 * gp::sin(3 * theta);
    x = r * gp::cos(theta);
    y = r * gp::sin(theta);
    const gp::array curve[] = {x, y};
    gp::eval(curve);
  }
  void forget() override { x = y = gp::array(); }
  gp::Device device() const override { return x.device(); }
  std::vector<double> values() override {
    const std::int64_t i = size / 7;
    return {x(0).item<double>(), x(i).item<double>(), y(i).item<double>(), x(-1).item<double>()};
  }

 private:
  gp::array x, y;
};

}  // namespace

std::unique_ptr<Program> make_program(std::string_view name, double scale) {
  if (name == "add") return std::make_unique<AddOne>(scale);
  if (name == "matmul") return std::make_unique<Matmul>(scale);
  return std::make_unique<Polar>(scale);
}

}  // namespace galop::cli
