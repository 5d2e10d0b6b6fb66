// The three programs in C++, and below them the same in Python for NumPy.
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

const char* const kNumpyScript = R"python(
import json
import sys
import time

import numpy as np


def say(**fields):
    print(json.dumps(fields), flush=True)


class Add:
    def __init__(self, n):
        self.n, self.a = n, np.ones(n)

    def run(self):
        self.a += 1

    def values(self):
        return [self.a[0], self.a[self.n // 2], self.a[-1]]


class Matmul:
    def __init__(self, n):
        np.random.seed(0)
        self.A = np.random.uniform(1, 100, (n, n)).astype(np.float32)
        self.B = np.random.uniform(1, 100, (n, n)).astype(np.float32)

    def run(self):
        self.C = self.A @ self.B

    def values(self):
        return list(self.C[0, :4])


class Polar:
    def __init__(self, n):
        self.n = n

    def run(self):
        theta = np.linspace(0, 2 * np.pi, self.n)
        r = 1 + 0.75 * np.sin(3 * theta)
        self.x = r * np.cos(theta)
        self.y = r * np.sin(theta)

    def values(self):
        i = self.n // 7
        return [self.x[0], self.x[i], self.y[i], self.x[-1]]


say(numpy=np.__version__)
for argument in sys.argv[2:]:
    name, size = argument.split("=")
    program = {"add": Add, "matmul": Matmul, "polar": Polar}[name](int(size))
    for _ in range(int(sys.argv[1])):
        for result in ("C", "x", "y"):
            program.__dict__.pop(result, None)
        start = time.perf_counter()
        program.run()
        say(program=name, seconds=time.perf_counter() - start)
    say(program=name, values=[float(v) for v in program.values()])
    del program
)python";

}  // namespace galop::cli
