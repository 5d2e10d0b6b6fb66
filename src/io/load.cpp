// Reading .npy and .npz files, whole or as memory maps.
#include <fcntl.h>

#include <algorithm>
#include <cstring>
#include <memory>

#include "core/interrupt.hpp"
#include "galop/io.hpp"
#include "graph/build.hpp"
#include "io/npy.hpp"
#include "io/zip.hpp"

namespace galop {

namespace fs = std::filesystem;

namespace {

io::Reader sequential(const io::Source& s, std::int64_t& at) {
  return [&s, &at](void* to, std::int64_t bytes) {
    s.read(at, to, bytes);
    at += bytes;
  };
}

void refuse_zip(const io::Source& s) {
  char start[4] = {};
  if (s.size() >= 4) s.read(0, start, 4);
  if (std::memcmp(start, "PK", 2) == 0)
    throw ValueError("[load] a .npz file holds arrays by name: load_npz reads them; got " + s.name());
}

array map_file(const fs::path& file, MapMode mode) {
  std::error_code ignored;
  if (fs::exists(file, ignored) && !fs::is_regular_file(file, ignored))
    throw ValueError("[load] only regular files can be mapped; got " + file.string());
  const std::unique_ptr<io::Source> s = io::open_source(file);
  refuse_zip(*s);
  std::int64_t at = 0;
  const io::NpyHeader h = io::read_header(sequential(*s, at), s->size(), s->name());
  if (h.swapped)
    throw ValueError("[load] a map needs the byte order of the processor; got the other one in " + s->name() +
                     ", which load without mmap_mode reads");
  const bool write = mode == MapMode::read_write;
  const io::Handle handle(::open(file.c_str(), (write ? O_RDWR : O_RDONLY) | O_CLOEXEC));
  if (handle.get() < 0) io::throw_errno("load", file, "cannot be opened");
  const Dims strides = io::ordered_strides(h.shape, itemsize(h.dtype), h.fortran);
  auto map = h.bytes() == 0 ? nullptr
                            : std::make_shared<io::Mapping>(handle, h.offset + h.bytes(),
                                                            mode == MapMode::read ? io::Mapping::Mode::read
                                                            : write               ? io::Mapping::Mode::write
                                                                                  : io::Mapping::Mode::copy,
                                                            file);
  if (!map) {
    array a = graph::make_empty(View{h.shape, strides, 0}, h.dtype, 0, {});
    a.set_writeable(mode != MapMode::read);
    return a;
  }
  char* data = map->data() + h.offset;
  const auto owner = [map] {};
  return mode == MapMode::read ? graph::wrap_immutable(data, h.dtype, h.shape, strides, owner)
                               : graph::wrap(data, h.dtype, h.shape, strides, true, owner);
}

bool ends_in_npy(const std::string& name) { return name.size() >= 4 && name.ends_with(".npy"); }

}  // namespace

array load(const fs::path& file, MapMode mode) {
  if (mode != MapMode::none) return map_file(file, mode);
  const std::unique_ptr<io::Source> s = io::open_source(file);
  refuse_zip(*s);
  std::int64_t at = 0;
  const interrupt::Scope scope(true);
  return io::read_npy(sequential(*s, at), s->size(), s->name());
}

array load(std::span<const std::byte> file) {
  const std::unique_ptr<io::Source> s = io::memory_source(file.data(), static_cast<std::int64_t>(file.size()));
  refuse_zip(*s);
  std::int64_t at = 0;
  return io::read_npy(sequential(*s, at), s->size(), s->name());
}

struct Npz::Archive {
  std::vector<std::byte> bytes;  // of an archive in memory
  std::unique_ptr<io::Source> source;
  std::vector<io::ZipMember> members;
  std::vector<std::string> names;

  void open() {
    for (io::ZipMember& m : io::read_zip_directory(*source)) {
      if (m.name.ends_with("/")) continue;
      names.push_back(ends_in_npy(m.name) ? m.name.substr(0, m.name.size() - 4) : m.name);
      members.push_back(std::move(m));
    }
  }
};

Npz::Npz(const fs::path& file) : archive_(std::make_unique<Archive>()) {
  archive_->source = io::open_source(file);
  archive_->open();
}

Npz::Npz(std::vector<std::byte> file) : archive_(std::make_unique<Archive>()) {
  archive_->bytes = std::move(file);
  archive_->source = io::memory_source(archive_->bytes.data(), static_cast<std::int64_t>(archive_->bytes.size()));
  archive_->open();
}

Npz::Npz(Npz&&) noexcept = default;
Npz& Npz::operator=(Npz&&) noexcept = default;
Npz::~Npz() = default;

const std::vector<std::string>& Npz::names() const { return archive_->names; }

array Npz::operator[](const std::string& name) const {
  // Of members of one name the last counts, as in Python's zipfile.
  const Archive& z = *archive_;
  std::size_t i = z.names.size();
  while (i > 0 && z.names[i - 1] != name && z.members[i - 1].name != name) --i;
  if (i == 0) throw IndexError("[load] no array of this name in " + z.source->name() + "; got '" + name + "'");
  const io::ZipMember& m = z.members[i - 1];
  const interrupt::Scope scope(true);
  array a;
  io::read_zip_member(*z.source, m, [&](const io::Reader& read) {
    a = io::read_npy(read, m.bytes, "'" + m.name.substr(0, 60) + "' of " + z.source->name());
  });
  return a;
}

NamedArrays load_npz(const fs::path& file) {
  const Npz z(file);
  NamedArrays all;
  for (const std::string& name : z.names()) all.emplace_back(name, z[name]);
  return all;
}

}  // namespace galop
