// Writing .npy and .npz files; unevaluated arrays stream into the file.
#include <algorithm>
#include <memory>
#include <set>

#include "core/interrupt.hpp"
#include "core/view.hpp"
#include "galop/error.hpp"
#include "graph/build.hpp"
#include "io/npy.hpp"
#include "io/write.hpp"
#include "io/zip.hpp"

namespace galop {

namespace fs = std::filesystem;

namespace {

// Below this an array is computed into memory first, where later reads find it.
constexpr std::int64_t kStreamFrom = 16 << 20;

bool is_pending(const array& a) {
  graph::Lock lock;
  return !a.cell()->value->ready();
}

// A map over a file in the making, which holds the header and room for the values.
array map_new(io::NewFile& file, const fs::path& name, const Dims& shape, DType t, bool fortran) {
  const std::string header = io::npy_header(t, shape, fortran);
  const auto offset = static_cast<std::int64_t>(header.size());
  const Dims strides = io::ordered_strides(shape, itemsize(t), fortran);
  std::int64_t bytes = itemsize(t);
  for (const std::int64_t d : shape) bytes *= d;
  file.reserve(offset + bytes);
  file.write(header.data(), offset);
  if (bytes == 0) return graph::make_empty(View{shape, strides, 0}, t, 0, {});
  auto map = std::make_shared<io::Mapping>(file.handle(), offset + bytes, io::Mapping::Mode::write, name);
  return graph::wrap(map->data() + offset, t, shape, strides, true, [map] {});
}

void save_archive(const fs::path& file, const NamedArrays& arrays, bool compressed) {
  const interrupt::Scope scope(true);  // nobody sees the file yet
  io::NewFile f(file);
  io::write_npz(arrays, compressed, [&f](const void* data, std::int64_t bytes) { f.write(data, bytes); });
  f.commit();
}

}  // namespace

namespace io {

array held(const array& a) {
  graph::Lock lock;
  try {
    graph::force(a);
  } catch (const MemoryError&) {
    // write_npy goes piece by piece then.
  }
  auto* cell = new graph::Cell(a.cell()->value);
  cell->retain();
  return array(cell, a.view(), a.dtype(), false);
}

void write_npy_file(const array& a, const std::function<void(const void*, std::int64_t)>& write) {
  write_npy(held(a), write);
}

void write_npz(const NamedArrays& arrays, bool compressed,
               const std::function<void(const void*, std::int64_t)>& write) {
  std::set<std::string> seen;
  for (const auto& [name, a] : arrays)
    if (!seen.insert(name).second) throw ValueError("[savez] two arrays of one name; got '" + name + "'");
  ZipWriter zip(write);
  for (const auto& [name, a] : arrays) {
    const array values = held(a);
    zip.add(name + ".npy", values.nbytes() + (1 << 16), compressed,
            [&](const ZipWriter::Write& to) { write_npy(values, to); });
  }
  zip.finish();
}

}  // namespace io

void save(const fs::path& file, const array& a) {
  const interrupt::Scope scope(true);  // nobody sees the file yet
  io::NewFile f(file);
  if (f.regular() && a.nbytes() >= kStreamFrom && is_pending(a)) {
    const array target = map_new(f, file, a.shape(), a.dtype(), io::saves_fortran(a));
    graph::assign(target, a);
  } else {
    io::write_npy_file(a, [&f](const void* data, std::int64_t bytes) { f.write(data, bytes); });
  }
  f.commit();
}

array create_memmap(const fs::path& file, const Dims& shape, DType t, bool fortran_order) {
  checked_size("memmap", shape, itemsize(t));
  io::NewFile f(file);
  if (!f.regular()) throw ValueError("[memmap] only regular files can be mapped; got " + file.string());
  array a = map_new(f, file, shape, t, fortran_order);
  f.commit(false);
  return a;
}

void savez(const fs::path& file, const NamedArrays& arrays) { save_archive(file, arrays, false); }
void savez_compressed(const fs::path& file, const NamedArrays& arrays) { save_archive(file, arrays, true); }

}  // namespace galop
