// CSV is read and written here; .npy by the library.
#include "calc_files.hpp"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <limits>
#include <optional>
#include <string_view>
#include <vector>

#include "ctrl_c.hpp"
#include "galop/error.hpp"
#include "galop/io.hpp"
#include "galop/print.hpp"

namespace galop::cli {
namespace {

// The cell as a number; nothing if it is none.
std::optional<double> number(std::string_view cell) {
  while (!cell.empty() && (cell.front() == ' ' || cell.front() == '\t' || cell.front() == '+')) cell.remove_prefix(1);
  while (!cell.empty() && (cell.back() == ' ' || cell.back() == '\t' || cell.back() == '\r')) cell.remove_suffix(1);
  if (cell.size() > 1 && cell.front() == '"' && cell.back() == '"') cell = cell.substr(1, cell.size() - 2);
  if (cell.empty()) return std::numeric_limits<double>::quiet_NaN();
  double v = 0;
  const auto [end, error] = std::from_chars(cell.data(), cell.data() + cell.size(), v);
  if (end != cell.data() + cell.size()) return {};
  // Beyond float64: zero or infinity, as strtod gives.
  if (error == std::errc::result_out_of_range) return std::strtod(std::string(cell).c_str(), nullptr);
  return error == std::errc() ? std::optional(v) : std::nullopt;
}

array read_csv(const std::string& name) {
  std::ifstream file(name, std::ios::binary);
  if (!file) throw Error("[load] the file cannot be opened; got " + name);
  std::vector<double> values;
  std::size_t columns = 0, rows = 0, line_number = 0;
  char separator = ',';
  std::string line;
  while (std::getline(file, line)) {
    CtrlC::check();
    ++line_number;
    if (line_number == 1 && line.starts_with("\xEF\xBB\xBF")) line.erase(0, 3);  // a byte order mark
    if (line.find_first_not_of(" \t\r") == std::string::npos) continue;
    if (line_number == 1 && line.find(',') == std::string::npos)
      separator = line.find(';') != std::string::npos ? ';' : line.find('\t') != std::string::npos ? '\t' : ',';
    const std::size_t before = values.size();
    std::size_t cells = 0;
    bool header = false;
    for (std::size_t begin = 0; begin <= line.size(); ++cells) {
      const std::size_t end = std::min(line.find(separator, begin), line.size());
      const std::string_view cell = std::string_view(line).substr(begin, end - begin);
      const auto v = number(cell);
      if (!v && line_number > 1)
        throw ValueError(fmt::format("[load] a cell is no number; got '{}' in line {} of {}", cell, line_number, name));
      header = header || !v;
      values.push_back(v.value_or(0));
      begin = end + 1;
    }
    if (columns == 0) columns = cells;
    if (cells != columns)
      throw ValueError(
          fmt::format("[load] all lines need {} cells; got {} in line {} of {}", columns, cells, line_number, name));
    if (header) {
      values.resize(before);
    } else {
      ++rows;
    }
  }
  const array flat(values);
  if (columns <= 1) return flat;
  return flat.reshape({static_cast<std::int64_t>(rows), static_cast<std::int64_t>(columns)});
}

// Beside the file first, so that a failure leaves the old one.
void write_csv(const std::string& name, const array& a) {
  if (is_complex(a.dtype()))
    throw TypeError("[save] a CSV file holds real numbers; got " + std::string(galop::name(a.dtype())));
  if (a.ndim() > 2)
    throw ValueError("[save] a CSV file has two dimensions at most; got the shape " + to_string(a.shape()));
  const std::int64_t rows = a.ndim() == 0 ? 1 : a.shape()[0], columns = a.ndim() == 2 ? a.shape()[1] : 1;
  eval(a);
  const array table = a.reshape({rows, columns});
  const std::string beside = name + ".part";
  std::ofstream file(beside, std::ios::binary);
  const auto write = [&](const auto& values, auto text) {
    std::string block;
    for (std::size_t i = 0; i < values.size(); ++i)
      block += text(values[i]) +
               (i % static_cast<std::size_t>(columns) + 1 == static_cast<std::size_t>(columns) ? "\n" : ",");
    file << block;
  };
  try {
    const std::int64_t step = std::max<std::int64_t>(1, 65536 / std::max<std::int64_t>(columns, 1));
    for (std::int64_t i = 0; i < rows && file; i += step) {
      CtrlC::check();
      const array part = table(slice(i, std::min(i + step, rows)));
      if (kind(a.dtype()) == 'u') {
        write(part.to_vector<std::uint64_t>(), [](std::uint64_t v) { return std::to_string(v); });
      } else if (kind(a.dtype()) == 'f') {
        const bool is_float = a.dtype() == DType::float32;
        write(part.to_vector<double>(),
              [is_float](double v) { return is_float ? fmt::format("{}", static_cast<float>(v)) : to_string(scalar(v)); });
      } else {
        write(part.to_vector<std::int64_t>(), [](std::int64_t v) { return std::to_string(v); });
      }
    }
  } catch (...) {
    std::error_code ignored;
    std::filesystem::remove(beside, ignored);
    throw;
  }
  file.close();
  std::error_code failed;
  if (file) std::filesystem::rename(beside, name, failed);
  if (!file || failed) {
    std::filesystem::remove(beside, failed);
    throw Error("[save] the file cannot be written; got " + name);
  }
}

}  // namespace

bool is_file_name(const std::string& text) { return text.ends_with(".npy") || text.ends_with(".csv"); }

array read_file(const std::string& name) { return name.ends_with(".npy") ? load(name, MapMode::read) : read_csv(name); }

void write_file(const std::string& name, const array& a) {
  if (!is_file_name(name)) throw ValueError("[save] files end in .npy or .csv; got " + name);
  if (name.ends_with(".npy")) {
    save(name, a);
  } else {
    write_csv(name, a);
  }
}

}  // namespace galop::cli
