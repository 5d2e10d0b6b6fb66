// Files from C++: whole, mapped, archives, and what is no file of NumPy's.
#include "galop/io.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cerrno>
#include <fstream>
#include <iterator>

#include "galop/galop.hpp"
#include "io/npy.hpp"
#include "io/zip.hpp"

namespace galop {
namespace {

namespace fs = std::filesystem;

class Io : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::temp_directory_path() / ("galop-io-" + std::to_string(::getpid()));
    fs::create_directories(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }
  fs::path operator/(const char* name) const { return folder_ / name; }
  std::string content(const char* name) const {
    std::ifstream f(folder_ / name, std::ios::binary);
    return {std::istreambuf_iterator<char>(f), {}};
  }
  void write(const char* name, const std::string& bytes) const {
    std::ofstream(folder_ / name, std::ios::binary) << bytes;
  }

  fs::path folder_;
};

TEST_F(Io, AnArrayComesBackInItsOrder) {
  const array a = arange(24).reshape({2, 3, 4}).astype(DType::float32);
  save(*this / "a.npy", a);
  const array x = load(*this / "a.npy");
  EXPECT_EQ(x.dtype(), DType::float32);
  EXPECT_EQ(x.shape(), a.shape());
  EXPECT_EQ(x.to_vector<float>(), a.to_vector<float>());
  save(*this / "t.npy", a.T());
  const array t = load(*this / "t.npy");
  EXPECT_TRUE(t.is_f_contiguous());
  EXPECT_EQ(t.to_vector<float>(), a.T().to_vector<float>());
  EXPECT_EQ(content("t.npy").size(), 128U + 24 * 4);
}

TEST_F(Io, Maps) {
  save(*this / "a.npy", arange(10));
  const array r = load(*this / "a.npy", MapMode::read);
  EXPECT_FALSE(r.writeable());
  EXPECT_THROW(r.assign(1), ValueError);
  array c = load(*this / "a.npy", MapMode::copy_on_write);
  c += 1;
  EXPECT_EQ(load(*this / "a.npy").to_vector<int>()[9], 9);
  array w = load(*this / "a.npy", MapMode::read_write);
  w *= 2;
  EXPECT_EQ(load(*this / "a.npy").to_vector<int>()[9], 18);
  array made = create_memmap(*this / "b.npy", {2, 2}, DType::uint8, true);
  made(0, 1) = 7;
  EXPECT_EQ(load(*this / "b.npy").to_vector<int>(), (std::vector<int>{0, 7, 0, 0}));
}

TEST_F(Io, AnExpressionOverMapsIsComputedIntoTheFile) {
  constexpr std::int64_t n = 3'000'000;
  save(*this / "a.npy", arange(n).astype(DType::float64));
  const array x = load(*this / "a.npy", MapMode::read);
  const array y = x * 2 + 1;
  EXPECT_NE(explain(y).find("1 kernel,"), std::string::npos);
  save(*this / "a.npy", y);
  EXPECT_NE(explain(y).find("1 kernel,"), std::string::npos);  // no memory holds it
  EXPECT_EQ(x(n - 1).item<std::int64_t>(), n - 1);             // the old file, as long as it is mapped
  EXPECT_EQ(load(*this / "a.npy")(n - 1).item<std::int64_t>(), 2 * n - 1);
}

TEST_F(Io, Archives) {
  const NamedArrays arrays{{"x", arange(1000)}, {"y", ones({2, 3}).T()}};
  for (const bool compressed : {false, true}) {
    (compressed ? savez_compressed : savez)(*this / "a.npz", arrays);
    const NamedArrays back = load_npz(*this / "a.npz");
    ASSERT_EQ(back.size(), 2U);
    EXPECT_EQ(back[0].first, "x");
    EXPECT_EQ(back[0].second.to_vector<int>(), arrays[0].second.to_vector<int>());
    EXPECT_EQ(back[1].second.shape(), (Dims{3, 2}));
  }
  const Npz z(*this / "a.npz");
  EXPECT_EQ(z.names(), (std::vector<std::string>{"x", "y"}));
  EXPECT_EQ(z["x.npy"].size(), 1000);
  EXPECT_THROW(z["no"], IndexError);
  EXPECT_THROW(savez(*this / "b.npz", {{"x", ones({1})}, {"x", ones({1})}}), ValueError);
  EXPECT_FALSE(fs::exists(*this / "b.npz"));
  EXPECT_THROW(load(*this / "a.npz"), ValueError);
}

TEST_F(Io, ArchivesBeyond32BitsAnd65535Members) {
  std::string bytes;
  io::ZipWriter zip([&bytes](const void* data, std::int64_t n) {
    bytes.append(static_cast<const char*>(data), static_cast<std::size_t>(n));
  });
  const std::string header = io::npy_header(DType::uint8, {2}, false);
  for (int i = 0; i < 66'000; ++i) {
    // Every other one is announced as perhaps too large for 32 bits.
    zip.add(std::to_string(i) + ".npy", i % 2 ? std::int64_t{1} << 33 : 1000, i % 3 == 0, [&](const auto& to) {
      to(header.data(), static_cast<std::int64_t>(header.size()));
      const unsigned char values[2] = {static_cast<unsigned char>(i), 7};
      to(values, 2);
    });
  }
  zip.finish();
  const auto span = std::as_bytes(std::span(bytes));
  const Npz z(std::vector<std::byte>(span.begin(), span.end()));
  ASSERT_EQ(z.names().size(), 66'000U);
  for (const int i : {0, 1, 2, 3, 65'535, 65'998, 65'999})
    EXPECT_EQ(z[std::to_string(i)].to_vector<int>(), (std::vector<int>{i & 255, 7}));
}

TEST_F(Io, DamageAndRefusals) {
  try {
    load(*this / "no.npy");
    FAIL();
  } catch (const FileError& e) {
    EXPECT_EQ(e.code(), ENOENT);
    EXPECT_EQ(e.file(), (*this / "no.npy").string());
  }
  save(*this / "a.npy", arange(5));
  const std::string whole = content("a.npy");
  for (const std::size_t n : {0UL, 5UL, 9UL, 40UL, 127UL, whole.size() - 1}) {
    write("cut.npy", whole.substr(0, n));
    EXPECT_THROW(load(*this / "cut.npy"), ValueError) << n;
    EXPECT_THROW(load(*this / "cut.npy", MapMode::read), ValueError) << n;
    EXPECT_THROW(Npz(*this / "cut.npy"), ValueError) << n;
    EXPECT_THROW(load(std::as_bytes(std::span(whole.data(), n))), ValueError) << n;
  }
  EXPECT_EQ(load(std::as_bytes(std::span(whole))).to_vector<int>(), (std::vector<int>{0, 1, 2, 3, 4}));
}

}  // namespace
}  // namespace galop
