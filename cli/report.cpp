// One table: a row for galop, with the share of the machine's limit, and one below for each library beside it.
#include "report.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <nlohmann/json.hpp>

namespace galop::cli {

double Times::best() const { return *std::min_element(warm.begin(), warm.end()); }

double Times::median() const {
  std::vector<double> sorted = warm;
  std::sort(sorted.begin(), sorted.end());
  const std::size_t half = sorted.size() / 2;
  return sorted.size() % 2 == 1 ? sorted[half] : (sorted[half - 1] + sorted[half]) / 2;
}

namespace {

std::string duration(double seconds) {
  if (seconds >= 10) return fmt::format("{:.1f} s", seconds);
  if (seconds >= 1) return fmt::format("{:.2f} s", seconds);
  if (seconds >= 1e-3) return fmt::format("{:.3g} ms", seconds * 1e3);
  return fmt::format("{:.3g} us", seconds * 1e6);
}

// Work done for each second, and which share of the device's limit that is.
struct Rate {
  double amount;
  std::optional<double> share;  // absent where the arrays fit the caches, since memory is no limit to them
  const char* unit;
};

constexpr double kGpuCache = 128 << 20;  // bytes: no GPU has a larger one yet

Rate rate_of(const Result& r, const Limits& limits) {
  const Program& program = *r.program;
  const double seconds = r.galop.median();
  const bool gpu = r.device.kind == DeviceKind::cuda;
  if (program.operations > 0) {
    Rate rate{program.operations / seconds * 1e-9, std::nullopt, "GFLOP/s"};
    if (!gpu && limits.flops > 0) rate.share = program.operations / seconds / limits.flops;
    return rate;
  }
  Rate rate{program.bytes / seconds * 1e-9, std::nullopt, "GB/s"};
  const double limit = gpu ? limits.gpu_bytes_per_second : limits.bytes_per_second;
  const double cache = gpu ? kGpuCache : limits.cache;
  if (limit > 0 && program.bytes > 2 * cache) rate.share = program.bytes / seconds / limit;
  return rate;
}

nlohmann::ordered_json to_json(const Times& t) {
  return {{"cold", t.cold}, {"median", t.median()}, {"best", t.best()}, {"warm", t.warm}};
}

std::string numbers(double difference, bool within) {
  if (difference == 0) return "equal";
  return fmt::format("{} {:.0e}", within ? "within" : "DIFFER by", difference);
}

// "PyTorch: it sees no GPU.", one line for each library that is missing or failed.
std::string problem_of(const PeerResult& p) { return fmt::format("{}: {}.", p.peer.title, p.problem); }

}  // namespace

void print_json(const Report& report) {
  nlohmann::ordered_json out;
  out["version"] = GALOP_VERSION;
  out["machine"] = {{"processor", report.machine.processor},
                    {"kernels", report.machine.kernels},
                    {"threads", report.machine.threads},
                    {"gpu", report.gpu}};
  out["scale"] = report.options.scale;
  out["runs"] = report.options.runs;
  out["limits"]["copy_bytes_per_second"] = report.limits.bytes_per_second;
  if (report.limits.gpu_bytes_per_second > 0)
    out["limits"]["gpu_copy_bytes_per_second"] = report.limits.gpu_bytes_per_second;
  if (report.limits.flops > 0) out["limits"]["float32_flops"] = report.limits.flops;
  out["peers"] = nlohmann::ordered_json::object();
  for (const PeerResult& p : report.peers)
    out["peers"][std::string(p.peer.name)] = {{"version", p.version},
                                              {"python", p.python},
                                              {"device", p.device},
                                              {"blas_threads", report.machine.threads},
                                              {"problem", p.problem}};
  for (const Result& r : report.results) {
    const Rate rate = rate_of(r, report.limits);
    nlohmann::ordered_json row = {{"name", r.program->name},
                                  {"size", r.program->size},
                                  {"device", to_string(r.device)},
                                  {"seconds", to_json(r.galop)},
                                  {"bytes", r.program->bytes}};
    if (r.program->operations > 0) row["operations"] = r.program->operations;
    row["rate"] = {{"value", rate.amount}, {"unit", rate.unit}, {"share_of_limit", nullptr}};
    if (rate.share) row["rate"]["share_of_limit"] = *rate.share;
    row["values"] = r.values;
    row["agrees"] = r.agrees();
    row["peers"] = nlohmann::ordered_json::object();
    for (const auto& [name, peer] : r.peers)
      row["peers"][name] = {{"seconds", to_json(peer.times)},
                            {"speedup", peer.times.median() / r.galop.median()},
                            {"difference", peer.difference}};
    out["programs"].push_back(std::move(row));
  }
  fmt::print("{}\n", out.dump(2));
}

void print_table(const Report& report) {
  const Limits& limits = report.limits;
  const cpu::Machine& machine = report.machine;
  fmt::print("galop {} on {}: {} thread{}, {} kernels; copying {:.1f} GB/s", GALOP_VERSION, machine.processor,
             machine.threads, machine.threads == 1 ? "" : "s", machine.kernels, limits.bytes_per_second * 1e-9);
  if (limits.flops > 0) fmt::print(", float32 {:.0f} GFLOP/s", limits.flops * 1e-9);
  fmt::print("\n");
  if (!report.gpu.empty()) fmt::print("{}: copying {:.0f} GB/s\n", report.gpu, limits.gpu_bytes_per_second * 1e-9);
  for (const PeerResult& p : report.peers) {
    if (p.version.empty()) continue;
    fmt::print("{} {}: {}; {}\n", p.peer.title, p.version,
               p.device != "cpu"        ? "on the GPU"
               : p.peer.name == "numpy" ? fmt::format("one thread, {} for its BLAS", machine.threads)
                                        : fmt::format("{} threads", machine.threads),
               p.python);
  }
  fmt::print("{} of the article's size, {} run{} each\n\n", report.options.scale, report.options.runs,
             report.options.runs == 1 ? "" : "s");
  fmt::print("{:<20}{:>11}{:>9}{:>10}{:>10}{:>10}{:>16}{:>8}{:>11}  {}\n", "program", "size", "device", "first",
             "median", "best", "rate", "limit", "galop is", "numbers");
  for (const Result& r : report.results) {
    const Rate rate = rate_of(r, limits);
    const std::string size =
        r.program->operations > 0 ? fmt::format("{0} x {0}", r.program->size) : fmt::format("{}", r.program->size);
    fmt::print("{:<20}{:>11}{:>9}{:>10}{:>10}{:>10}{:>16}{:>8}\n", r.program->title, size, to_string(r.device),
               duration(r.galop.cold), duration(r.galop.median()), duration(r.galop.best()),
               fmt::format("{:.1f} {}", rate.amount, rate.unit),
               rate.share ? fmt::format("{:.0f} %", *rate.share * 100) : "-");
    for (const PeerResult& p : report.peers) {
      const auto found = r.peers.find(std::string(p.peer.name));
      if (found == r.peers.end()) continue;
      const Times& t = found->second.times;
      const bool within = p.peer.name != "numpy" || found->second.difference <= r.program->tolerance;
      fmt::print("{:<20}{:>11}{:>9}{:>10}{:>10}{:>10}{:>16}{:>8}{:>11}  {}\n", fmt::format("  {}", p.peer.title), "",
                 p.device, duration(t.cold), duration(t.median()), duration(t.best()), "", "",
                 fmt::format("{:.2f} x", t.median() / r.galop.median()), numbers(found->second.difference, within));
    }
  }
  bool first = true;
  for (const PeerResult& p : report.peers) {
    if (p.problem.empty()) continue;
    fmt::print("{}{}\n", first ? "\n" : "", problem_of(p));
    first = false;
  }
}

}  // namespace galop::cli
