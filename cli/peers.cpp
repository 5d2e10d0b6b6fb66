// posix_spawn and a pipe; the script's JSON lines are read as they come.
#include "peers.hpp"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string_view>

extern char** environ;

namespace galop::cli {
namespace {

namespace fs = std::filesystem;

// The environment without what would tune BLAS for galop, and with the number of threads stated.
std::vector<std::string> environment(int threads) {
  static constexpr std::string_view kDropped[] = {
      "OPENBLAS_CORETYPE=", "OPENBLAS_NUM_THREADS=", "OMP_NUM_THREADS=", "MKL_NUM_THREADS="};
  std::vector<std::string> variables;
  for (char** variable = environ; *variable != nullptr; ++variable) {
    bool dropped = false;
    for (const auto name : kDropped) dropped = dropped || std::string_view(*variable).starts_with(name);
    if (!dropped) variables.emplace_back(*variable);
  }
  for (const char* name : {"OPENBLAS_NUM_THREADS=", "OMP_NUM_THREADS=", "MKL_NUM_THREADS="})
    variables.push_back(name + std::to_string(threads));
  return variables;
}

std::vector<char*> pointers(std::vector<std::string>& strings) {
  std::vector<char*> result;
  for (std::string& s : strings) result.push_back(s.data());
  result.push_back(nullptr);
  return result;
}

// Runs a program and hands over each line that it prints; its exit status, or -1 when it could not be started or was
// killed.
int run(std::vector<std::string> arguments, std::vector<std::string> variables, bool quiet,
        const std::function<void(const std::string&)>& on_line) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return -1;
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
  if (quiet) posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  auto argv = pointers(arguments), envp = pointers(variables);
  pid_t child = 0;
  const int error = posix_spawnp(&child, argv[0], &actions, nullptr, argv.data(), envp.data());
  posix_spawn_file_actions_destroy(&actions);
  close(ends[1]);
  if (error != 0) {
    close(ends[0]);
    return -1;
  }
  FILE* output = fdopen(ends[0], "r");
  char* line = nullptr;
  std::size_t capacity = 0;
  for (ssize_t length; output != nullptr && (length = getline(&line, &capacity, output)) > 0;)
    on_line(std::string(line, static_cast<std::size_t>(length)));
  std::free(line);
  if (output != nullptr) std::fclose(output);
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

bool has_module(const std::string& python, std::string_view module) {
  const std::string look =
      "import importlib.util, sys; sys.exit(importlib.util.find_spec('" + std::string(module) + "') is None)";
  return run({python, "-c", look}, environment(1), true, [](const std::string&) {}) == 0;
}

}  // namespace

std::string find_python_with(std::string_view module, const std::string& wanted) {
  std::vector<std::string> candidates;
  if (!wanted.empty()) {
    candidates.push_back(wanted);
  } else {
    std::error_code error;
    const fs::path self = fs::read_symlink("/proc/self/exe", error);
    if (!error && fs::exists(self.parent_path() / "python3", error))
      candidates.push_back((self.parent_path() / "python3").string());
    if (const char* venv = std::getenv("VIRTUAL_ENV"))
      candidates.push_back((fs::path(venv) / "bin" / "python3").string());
    candidates.emplace_back("python3");
  }
  for (const std::string& candidate : candidates)
    if (has_module(candidate, module)) return candidate;
  return "";
}

PeerResult run_peer(const Peer& peer, const std::string& python, const std::string& device, int runs, int threads,
                    const std::vector<std::string>& sizes,
                    const std::function<void(const std::string& program)>& on_run) {
  PeerResult result;
  result.peer = peer;
  result.python = python;
  std::vector<std::string> arguments = {
      python, "-c", kPeerScript, std::string(peer.name), device, std::to_string(runs)};
  arguments.insert(arguments.end(), sizes.begin(), sizes.end());
  const int status = run(std::move(arguments), environment(threads), false, [&](const std::string& line) {
    const auto json = nlohmann::json::parse(line, nullptr, false);
    if (!json.is_object()) return;
    result.version = json.value("version", result.version);
    result.device = json.value("device", result.device);
    result.problem = json.value("problem", result.problem);
    if (!json.contains("program")) return;
    const std::string name = json["program"];
    if (json.contains("seconds")) {
      result.programs[name].seconds.push_back(json["seconds"]);
      on_run(name);
    }
    if (json.contains("values")) result.programs[name].values = json["values"].get<std::vector<double>>();
  });
  if (status != 0)
    result.problem = status < 0 ? "its process was ended, most likely for want of memory"
                                : "its process failed with status " + std::to_string(status);
  return result;
}

}  // namespace galop::cli
