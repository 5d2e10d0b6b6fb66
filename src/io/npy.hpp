// The .npy format: header, values, byte order.
#pragma once

#include <functional>
#include <string>

#include "galop/array.hpp"
#include "io/file.hpp"

namespace galop::io {

/// What a header says.
struct NpyHeader {
  DType dtype{};
  Dims shape;
  bool fortran = false;
  bool swapped = false;     // the values are in the byte order that this processor has not
  std::int64_t offset = 0;  // of the values in the file

  std::int64_t bytes() const;
};

/// Reads the next bytes of a stream; throws ValueError when it has fewer.
using Reader = std::function<void(void* to, std::int64_t bytes)>;

/// Reads a header from a stream of `length` bytes of which `name` is told in messages. Throws ValueError unless the
/// values that it announces fit into the length.
NpyHeader read_header(const Reader& read, std::int64_t length, const std::string& name);
/// Header and values of a stream.
array read_npy(const Reader& read, std::int64_t length, const std::string& name);

/// Length of a whole header, known from its first 12 bytes (10 do for format 1.0); 0 when they start no .npy file.
std::int64_t header_length(const unsigned char* start, std::int64_t bytes);

/// The header of an array that is saved in this order.
std::string npy_header(DType t, const Dims& shape, bool fortran);

/// Strides in bytes of C or Fortran order.
Dims ordered_strides(const Dims& shape, std::int64_t itemsize, bool fortran);
/// Saved in Fortran order, as NumPy decides.
bool saves_fortran(const array& a);
/// Header and values of an array, whatever its strides; what there is no memory for is computed piece by piece.
void write_npy(const array& a, const std::function<void(const void*, std::int64_t)>& write);

}  // namespace galop::io
