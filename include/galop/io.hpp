// Files: NumPy's .npy and .npz, read whole or mapped into memory, and written so that a crash loses nothing.
#pragma once

#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "galop/array.hpp"

namespace galop {

/// How `load` and `open_memmap` map a file into memory instead of reading it.
enum class MapMode {
  none,           ///< read it: the array owns its memory
  read,           ///< "r": read-only. Nobody may write the file meanwhile, so expressions over it wait and fuse
  read_write,     ///< "r+": writes to the array reach the file
  copy_on_write,  ///< "c": writes to the array stay in memory
};

/// The array of a .npy file (formats 1.0 to 3.0), in C or Fortran order as it was saved; a file of the other byte order
/// is read by swapping, and cannot be mapped. Throws FileError when the system does not let it be read, ValueError for
/// anything but a whole .npy file of one of Galop's dtypes.
array load(const std::filesystem::path& file, MapMode mode = MapMode::none);
/// The array of a .npy file in memory.
array load(std::span<const std::byte> file);

/// Writes a .npy file beside `file`, syncs it and renames it, so that `file` is the old one or the new one after a
/// crash. An unevaluated `a` is computed straight into the mapped file when it is large: operands that are mapped
/// read-only stream through, and no array of its size is allocated. Throws FileError.
void save(const std::filesystem::path& file, const array& a);

/// A new .npy file of the shape and dtype, zeros, mapped for reading and writing. It replaces a file of the name at
/// once.
array create_memmap(const std::filesystem::path& file, const Dims& shape, DType t, bool fortran_order = false);

/// Names and arrays of a .npz file.
using NamedArrays = std::vector<std::pair<std::string, array>>;

/// A .npz file: a ZIP archive (also ZIP64) of .npy files, stored or deflated. Arrays are read when they are asked for.
class Npz {
 public:
  /// Throws FileError, or ValueError when it is no such archive.
  explicit Npz(const std::filesystem::path& file);
  /// The same over a copy of the file's bytes in memory.
  explicit Npz(std::vector<std::byte> file);
  Npz(Npz&&) noexcept;
  Npz& operator=(Npz&&) noexcept;
  ~Npz();

  /// Names of the arrays, without ".npy", in the archive's order.
  const std::vector<std::string>& names() const;
  /// Throws IndexError for a name that is not there, ValueError for a member that is damaged.
  array operator[](const std::string& name) const;

 private:
  struct Archive;
  std::unique_ptr<Archive> archive_;
};

/// All arrays of a .npz file.
NamedArrays load_npz(const std::filesystem::path& file);
/// Writes a .npz file as `save` does. Throws ValueError for a name that occurs twice.
void savez(const std::filesystem::path& file, const NamedArrays& arrays);
void savez_compressed(const std::filesystem::path& file, const NamedArrays& arrays);

}  // namespace galop
