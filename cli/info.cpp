// Gathers galop::cpu::describe_machine() and galop::probe_gpus() into one page.
#include "info.hpp"

#include <fmt/core.h>
#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <string>

#include "backend/cpu/machine.hpp"
#include "backend/gpu_probe.hpp"
#include "galop/device.hpp"
#include "galop/error.hpp"

namespace galop::cli {
namespace {

constexpr double kGiB = 1 << 30;

double gib(std::int64_t bytes) { return static_cast<double>(bytes) / kGiB; }

std::string size_name(std::int64_t bytes) {
  return bytes >= 1 << 20 ? fmt::format("{} MiB", bytes >> 20) : fmt::format("{} KiB", bytes >> 10);
}

std::string cuda_name(int version) { return fmt::format("{}.{}", version / 1000, version % 1000 / 10); }

// Galop's own view of the GPUs: whether the plug-in was opened, and each device with it.
struct PlugIn {
  std::vector<cuda::DeviceProperties> devices;
  std::string problem;  // why there is no device, or why one of them cannot be used
};

PlugIn open_plug_in() {
  PlugIn p;
  p.problem = cuda::why_not();
  for (int i = 0; i < cuda::device_count(); ++i) {
    try {
      p.devices.push_back(cuda::properties(i));
    } catch (const Error& e) {
      p.problem += (p.problem.empty() ? "" : "; ") + std::string(e.what());
    }
  }
  return p;
}

void print_json(const cpu::Machine& m, const GpuReport& g, const PlugIn& p) {
  nlohmann::ordered_json out;
  out["version"] = GALOP_VERSION;
  out["processor"] = m.processor;
  out["instruction_sets"] = m.instruction_sets;
  out["kernels"] = m.kernels;
  out["cores"] = {{"machine", m.processors}, {"allowed", m.allowed}, {"threads", m.threads}};
  out["memory"] = {{"total", m.memory_total}, {"available", m.memory_available}, {"huge_pages", m.huge_pages}};
  out["caches"] = nlohmann::json::array();
  for (const auto& c : m.caches)
    out["caches"].push_back({{"level", c.level}, {"type", c.type}, {"bytes", c.bytes}, {"shared_by", c.shared_by}});
  for (const auto& [name, version] : m.libraries) out["libraries"][name] = version;
  out["gpu"] = {{"usable", g.usable}, {"driver", g.driver}, {"cuda", g.cuda == 0 ? "" : cuda_name(g.cuda)}};
  out["gpu"]["devices"] = nlohmann::json::array();
  for (const auto& gpu : g.gpus)
    out["gpu"]["devices"].push_back({{"name", gpu.name},
                                     {"memory", gpu.memory},
                                     {"capability", fmt::format("{}.{}", gpu.major, gpu.minor)},
                                     {"fit", gpu.fit}});
  out["gpu"]["plugin"] = {{"opened", cuda::is_available()}, {"problem", p.problem}};
  out["gpu"]["plugin"]["devices"] = nlohmann::json::array();
  for (const auto& d : p.devices)
    out["gpu"]["plugin"]["devices"].push_back(
        {{"name", d.name}, {"memory", d.memory}, {"capability", fmt::format("{}.{}", d.major, d.minor)}});
  out["advice"] = m.advice;
  for (const auto& sentence : g.advice) out["advice"].push_back(sentence);
  fmt::print("{}\n", out.dump(2));
}

void print_text(const cpu::Machine& m, const GpuReport& g, const PlugIn& p) {
  const auto row = [](const char* name, const std::string& value) { fmt::print("{:<14}{}\n", name, value); };
  fmt::print("galop {}\n\n", GALOP_VERSION);
  row("processor", m.processor);
  row("instructions", fmt::format("{}", fmt::join(m.instruction_sets, " ")));
  row("kernels", m.kernels);
  row("cores", fmt::format("{} in the machine, {} allowed, {} used", m.processors, m.allowed, m.threads));
  std::string caches;
  for (const auto& c : m.caches) {
    if (c.type == "Instruction") continue;
    caches += fmt::format("{}L{} {}{}", caches.empty() ? "" : ", ", c.level, size_name(c.bytes),
                          c.shared_by > 1 ? fmt::format(" for {}", c.shared_by) : "");
  }
  row("caches", caches.empty() ? "unknown" : caches);
  row("memory", fmt::format("{:.1f} GiB, {:.1f} GiB available, huge pages: {}", gib(m.memory_total),
                            gib(m.memory_available), m.huge_pages));
  for (std::size_t i = 0; i < m.libraries.size(); ++i)
    row(i == 0 ? "libraries" : "", m.libraries[i].first + " " + m.libraries[i].second);
  for (std::size_t i = 0; i < g.gpus.size(); ++i)
    row(i == 0 ? "GPU" : "",
        fmt::format("{}, {:.0f} GiB, compute capability {}.{}{}", g.gpus[i].name, gib(g.gpus[i].memory),
                    g.gpus[i].major, g.gpus[i].minor, g.gpus[i].fit ? "" : " (too old)"));
  if (g.gpus.empty()) row("GPU", "none usable");
  if (!g.driver.empty() || g.cuda != 0)
    row("driver", fmt::format("{}{}", g.driver.empty() ? "unknown" : g.driver,
                              g.cuda == 0 ? "" : fmt::format(", CUDA up to {}", cuda_name(g.cuda))));
  for (std::size_t i = 0; i < p.devices.size(); ++i)
    row(i == 0 ? "plug-in" : "",
        fmt::format("cuda:{} is {}, {:.0f} GiB", i, p.devices[i].name, gib(p.devices[i].memory)));
  // What the advice says anyway is not said twice.
  if (!p.problem.empty() && p.problem != fmt::format("{}", fmt::join(g.advice, "; ")))
    row("plug-in", "not used: " + p.problem);
  if (m.advice.empty() && g.advice.empty()) return;
  fmt::print("\n");
  for (const auto* list : {&m.advice, &g.advice})
    for (const auto& sentence : *list) fmt::print("- {}\n", sentence);
}

}  // namespace

int info(bool json) {
  const cpu::Machine machine = cpu::describe_machine();
  const GpuReport gpus = probe_gpus();
  const PlugIn plug_in = open_plug_in();
  if (json) {
    print_json(machine, gpus, plug_in);
  } else {
    print_text(machine, gpus, plug_in);
  }
  return 0;
}

}  // namespace galop::cli
