// NumPy in a process of its own, for comparison.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

namespace galop::cli {

struct NumpyRuns {
  std::vector<double> seconds;  // one for each run, the first one cold
  std::vector<double> values;
};

struct NumpyResult {
  std::string python;                         // the interpreter used, or ""
  std::string version;                        // NumPy's
  std::string problem;                        // why there are no results, or ""
  std::map<std::string, NumpyRuns> programs;  // by name
};

/// The first Python that can import NumPy: `wanted` alone if it is not empty, else the one beside this program, that of
/// $VIRTUAL_ENV, then python3 on the path. "" when there is none.
std::string find_python_with_numpy(const std::string& wanted);

/// Runs kNumpyScript with `python`, with `threads` threads for its BLAS; `sizes` are `name=size`. `on_run` is called
/// after each run.
NumpyResult run_numpy(const std::string& python, int runs, int threads, const std::vector<std::string>& sizes,
                      const std::function<void(const std::string& program)>& on_run);

}  // namespace galop::cli
