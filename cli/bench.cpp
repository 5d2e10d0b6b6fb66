// galop first, then each library in its own process once galop's memory is given back, then the machine's limits.
#include "bench.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <cmath>

#include "article.hpp"
#include "backend/backend.hpp"
#include "backend/cpu/measure.hpp"
#include "backend/cpu/memory.hpp"
#include "galop/error.hpp"
#include "progress.hpp"
#include "report.hpp"

namespace galop::cli {
namespace {

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

Times split(const std::vector<double>& seconds) {
  return {seconds.front(), {seconds.begin() + (seconds.size() > 1 ? 1 : 0), seconds.end()}};
}

double greatest_difference(const std::vector<double>& got, const std::vector<double>& want) {
  if (got.size() != want.size()) return INFINITY;
  double greatest = 0;
  for (std::size_t i = 0; i < got.size(); ++i) {
    if (got[i] == want[i]) continue;
    // Coordinates on the curve are of order 1, also where they cross zero.
    const double d = std::fabs(got[i] - want[i]) / std::max(std::fabs(want[i]), 1.0);
    greatest = std::isnan(d) ? INFINITY : std::max(greatest, d);
  }
  return greatest;
}

double gib(std::int64_t bytes) { return static_cast<double>(bytes) / (1 << 30); }

// The GPU that programs may run on, as far as anybody asked; automatic when there is none.
Device gpu_in_use(Device wanted) {
  if (wanted.is_cpu() || !cuda::is_available()) return {};
  return wanted.automatic() ? Device{DeviceKind::cuda, 0} : wanted;
}

void run_galop(Result& result, int runs, Device gpu, Progress& progress) {
  Program& program = *result.program;
  progress.say(fmt::format("galop: preparing {}", program.title));
  program.prepare();
  std::vector<double> seconds;
  for (int run = 0; run < runs; ++run) {
    program.forget();
    progress.say(fmt::format("galop: {}, run {} of {}", program.title, run + 1, runs));
    synchronize(gpu);
    const auto start = std::chrono::steady_clock::now();
    program.run();
    synchronize(gpu);
    seconds.push_back(seconds_since(start));
    progress.step();
  }
  result.galop = split(seconds);
  result.device = program.device();
  result.values = program.values();
}

// Bytes a second, read and written, of a copy within the GPU's memory.
double measure_gpu(Device gpu) {
  DeviceBackend& d = cuda_backend(gpu.ordinal);
  const std::int64_t bytes = std::min<std::int64_t>(std::int64_t{1} << 30, d.memory().free / 4) / 256 * 256;
  if (bytes <= 0) return 0;
  const Storage from = d.allocate(bytes), to = d.allocate(bytes);
  double best = INFINITY;
  for (int i = 0; i < 6; ++i) {
    d.synchronize();
    const auto start = std::chrono::steady_clock::now();
    d.copy(to.data, from.data, bytes);
    d.synchronize();
    if (i > 0) best = std::min(best, seconds_since(start));
  }
  d.release(from);
  d.release(to);
  return 2 * static_cast<double>(bytes) / best;
}

// The scale, to two digits, at which `memory` bytes at scale `scale` become `available`.
double fitting_scale(double scale, std::int64_t memory, std::int64_t available) {
  const double exact = scale * static_cast<double>(available) / static_cast<double>(memory);
  const double digit = std::pow(10, std::floor(std::log10(std::max(exact, 1e-9))) - 1);
  return std::floor(exact / digit) * digit;
}

PeerResult run_beside(const Peer& peer, Report& report, const std::string& device, Progress& progress) {
  const BenchOptions& options = report.options;
  PeerResult none;
  none.peer = peer;
  progress.say(fmt::format("looking for a Python with {}", peer.title));
  const std::string python = find_python_with(peer.name, options.python);
  if (python.empty()) {
    none.problem = options.python.empty() ? "no Python that has it was found to compare with; name one with --python"
                                          : "it cannot be imported by " + options.python;
    return none;
  }
  std::vector<std::string> sizes;
  std::string left_out;
  for (const Result& r : report.results) {
    const std::int64_t needed = peer.name == "numpy" || device == "cpu" ? r.program->numpy_memory : 0;
    if (needed <= cpu::available_memory() - cpu::available_memory() / 16) {
      sizes.push_back(fmt::format("{}={}", r.program->name, r.program->size));
    } else {
      left_out +=
          fmt::format("{}{} was left out, which needs {:.1f} GiB while {:.1f} GiB are available",
                      left_out.empty() ? "" : "; ", r.program->title, gib(needed), gib(cpu::available_memory()));
    }
  }
  progress.say(fmt::format("{}: starting", peer.title));
  PeerResult ran =
      run_peer(peer, python, device, options.runs, report.machine.threads, sizes, [&](const std::string& name) {
        progress.say(fmt::format("{}: {}", peer.title, name));
        progress.step();
      });
  if (ran.problem.empty()) ran.problem = left_out;
  for (Result& r : report.results) {
    const auto found = ran.programs.find(r.program->name);
    if (found == ran.programs.end() || found->second.values.empty()) continue;
    r.peers[std::string(peer.name)] = {split(found->second.seconds),
                                       greatest_difference(r.values, found->second.values)};
  }
  return ran;
}

std::vector<Peer> chosen_peers(const BenchOptions& options) {
  std::vector<Peer> chosen;
  for (const Peer& p : kPeers) {
    const bool named = std::find(options.against.begin(), options.against.end(), p.name) != options.against.end();
    if (named || (p.name == "numpy" && options.numpy)) chosen.push_back(p);
  }
  return chosen;
}

}  // namespace

int bench_article(const BenchOptions& options) {
  const Device wanted = parse_device(options.device);
  set_default_device(wanted);
  const Device gpu = gpu_in_use(wanted);
  Report report;
  report.options = options;
  for (const std::string_view name : kPrograms)
    if (options.only.empty() || std::find(options.only.begin(), options.only.end(), name) != options.only.end())
      report.results.push_back({make_program(name, options.scale), {}, {}, {}, {}});
  for (const Result& r : report.results) {
    const std::int64_t available = cpu::available_memory() - cpu::total_memory() / 32;
    if (!gpu.automatic() || r.program->memory <= available) continue;
    fmt::print(
        stderr,
        "galop: {} needs {:.1f} GiB of memory at scale {}, and this machine has {:.1f} GiB free; try --scale {:g}\n",
        r.program->title, gib(r.program->memory), options.scale, gib(std::max<std::int64_t>(available, 0)),
        fitting_scale(options.scale, r.program->memory, std::max<std::int64_t>(available, 1)));
    return 2;
  }

  report.machine = cpu::describe_machine();
  Limits& limits = report.limits;
  for (const auto& cache : report.machine.caches)
    limits.cache = std::max(limits.cache, static_cast<double>(cache.bytes));
  {
    const std::vector<Peer> peers = chosen_peers(options);
    Progress progress(static_cast<int>(report.results.size() * (1 + peers.size())) * options.runs);
    for (Result& r : report.results) {
      run_galop(r, options.runs, gpu, progress);
      // The operands and the memory go, so that each program starts from nothing.
      r.program = make_program(std::string(r.program->name), options.scale);
      cpu::trim();
      cuda::empty_cache();
    }
    for (const Peer& p : peers)
      report.peers.push_back(run_beside(p, report, gpu.automatic() ? "cpu" : "cuda", progress));
    progress.say("measuring the machine's limits");
    const std::int64_t array = std::clamp<std::int64_t>(cpu::available_memory() / 8, 1 << 24, 1 << 28);
    limits.bytes_per_second = cpu::measure_bandwidth(array).copy;
    auto used = [&](bool on_gpu, bool product) {
      return std::any_of(report.results.begin(), report.results.end(), [&](const Result& r) {
        return (r.device.kind == DeviceKind::cuda) == on_gpu && (!product || r.program->operations > 0);
      });
    };
    if (used(false, true)) limits.flops = cpu::measure_peak(DType::float32);
    if (used(true, false)) {
      report.gpu = cuda::properties(gpu.ordinal).name;
      limits.gpu_bytes_per_second = measure_gpu(gpu);
    }
  }
  options.json ? print_json(report) : print_table(report);
  return std::all_of(report.results.begin(), report.results.end(), [](const Result& r) { return r.agrees(); }) ? 0 : 1;
}

}  // namespace galop::cli
