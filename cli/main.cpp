// The program `galop`: what the machine offers, how fast the article's programs run on it, and a calculator for arrays.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <exception>
#include <iostream>

#include "article.hpp"
#include "bench.hpp"
#include "calc.hpp"
#include "info.hpp"

int main(int argc, char** argv) {
  using namespace galop::cli;
  CLI::App app{"Galop: NumPy's arrays, fast."};
  app.set_version_flag("--version", "galop " GALOP_VERSION);
  app.require_subcommand(1);

  bool info_json = false;
  CLI::App* info_command = app.add_subcommand("info", "Processor, memory, libraries and GPU, and what is missing");
  info_command->add_flag("--json", info_json, "Print JSON");

  BenchOptions options;
  CLI::App* bench_command = app.add_subcommand("bench", "Benchmarks");
  bench_command->require_subcommand(1);
  CLI::App* article_command = bench_command->add_subcommand(
      "article", "The article's three programs, beside NumPy and others that a Python has");
  article_command->add_option("--scale", options.scale, "Share of the article's sizes")
      ->check(CLI::Range(1e-8, 100.0))
      ->capture_default_str();
  article_command->add_option("--runs", options.runs, "Runs of each program; the first is reported apart")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  article_command->add_option("--only", options.only, "Some of add, matmul, polar, separated by commas")
      ->delimiter(',')
      ->check(CLI::IsMember({"add", "matmul", "polar"}));
  article_command->add_option("--device", options.device, "cpu, cuda or cuda:1; by size and cost when not given");
  article_command->add_option("--against", options.against, "Some of torch, cupy, jax to run beside, where found")
      ->delimiter(',')
      ->check(CLI::IsMember({"numpy", "torch", "cupy", "jax"}));
  article_command->add_option("--python", options.python, "The Python that has NumPy and the others");
  article_command->add_flag("!--no-numpy", options.numpy, "Run galop alone");
  article_command->add_flag("--json", options.json, "Print JSON");

  CalcOptions calculation;
  CLI::App* calc_command =
      app.add_subcommand("calc", "Computes an expression: galop calc \"r*cos(t)\" --let \"t = linspace(0, pi, 9)\"");
  calc_command->add_option("expression", calculation.expression, "Python's operators, NumPy's names; ; separates")
      ->required();
  calc_command->add_option("--let", calculation.lets, "NAME=FILE.npy, NAME=FILE.csv or NAME=EXPRESSION; repeatable")
      ->expected(1)
      ->take_all();
  calc_command
      ->add_option("--out", calculation.outs, "NAME=FILE.npy or NAME=FILE.csv, or FILE for the last value; repeatable")
      ->expected(1)
      ->take_all();
  calc_command->add_option("--print", calculation.print, "Names to print, separated by commas; else the last value")
      ->delimiter(',');

  // The parser would only say that a command is required.
  const auto commands = app.get_subcommands([](CLI::App*) { return true; });
  const auto is_meant = [&](const CLI::App* c) { return c->get_name() == argv[1]; };
  if (argc > 1 && argv[1][0] != '-' && std::none_of(commands.begin(), commands.end(), is_meant)) {
    std::cerr << "galop: the commands are";
    for (const CLI::App* c : commands) std::cerr << ' ' << c->get_name();
    std::cerr << "; got " << argv[1] << "\n";
    return 2;
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 2;
  }
  try {
    if (calc_command->parsed()) return calc(calculation);
    if (info_command->parsed()) return info(info_json);
    return bench_article(options);
  } catch (const std::exception& error) {
    std::cerr << "galop: " << error.what() << "\n";
    return 2;
  }
}
