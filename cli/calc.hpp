// `galop calc`: expressions over arrays from the command line.
#pragma once

#include <string>
#include <vector>

namespace galop::cli {

struct CalcOptions {
  std::string expression;          // statements separated by ;
  std::vector<std::string> lets;   // NAME=FILE or NAME=EXPRESSION, in order, before the expression
  std::vector<std::string> outs;   // NAME=FILE, or FILE for the last statement's value
  std::vector<std::string> print;  // names; empty: the last statement's value, unless there are outs
};

/// Prints and writes what was asked for. Returns the exit status: 0; 1 when an expression is wrong or fails; 2 when an
/// option is wrong or a file cannot be read or written.
int calc(const CalcOptions& options);

}  // namespace galop::cli
