// The files of `galop calc`: .npy and .csv.
#pragma once

#include <string>

#include "galop/array.hpp"

namespace galop::cli {

/// Whether the name ends in .npy or .csv.
bool is_file_name(const std::string& text);
/// Reads a .npy file, mapped, so that it may be larger than memory; or a .csv file, float64, one column 1-d, several
/// 2-d; a first line without numbers is a header, an empty cell is nan. Throws Error.
array read_file(const std::string& name);
/// Writes a .npy file; or a .csv file of a real array of at most two dimensions. Throws Error.
void write_file(const std::string& name, const array& a);

}  // namespace galop::cli
