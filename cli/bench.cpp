// galop first, then NumPy in its own process once galop's memory is given back, then the limits of the machine.
#include "bench.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>

#include "article.hpp"
#include "backend/cpu/machine.hpp"
#include "backend/cpu/measure.hpp"
#include "backend/cpu/memory.hpp"
#include "numpy_peer.hpp"
#include "progress.hpp"

namespace galop::cli {
namespace {

struct Times {
  double cold = 0;           // the first run
  std::vector<double> warm;  // all others; the first again when there is but one

  double best() const { return *std::min_element(warm.begin(), warm.end()); }
  double median() const {
    std::vector<double> sorted = warm;
    std::sort(sorted.begin(), sorted.end());
    const std::size_t half = sorted.size() / 2;
    return sorted.size() % 2 == 1 ? sorted[half] : (sorted[half - 1] + sorted[half]) / 2;
  }
};

Times split(const std::vector<double>& seconds) {
  return {seconds.front(), {seconds.begin() + (seconds.size() > 1 ? 1 : 0), seconds.end()}};
}

struct Result {
  std::unique_ptr<Program> program;
  Times galop;
  std::vector<double> values;
  std::optional<Times> numpy;
  std::optional<double> difference;  // greatest relative difference of the values

  bool agrees() const { return !difference || *difference <= program->tolerance; }
};

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

std::string duration(double seconds) {
  if (seconds >= 10) return fmt::format("{:.1f} s", seconds);
  if (seconds >= 1) return fmt::format("{:.2f} s", seconds);
  if (seconds >= 1e-3) return fmt::format("{:.3g} ms", seconds * 1e3);
  return fmt::format("{:.3g} us", seconds * 1e6);
}

void run_galop(Result& result, int runs, Progress& progress) {
  Program& program = *result.program;
  progress.say(fmt::format("galop: preparing {}", program.title));
  program.prepare();
  std::vector<double> seconds;
  for (int run = 0; run < runs; ++run) {
    program.forget();
    progress.say(fmt::format("galop: {}, run {} of {}", program.title, run + 1, runs));
    const auto start = std::chrono::steady_clock::now();
    program.run();
    seconds.push_back(std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
    progress.step();
  }
  result.galop = split(seconds);
  result.values = program.values();
}

struct Limits {
  double bytes_per_second = 0;  // copying
  double flops = 0;             // float32; 0 unless a product was run
  double cache = 0;             // bytes of the last level
};

// Work done for each second, and which share of the machine's limit that is.
struct Rate {
  double amount;
  std::optional<double> share;  // absent where the arrays fit the caches, since memory is no limit to them
  const char* unit;
};

Rate rate_of(const Program& program, double seconds, const Limits& limits) {
  if (program.operations > 0)
    return {program.operations / seconds * 1e-9, program.operations / seconds / limits.flops, "GFLOP/s"};
  Rate rate{program.bytes / seconds * 1e-9, std::nullopt, "GB/s"};
  if (program.bytes > 2 * limits.cache) rate.share = program.bytes / seconds / limits.bytes_per_second;
  return rate;
}

nlohmann::ordered_json to_json(const Times& t) {
  return {{"cold", t.cold}, {"median", t.median()}, {"best", t.best()}, {"warm", t.warm}};
}

void print_json(const std::vector<Result>& results, const Limits& limits, const BenchOptions& options,
                const cpu::Machine& machine, const NumpyResult& numpy) {
  nlohmann::ordered_json out;
  out["version"] = GALOP_VERSION;
  out["machine"] = {{"processor", machine.processor}, {"kernels", machine.kernels}, {"threads", machine.threads}};
  out["scale"] = options.scale;
  out["runs"] = options.runs;
  out["limits"]["copy_bytes_per_second"] = limits.bytes_per_second;
  if (limits.flops > 0) out["limits"]["float32_flops"] = limits.flops;
  out["numpy"] = {{"version", numpy.version},
                  {"python", numpy.python},
                  {"blas_threads", machine.threads},
                  {"problem", numpy.problem}};
  for (const Result& r : results) {
    const Rate rate = rate_of(*r.program, r.galop.median(), limits);
    nlohmann::ordered_json row = {{"name", r.program->name}, {"size", r.program->size}, {"seconds", to_json(r.galop)}};
    row["bytes"] = r.program->bytes;
    if (r.program->operations > 0) row["operations"] = r.program->operations;
    row["rate"] = {{"value", rate.amount}, {"unit", rate.unit}, {"share_of_limit", nullptr}};
    if (rate.share) row["rate"]["share_of_limit"] = *rate.share;
    row["values"] = r.values;
    if (r.numpy) {
      row["numpy_seconds"] = to_json(*r.numpy);
      row["speedup"] = r.numpy->median() / r.galop.median();
    }
    if (r.difference) {
      row["difference"] = *r.difference;
      row["agrees"] = r.agrees();
    }
    out["programs"].push_back(std::move(row));
  }
  fmt::print("{}\n", out.dump(2));
}

void print_table(const std::vector<Result>& results, const Limits& limits, const BenchOptions& options,
                 const cpu::Machine& machine, const NumpyResult& numpy) {
  fmt::print("galop {} on {}: {} thread{}, {} kernels; copying {:.1f} GB/s", GALOP_VERSION, machine.processor,
             machine.threads, machine.threads == 1 ? "" : "s", machine.kernels, limits.bytes_per_second * 1e-9);
  if (limits.flops > 0) fmt::print(", float32 {:.0f} GFLOP/s", limits.flops * 1e-9);
  fmt::print("\n");
  if (!numpy.version.empty())
    fmt::print("NumPy {}: one thread, {} for its BLAS; {}\n", numpy.version, machine.threads, numpy.python);
  fmt::print("{} of the article's size, {} run{} each\n\n", options.scale, options.runs, options.runs == 1 ? "" : "s");
  fmt::print("{:<20}{:>11}{:>10}{:>10}{:>10}{:>16}{:>7}{:>12}{:>9}  {}\n", "program", "size", "first", "median", "best",
             "rate", "limit", "NumPy", "faster", "numbers");
  for (const Result& r : results) {
    const Rate rate = rate_of(*r.program, r.galop.median(), limits);
    const std::string size =
        r.program->operations > 0 ? fmt::format("{0} x {0}", r.program->size) : fmt::format("{}", r.program->size);
    std::string numbers = "";
    if (r.difference)
      numbers =
          *r.difference == 0 ? "equal" : fmt::format("{} {:.0e}", r.agrees() ? "within" : "DIFFER by", *r.difference);
    fmt::print(
        "{:<20}{:>11}{:>10}{:>10}{:>10}{:>16}{:>7}{:>12}{:>9}  {}\n", r.program->title, size, duration(r.galop.cold),
        duration(r.galop.median()), duration(r.galop.best()), fmt::format("{:.1f} {}", rate.amount, rate.unit),
        rate.share ? fmt::format("{:.0f} %", *rate.share * 100) : "-", r.numpy ? duration(r.numpy->median()) : "-",
        r.numpy ? fmt::format("{:.1f} x", r.numpy->median() / r.galop.median()) : "-", numbers);
  }
  if (!numpy.problem.empty()) fmt::print("\n{}\n", numpy.problem);
}

// The scale, to two digits, at which `memory` bytes at scale `scale` become `available`.
double fitting_scale(double scale, std::int64_t memory, std::int64_t available) {
  const double exact = scale * static_cast<double>(available) / static_cast<double>(memory);
  const double digit = std::pow(10, std::floor(std::log10(std::max(exact, 1e-9))) - 1);
  return std::floor(exact / digit) * digit;
}

void run_beside(std::vector<Result>& results, const BenchOptions& options, int threads, NumpyResult& numpy,
                Progress& progress) {
  progress.say("looking for a Python with NumPy");
  const std::string python = find_python_with_numpy(options.python);
  if (python.empty()) {
    numpy.problem = options.python.empty() ? "No Python with NumPy was found to compare with: name one with --python."
                                           : "NumPy cannot be imported by " + options.python + ".";
    return;
  }
  cpu::trim();
  std::vector<std::string> sizes;
  for (const Result& r : results) {
    if (r.program->numpy_memory <= cpu::available_memory() - cpu::available_memory() / 16) {
      sizes.push_back(fmt::format("{}={}", r.program->name, r.program->size));
    } else {
      numpy.problem += fmt::format("NumPy was not run for {}: it needs {:.1f} GiB, and {:.1f} GiB are available. ",
                                   r.program->title, gib(r.program->numpy_memory), gib(cpu::available_memory()));
    }
  }
  progress.say("NumPy: starting");
  NumpyResult ran = run_numpy(python, options.runs, threads, sizes, [&](const std::string& name) {
    progress.say("NumPy: " + name);
    progress.step();
  });
  ran.problem = numpy.problem + ran.problem;
  numpy = std::move(ran);
  for (Result& r : results) {
    const auto found = numpy.programs.find(r.program->name);
    if (found == numpy.programs.end() || found->second.values.empty()) continue;
    r.numpy = split(found->second.seconds);
    r.difference = greatest_difference(r.values, found->second.values);
  }
}

}  // namespace

int bench_article(const BenchOptions& options) {
  std::vector<Result> results;
  for (const std::string_view name : kPrograms)
    if (options.only.empty() || std::find(options.only.begin(), options.only.end(), name) != options.only.end())
      results.push_back({make_program(name, options.scale), {}, {}, {}, {}});
  for (const Result& r : results) {
    const std::int64_t available = cpu::available_memory() - cpu::total_memory() / 32;
    if (r.program->memory <= available) continue;
    fmt::print(
        stderr,
        "galop: {} needs {:.1f} GiB of memory at scale {}, and this machine has {:.1f} GiB free; try --scale {:g}\n",
        r.program->title, gib(r.program->memory), options.scale, gib(std::max<std::int64_t>(available, 0)),
        fitting_scale(options.scale, r.program->memory, std::max<std::int64_t>(available, 1)));
    return 2;
  }

  const cpu::Machine machine = cpu::describe_machine();
  NumpyResult numpy;
  Limits limits;
  for (const auto& cache : machine.caches) limits.cache = std::max(limits.cache, static_cast<double>(cache.bytes));
  {
    const int steps = static_cast<int>(results.size()) * options.runs * (options.numpy ? 2 : 1);
    Progress progress(steps);
    for (Result& r : results) {
      run_galop(r, options.runs, progress);
      // The operands and the memory go, so that each program starts from nothing.
      r.program = make_program(std::string(r.program->name), options.scale);
      cpu::trim();
    }
    if (options.numpy) run_beside(results, options, machine.threads, numpy, progress);
    progress.say("measuring the machine's limits");
    const std::int64_t array = std::clamp<std::int64_t>(cpu::available_memory() / 8, 1 << 24, 1 << 28);
    limits.bytes_per_second = cpu::measure_bandwidth(array).copy;
    if (std::any_of(results.begin(), results.end(), [](const Result& r) { return r.program->operations > 0; }))
      limits.flops = cpu::measure_peak(DType::float32);
  }
  if (options.json) {
    print_json(results, limits, options, machine, numpy);
  } else {
    print_table(results, limits, options, machine, numpy);
  }
  return std::all_of(results.begin(), results.end(), [](const Result& r) { return r.agrees(); }) ? 0 : 1;
}

}  // namespace galop::cli
