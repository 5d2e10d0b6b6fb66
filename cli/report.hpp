// What `galop bench article` has measured, and the two ways to print it.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "article.hpp"
#include "backend/cpu/machine.hpp"
#include "bench.hpp"
#include "peers.hpp"

namespace galop::cli {

/// Seconds of one program's runs.
struct Times {
  double cold = 0;           // the first run
  std::vector<double> warm;  // all others; the first again when there is but one

  double best() const;
  double median() const;
};

/// A program under another library.
struct Compared {
  Times times;
  double difference = 0;  // greatest relative difference of the values
};

struct Result {
  std::unique_ptr<Program> program;
  Times galop;
  Device device{};  // where galop's result was
  std::vector<double> values;
  std::map<std::string, Compared> peers;  // by name

  /// NumPy is the judge; others may add and multiply in another precision.
  bool agrees() const {
    const auto numpy = peers.find("numpy");
    return numpy == peers.end() || numpy->second.difference <= program->tolerance;
  }
};

struct Limits {
  double bytes_per_second = 0;      // copying on the host
  double gpu_bytes_per_second = 0;  // copying on the GPU; 0 where none was used
  double flops = 0;                 // float32 on the host; 0 unless a product was run there
  double cache = 0;                 // bytes of the last level
};

struct Report {
  BenchOptions options;
  cpu::Machine machine;
  Limits limits;
  std::string gpu;  // name of the GPU that was used, or ""
  std::vector<Result> results;
  std::vector<PeerResult> peers;
};

void print_json(const Report& report);
void print_table(const Report& report);

}  // namespace galop::cli
