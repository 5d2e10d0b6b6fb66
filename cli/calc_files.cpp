// CSV is read and written here; .npy by the library.
#include "calc_files.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <charconv>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <limits>
#include <optional>
#include <string_view>
#include <vector>

#include "ctrl_c.hpp"
#include "galop/create.hpp"
#include "galop/elements.hpp"
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

// Arrays of so many bytes go through a mapped file, so that they need not fit into memory.
constexpr std::int64_t kMapFrom = std::int64_t{1} << 24;

// The name of a new file in the temporary folder; it goes with this object, what is mapped from it stays.
class Scratch {
 public:
  Scratch() : path_(std::filesystem::temp_directory_path() / fmt::format("galop-calc-{}.npy", getpid())) {}
  ~Scratch() {
    std::error_code ignored;
    std::filesystem::remove(path_, ignored);
  }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

// f(number, line) for each line that is not blank.
template <class F>
void for_each_line(const std::string& name, F f) {
  std::ifstream file(name, std::ios::binary);
  if (!file) throw Error("[load] the file cannot be opened; got " + name);
  std::string line;
  for (std::size_t line_number = 1; std::getline(file, line); ++line_number) {
    CtrlC::check();
    if (line_number == 1 && line.starts_with("\xEF\xBB\xBF")) line.erase(0, 3);  // a byte order mark
    if (line.find_first_not_of(" \t\r") != std::string::npos) f(line_number, std::string_view(line));
  }
}

// f(cell) for each cell of a line; how many there are.
template <class F>
std::int64_t for_each_cell(std::string_view line, char separator, F f) {
  std::int64_t cells = 0;
  for (std::size_t begin = 0; begin <= line.size(); ++cells) {
    const std::size_t end = std::min(line.find(separator, begin), line.size());
    f(line.substr(begin, end - begin));
    begin = end + 1;
  }
  return cells;
}

// Two passes: the first one counts, so that the values have one place from the beginning.
array read_csv(const std::string& name) {
  std::int64_t columns = 0, rows = 0;
  char separator = ',';
  bool header = false;
  for_each_line(name, [&](std::size_t line_number, std::string_view line) {
    if (line_number == 1 && line.find(',') == std::string_view::npos)
      separator = line.find(';') != std::string_view::npos    ? ';'
                  : line.find('\t') != std::string_view::npos ? '\t'
                                                              : ',';
    if (rows++ > 0) return;
    columns =
        for_each_cell(line, separator, [&](std::string_view cell) { header = header || !number(cell).has_value(); });
    header = header && line_number == 1;
  });
  rows -= header;
  const bool mapped = rows * columns * itemsize(DType::float64) >= kMapFrom;
  const Scratch scratch;
  array table =
      mapped ? create_memmap(scratch.path(), {rows, columns}, DType::float64) : empty({rows, columns}, DType::float64);
  {
    const elements<double> values(table.ravel());
    std::int64_t at = 0;
    for_each_line(name, [&](std::size_t line_number, std::string_view line) {
      if (line_number == 1 && header) return;
      const auto put = [&](std::string_view cell) {
        const auto v = number(cell);
        if (!v)
          throw ValueError(
              fmt::format("[load] a cell is no number; got '{}' in line {} of {}", cell, line_number, name));
        if (at < values.size()) values[at] = *v;
        ++at;
      };
      if (const std::int64_t cells = for_each_cell(line, separator, put); cells != columns)
        throw ValueError(
            fmt::format("[load] all lines need {} cells; got {} in line {} of {}", columns, cells, line_number, name));
    });
    if (at != values.size()) throw Error("[load] the file changed while it was read; got " + name);
  }
  if (mapped) table = load(scratch.path(), MapMode::read);
  return columns <= 1 ? table.ravel() : table;
}

// Beside the file first, so that a failure leaves the old one.
void write_csv(const std::string& name, const array& a) {
  if (is_complex(a.dtype()))
    throw TypeError("[save] a CSV file holds real numbers; got " + std::string(galop::name(a.dtype())));
  if (a.ndim() > 2)
    throw ValueError("[save] a CSV file has two dimensions at most; got the shape " + to_string(a.shape()));
  const std::int64_t rows = a.ndim() == 0 ? 1 : a.shape()[0], columns = a.ndim() == 2 ? a.shape()[1] : 1;
  const Scratch scratch;
  const bool mapped = a.nbytes() >= kMapFrom;
  if (mapped)
    save(scratch.path(), a);
  else
    eval(a);
  const array table = (mapped ? load(scratch.path(), MapMode::read) : a).reshape({rows, columns});
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
    const std::int64_t step = std::max<std::int64_t>(1, 4096 / std::max<std::int64_t>(columns, 1));
    for (std::int64_t i = 0; i < rows && file; i += step) {
      CtrlC::check();
      const array part = table(slice(i, std::min(i + step, rows)));
      if (kind(a.dtype()) == 'u') {
        write(part.to_vector<std::uint64_t>(), [](std::uint64_t v) { return std::to_string(v); });
      } else if (kind(a.dtype()) == 'f') {
        const bool is_float = a.dtype() == DType::float32;
        write(part.to_vector<double>(), [is_float](double v) {
          return is_float ? fmt::format("{}", static_cast<float>(v)) : to_string(scalar(v));
        });
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
