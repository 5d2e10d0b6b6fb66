// `galop bench article`: the article's three programs, timed, beside NumPy and other libraries.
#pragma once

#include <string>
#include <vector>

namespace galop::cli {

struct BenchOptions {
  double scale = 1;
  int runs = 5;
  bool json = false;
  bool numpy = true;
  std::string device;                // "cpu", "cuda", "cuda:1"; empty: by size and cost
  std::vector<std::string> against;  // names of kPeers besides NumPy
  std::string python;                // empty: look for one
  std::vector<std::string> only;     // empty: all
};

/// Runs and prints; the exit status is 1 when a program's numbers differ from NumPy's, 2 when the machine has too
/// little memory.
int bench_article(const BenchOptions& options);

}  // namespace galop::cli
