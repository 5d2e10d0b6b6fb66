// The article's three programs as the benchmark runs them: prepared once, run several times.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "galop/device.hpp"

namespace galop::cli {

class Program {
 public:
  virtual ~Program() = default;

  std::string name;               // as the user selects it: "add", "matmul", "polar"
  std::string title;              // as the table shows it
  std::int64_t size = 0;          // elements, or the side of the matrices
  double bytes = 0;               // the fewest that one run moves between memory and cores
  double operations = 0;          // multiplications and additions, for a product; else 0
  double tolerance = 0;           // greatest relative difference from NumPy's values
  std::int64_t memory = 0;        // bytes that galop holds at most
  std::int64_t numpy_memory = 0;  // bytes that NumPy holds at most

  /// Makes the operands; not timed.
  virtual void prepare() = 0;
  /// One timed run, evaluated to the end.
  virtual void run() = 0;
  /// Lets go of the results, so that the next run starts from the same state; not timed.
  virtual void forget() {}
  /// Where the result of the last run is.
  virtual Device device() const = 0;
  /// A few elements of the result of `runs` runs, to compare with NumPy's.
  virtual std::vector<double> values() = 0;
};

/// The names in the article's order.
inline constexpr std::string_view kPrograms[] = {"add", "matmul", "polar"};

/// One of kPrograms at `scale` times the article's elements (the matrices' side follows the cube root, so that work
/// scales).
std::unique_ptr<Program> make_program(std::string_view name, double scale);

}  // namespace galop::cli
