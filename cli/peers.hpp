// NumPy, PyTorch, CuPy and JAX, each in a process of its own, for comparison.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace galop::cli {

struct Peer {
  std::string_view name;  // as the user selects it, and Python imports it
  std::string_view title;
};
inline constexpr Peer kPeers[] = {{"numpy", "NumPy"}, {"torch", "PyTorch"}, {"cupy", "CuPy"}, {"jax", "JAX"}};

struct PeerRuns {
  std::vector<double> seconds;  // one for each run, the first one cold
  std::vector<double> values;
};

struct PeerResult {
  Peer peer{};
  std::string python;                        // the interpreter used, or ""
  std::string version;                       // the library's
  std::string device;                        // where it ran: "cpu" or "cuda"
  std::string problem;                       // why there are no results, or ""
  std::map<std::string, PeerRuns> programs;  // by name
};

/// The first Python that has the module: `wanted` alone if it is not empty, else the one beside this program, that of
/// $VIRTUAL_ENV, then python3 on the path. "" when there is none.
std::string find_python_with(std::string_view module, const std::string& wanted);

/// The article's three programs for each peer, as a Python script: arguments are the peer, "cpu" or "cuda", the runs,
/// and `name=size` for each program. It prints JSON lines: `{"version": …, "device": …}` or `{"problem": …}`, then
/// `{"program": …, "seconds": …}` for each run, evaluated and waited for, and `{"program": …, "values": […]}`.
extern const char* const kPeerScript;

/// Runs the script with `threads` threads for the peer's BLAS. `on_run` is called after each run.
PeerResult run_peer(const Peer& peer, const std::string& python, const std::string& device, int runs, int threads,
                    const std::vector<std::string>& sizes,
                    const std::function<void(const std::string& program)>& on_run);

}  // namespace galop::cli
