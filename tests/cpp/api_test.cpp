// The C++ interface against values worked out by hand: creation, indexing, assignment, rearrangement, products and
// their errors.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cmath>
#include <limits>
#include <numeric>
#include <thread>

#include "galop/galop.hpp"
#include "graph/evaluate.hpp"

namespace galop {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::ThrowsMessage;

template <class T = std::int64_t>
std::vector<T> values(const array& a) {
  return a.to_vector<T>();
}
array ints(const Dims& shape) {
  std::int64_t n = 1;
  for (std::int64_t d : shape) n *= d;
  return arange(n).reshape(shape);
}
array bools(std::initializer_list<bool> v) {
  array a = zeros({static_cast<std::int64_t>(v.size())}, DType::bool_);
  std::int64_t i = 0;
  for (bool b : v) a(i++) = arg(b);
  return a;
}
void set(const array& a, std::initializer_list<index> parts, const arg& v) { a.set({parts.begin(), parts.size()}, v); }
array numbers(std::initializer_list<std::int64_t> v) { return array(std::vector<std::int64_t>(v)); }

TEST(Scalar, StoresWhatTheDTypeHolds) {
  std::int8_t i8;
  scalar(-128).store(DType::int8, &i8);
  EXPECT_EQ(i8, -128);
  scalar(3.9).store(DType::int8, &i8);
  EXPECT_EQ(i8, 3);
  EXPECT_THAT([&] { scalar(300).store(DType::int8, &i8); }, ThrowsMessage<OverflowError>(HasSubstr("int8; got 300")));
  EXPECT_THROW(scalar(-1).store(DType::uint8, &i8), OverflowError);
  EXPECT_THROW(scalar(1e10).store(DType::int8, &i8), OverflowError);
  EXPECT_THROW(scalar(std::nan("")).store(DType::int8, &i8), ValueError);
  EXPECT_THROW(scalar(std::complex<double>(1, 2)).store(DType::int8, &i8), TypeError);
  std::uint64_t u64;
  scalar(~std::uint64_t{0}).store(DType::uint64, &u64);
  EXPECT_EQ(u64, ~std::uint64_t{0});
  EXPECT_THROW(scalar(~std::uint64_t{0}).store(DType::int64, &u64), OverflowError);
  EXPECT_THROW(scalar(0x1p64).store(DType::uint64, &u64), OverflowError);
  EXPECT_EQ(scalar(~std::uint64_t{0}).dtype(), DType::uint64);
  EXPECT_EQ(scalar(1).dtype(), DType::int64);
}

TEST(Scalar, RoundsToHalfOnce) {
  const std::pair<double, std::uint16_t> cases[] = {{0.0, 0x0000},
                                                    {-0.0, 0x8000},
                                                    {1.0, 0x3c00},
                                                    {-2.0, 0xc000},
                                                    {65504.0, 0x7bff},
                                                    {65519.9, 0x7bff},
                                                    {65520.0, 0x7c00},
                                                    {0x1p-24, 0x0001},
                                                    {0x1p-25, 0x0000},
                                                    {0x1.8p-24, 0x0002},
                                                    {0x1p-14, 0x0400},
                                                    {0x1.ff8p-15, 0x03ff},
                                                    {0x1.ffcp-15, 0x0400},
                                                    {1.0 + 0x1p-11, 0x3c00},
                                                    {1.0 + 0x1.000001p-11, 0x3c01},
                                                    {1.0 + 0x1.8p-10, 0x3c02},
                                                    {HUGE_VAL, 0x7c00}};
  for (auto [v, bits] : cases) {
    half h;
    scalar(v).store(DType::float16, &h);
    EXPECT_EQ(h.bits, bits) << v;
  }
}

TEST(Create, FillsAndEmpty) {
  EXPECT_THAT(values<double>(zeros({2})), ElementsAre(0, 0));
  EXPECT_THAT(values<float>(full({2}, 1.5, DType::float32)), ElementsAre(1.5f, 1.5f));
  EXPECT_THAT(values(full({2, 2}, numbers({3, 4}))), ElementsAre(3, 4, 3, 4));
  EXPECT_EQ(full({2}, 3).dtype(), DType::int64);
  EXPECT_EQ(empty({3, 0, 2}, DType::int8).size(), 0);
  EXPECT_EQ(zeros_like(ints({3, 4}).T()).strides(), (Dims{8, 32}));
  EXPECT_EQ(empty_like(ints({2, 3, 4}).transpose({1, 2, 0}), DType::int16).strides(), (Dims{8, 2, 24}));
  EXPECT_THROW(full({2}, 300, DType::int8), OverflowError);
  EXPECT_THROW(full({2}, numbers({1, 2, 3})), ValueError);
  EXPECT_THROW(zeros({-1, 3}), ValueError);
  EXPECT_THROW(zeros({std::int64_t{1} << 62}), ValueError);
  EXPECT_THAT([] { zeros({std::int64_t{1} << 50}); }, ThrowsMessage<MemoryError>(HasSubstr("9007199254740992 bytes")));
}

TEST(Create, Arange) {
  EXPECT_THAT(values(arange(2, 11, 3)), ElementsAre(2, 5, 8));
  EXPECT_THAT(values(arange(3, -4, -3)), ElementsAre(3, 0, -3));
  EXPECT_EQ(arange(5, 0).size(), 0);
  EXPECT_EQ(arange(1, 1.6, 0.1).size(), 7);
  EXPECT_EQ(arange(1, 1.5, 0.1).size(), 5);
  EXPECT_EQ(arange(0.5, 1.1, 0.1).size(), 7);
  const double delta = (1 + 0.1) - 1;
  EXPECT_THAT(values<double>(arange(1, 1.35, 0.1)), ElementsAre(1, 1.1, 1 + 2 * delta, 1 + 3 * delta));
  EXPECT_THAT(values(arange(0, 2.5, 0.5, DType::int64)), ElementsAre(0, 0, 0, 0, 0));
  EXPECT_EQ(arange(0, 3, 1, DType::float16).dtype(), DType::float16);
  EXPECT_THROW(arange(0, 1, 0), ValueError);
  EXPECT_THROW(arange(0, std::nan("")), ValueError);
  EXPECT_THROW(arange(0, HUGE_VAL), ValueError);
  EXPECT_THROW(arange(0, 3, 1, DType::bool_), TypeError);
  EXPECT_THROW(arange(-5, 5, 1, DType::uint8), OverflowError);
}

TEST(Create, Linspace) {
  EXPECT_EQ(linspace(-2.3328583, 2.8459014, 10)(-1).item<double>(), 2.8459014);
  EXPECT_THAT(values(linspace(1, 32, 10, true, DType::int64)), ElementsAre(1, 4, 7, 11, 14, 18, 21, 25, 28, 32));
  EXPECT_EQ(linspace(-77, 81, 31)(15).item<double>(), 2.0);
  EXPECT_THAT(values<double>(linspace(0, 1, 4, false)), ElementsAre(0, 0.25, 0.5, 0.75));
  EXPECT_THAT(values<double>(linspace(5, 9, 1)), ElementsAre(5));
  EXPECT_EQ(linspace(0, 1, 0).size(), 0);
  EXPECT_THAT(values<double>(linspace(numbers({0, 10}), 20, 3)), ElementsAre(0, 10, 10, 15, 20, 20));
  // A step that underflows: the elements are divided first.
  const double tiny = std::numeric_limits<double>::denorm_min();
  EXPECT_THAT(values<double>(linspace(0, tiny, 4)), ElementsAre(0, 0, tiny, tiny));
  EXPECT_THROW(linspace(0, 1, -1), ValueError);
  EXPECT_THAT(values<double>(logspace(0, 2, 3)), ElementsAre(1, 10, 100));
}

TEST(Create, EyeAndMeshgrid) {
  EXPECT_THAT(values(eye(2, 3, 1, DType::int64)), ElementsAre(0, 1, 0, 0, 0, 1));
  const array axes[] = {numbers({1, 2, 3}), numbers({7, 8})};
  auto xy = meshgrid(axes);
  EXPECT_EQ(xy[0].shape(), (Dims{2, 3}));
  EXPECT_THAT(values(xy[0]), ElementsAre(1, 2, 3, 1, 2, 3));
  EXPECT_THAT(values(xy[1]), ElementsAre(7, 7, 7, 8, 8, 8));
  auto ij = meshgrid(axes, true, true);
  EXPECT_EQ(ij[0].shape(), (Dims{3, 1}));
  EXPECT_EQ(ij[1].shape(), (Dims{1, 2}));
}

TEST(Array, ReshapeIsAViewWhereStridesAllowIt) {
  array a = ints({2, 3, 4});
  EXPECT_EQ(a.reshape({6, -1}).strides(), (Dims{32, 8}));
  EXPECT_EQ(a.transpose({1, 0, 2}).reshape({3, 2, 2, 2}).cell(), a.cell());
  EXPECT_NE(a.T().reshape({24}).cell(), a.cell());
  EXPECT_THAT(values(ints({2, 3}).T().reshape({6})), ElementsAre(0, 3, 1, 4, 2, 5));
  EXPECT_THAT([&] { a.reshape({5, -1}); }, ThrowsMessage<ValueError>(HasSubstr("(2, 3, 4) and (5, -1)")));
  EXPECT_THROW(a.reshape({-1, -1}), ValueError);
  EXPECT_THROW(zeros({0, 4}).reshape({-1, 0}), ValueError);
  EXPECT_EQ(zeros({0, 4}).reshape({-1, 5}).shape(), (Dims{0, 5}));
  EXPECT_THROW(zeros({3}).reshape({}), ValueError);
  EXPECT_THROW(a.transpose({0, 1}), ValueError);
  EXPECT_THROW(a.transpose({0, 1, 1}), ValueError);
  EXPECT_THROW(a.transpose({0, 1, 3}), AxisError);
}

TEST(Array, PartsOfComplexAreViews) {
  array z = zeros({3}, DType::complex128);
  array re = z.real(), im = z.imag();
  re.assign(numbers({1, 2, 3}));
  im.assign(numbers({4, 5, 6}));
  EXPECT_THAT(values<std::complex<double>>(z),
              ElementsAre(std::complex<double>(1, 4), std::complex<double>(2, 5), std::complex<double>(3, 6)));
  EXPECT_FALSE(ones({2}).imag().writeable());
}

TEST(Array, AssignmentBroadcastsAndChecks) {
  array a = zeros({2, 3}, DType::int8);
  a.assign(numbers({1, 2, 3}).reshape({1, 1, 3}));
  EXPECT_THAT(values(a), ElementsAre(1, 2, 3, 1, 2, 3));
  a(1) = 7.9;
  EXPECT_THAT(values(a), ElementsAre(1, 2, 3, 7, 7, 7));
  EXPECT_THROW(a.assign(300), OverflowError);
  EXPECT_THROW(a.assign(numbers({1, 2})), ValueError);
  array b = broadcast_to(a, {2, 2, 3});
  EXPECT_THAT([&] { b.assign(1); }, ThrowsMessage<ValueError>(HasSubstr("read-only")));
  EXPECT_THAT(values(a), ElementsAre(1, 2, 3, 7, 7, 7));
}

TEST(Array, ForeignMemoryIsReadAndWrittenInPlace) {
  double memory[] = {0, 1, 2, 3, 4, 5};
  int released = 0;
  {
    array a = from_memory(memory + 5, DType::float64, {3}, {-16}, true, [&] { ++released; });
    EXPECT_THAT(values<double>(a), ElementsAre(5, 3, 1));
    array b = a + 1;
    a.assign(9);
    EXPECT_THAT(values<double>(b), ElementsAre(6, 4, 2));
    EXPECT_EQ(memory[3], 9);
    EXPECT_EQ(memory[2], 2);
    EXPECT_EQ(released, 0);
  }
  EXPECT_EQ(released, 1);
}

TEST(Index, Basic) {
  array a = ints({3, 4});
  EXPECT_EQ(a(1, 2).item<std::int64_t>(), 6);
  EXPECT_EQ(a(-1, -1).item<std::int64_t>(), 11);
  EXPECT_THAT(values(a(slice(none, none, -2), 1)), ElementsAre(9, 1));
  EXPECT_THAT(values(a(1, slice(10, none, -1))), ElementsAre(7, 6, 5, 4));
  EXPECT_EQ(a(slice(2, 1)).shape(), (Dims{0, 4}));
  EXPECT_EQ(a(ellipsis, newaxis, 0).shape(), (Dims{3, 1}));
  EXPECT_EQ(a(ellipsis, 0).cell(), a.cell());
  EXPECT_THAT([&] { a(10); }, ThrowsMessage<IndexError>(HasSubstr("got 10")));
  EXPECT_THROW(a(0, -5), IndexError);
  EXPECT_THROW(a(0, 0, 0), IndexError);
  EXPECT_THROW(a(ellipsis, ellipsis), IndexError);
  EXPECT_THROW(a(slice(none, none, 0)), ValueError);
  EXPECT_THROW(a(zeros({2})), IndexError);
}

TEST(Index, ArraysOfIntegers) {
  array a = ints({3, 4});
  EXPECT_THAT(values(a(numbers({2, 0, -1}))), ElementsAre(8, 9, 10, 11, 0, 1, 2, 3, 8, 9, 10, 11));
  EXPECT_THAT(values(a(numbers({0, 2}), numbers({1, 3}).astype(DType::uint8))), ElementsAre(1, 11));
  EXPECT_THAT(values(a(numbers({0, 2}).reshape({2, 1}), numbers({1, 3}))), ElementsAre(1, 3, 9, 11));
  EXPECT_THAT(values(a(slice(1, 3), numbers({3, 0}))), ElementsAre(7, 4, 11, 8));
  EXPECT_EQ(a(slice(1, 3), numbers({3, 0})).strides(), (Dims{8, 16}));
  array b = ints({2, 3, 4});
  EXPECT_EQ(b(slice(), 0, numbers({1, 2, 3})).shape(), (Dims{2, 3}));
  EXPECT_EQ(b(0, slice(), numbers({1, 2})).shape(), (Dims{2, 3}));
  EXPECT_EQ(b(numbers({0, 1}), newaxis, numbers({1, 2})).shape(), (Dims{2, 1, 4}));
  EXPECT_EQ(zeros({2, 0})(numbers({0, 0})).shape(), (Dims{2, 0}));
  array five = arange(5);
  EXPECT_THAT([&] { five(numbers({0, 6})); }, ThrowsMessage<IndexError>(HasSubstr("got 6")));
  EXPECT_THAT([&] { set(five, {numbers({0, 6})}, 1); }, ThrowsMessage<IndexError>(HasSubstr("got 6")));
  EXPECT_THAT(values(five), ElementsAre(0, 1, 2, 3, 4));
  EXPECT_THROW(b(numbers({0, 1}), numbers({0, 1, 2})), IndexError);
}

TEST(Index, Masks) {
  array a = ints({2, 3});
  EXPECT_THAT(values(a(a > 2)), ElementsAre(3, 4, 5));
  EXPECT_THAT(values(a.T()(a.T() > 1)), ElementsAre(3, 4, 2, 5));
  EXPECT_THAT(values(a(slice(), bools({true, false, true}))), ElementsAre(0, 2, 3, 5));
  EXPECT_EQ(a(newaxis, bools({true, false})).shape(), (Dims{1, 1, 3}));
  EXPECT_EQ(a(array(true)).shape(), (Dims{1, 2, 3}));
  EXPECT_EQ(a(array(false)).shape(), (Dims{0, 2, 3}));
  EXPECT_THROW(arange(4)(bools({true, false})), IndexError);
  EXPECT_THROW(a(newaxis, bools({true, false, true})), IndexError);
  // As many elements as make several chunks.
  array many = arange(300000);
  array odd = many(many % 2 == 1);
  EXPECT_EQ(odd.size(), 150000);
  EXPECT_EQ(sum(odd).item<std::int64_t>(), std::int64_t{150000} * 150000);
}

TEST(Index, SetByIntegers) {
  array a = arange(5);
  set(a, {numbers({0, 1, 0, 1, 0, 1})}, numbers({2, 3, 4, 5, 6, 7}));
  EXPECT_THAT(values(a), ElementsAre(6, 7, 2, 3, 4));
  set(a, {numbers({0, 1, 2})}, a(slice(2, 5)));
  EXPECT_THAT(values(a), ElementsAre(2, 3, 4, 3, 4));
  set(a, {numbers({4, 3})}, 9);
  EXPECT_THAT(values(a), ElementsAre(2, 3, 4, 9, 9));
  EXPECT_THROW(set(a, {a}, 1), IndexError);
  EXPECT_THAT(values(a), ElementsAre(2, 3, 4, 9, 9));
}

TEST(Index, SetByMasks) {
  array a = ints({2, 3});
  set(a, {a > 3}, -1);
  EXPECT_THAT(values(a), ElementsAre(0, 1, 2, 3, -1, -1));
  set(a, {a < 0}, numbers({7, 8}));
  EXPECT_THAT(values(a), ElementsAre(0, 1, 2, 3, 7, 8));
  set(a, {bools({true, false})}, numbers({4, 5, 6}));
  EXPECT_THAT(values(a), ElementsAre(4, 5, 6, 3, 7, 8));
  set(a, {slice(), bools({false, true, true})}, numbers({1, 2}).reshape({2, 1}));
  EXPECT_THAT(values(a), ElementsAre(4, 1, 1, 3, 2, 2));
  EXPECT_THROW(set(a, {a > 2}, numbers({1, 2, 3})), ValueError);
  EXPECT_THROW(set(a, {a > 2}, ones({1, 1})), TypeError);
  EXPECT_THROW(set(a, {bools({true, false, true})}, 1), IndexError);
  EXPECT_THAT(values(a), ElementsAre(4, 1, 1, 3, 2, 2));
}

TEST(Manipulate, Axes) {
  array a = ints({2, 3, 4});
  EXPECT_EQ(moveaxis(a, {0, -1}, {-1, 0}).shape(), (Dims{4, 3, 2}));
  EXPECT_EQ(swapaxes(a, 0, 2).shape(), (Dims{4, 3, 2}));
  EXPECT_EQ(expand_dims(a, {0, -1}).shape(), (Dims{1, 2, 3, 4, 1}));
  EXPECT_EQ(squeeze(zeros({1, 3, 1})).shape(), (Dims{3}));
  EXPECT_EQ(squeeze(zeros({1, 3, 1}), Dims{-1}).shape(), (Dims{1, 3}));
  EXPECT_THAT(values(flip(ints({2, 2}), Dims{1})), ElementsAre(1, 0, 3, 2));
  EXPECT_THAT(values(flip(ints({2, 2}))), ElementsAre(3, 2, 1, 0));
  EXPECT_THROW(squeeze(a, Dims{0}), ValueError);
  EXPECT_THROW(expand_dims(a, {0, 0}), ValueError);
  EXPECT_THROW(swapaxes(a, 0, 3), AxisError);
  EXPECT_THROW(moveaxis(a, {0, 1}, {0}), ValueError);
}

TEST(Manipulate, Joins) {
  const array parts[] = {ints({2, 2}), ints({2, 1}).astype(DType::float64)};
  array joined = concatenate(parts, 1);
  EXPECT_EQ(joined.dtype(), DType::float64);
  EXPECT_THAT(values<double>(joined), ElementsAre(0, 1, 0, 2, 3, 1));
  EXPECT_THAT(values<double>(concatenate(parts, std::nullopt)), ElementsAre(0, 1, 2, 3, 0, 1));
  const array pair[] = {numbers({1, 2}), numbers({3, 4})};
  EXPECT_THAT(values(stack(pair, 1)), ElementsAre(1, 3, 2, 4));
  const array transposed[] = {ints({2, 3}).T(), ints({2, 3}).T()};
  EXPECT_EQ(concatenate(transposed, 0).strides(), (Dims{8, 48}));
  EXPECT_EQ(stack(transposed, 1).strides(), (Dims{16, 8, 48}));
  EXPECT_THROW(concatenate(parts, 0), ValueError);
  EXPECT_THROW(concatenate({}), ValueError);
  EXPECT_THROW(concatenate(std::vector<array>{array(1)}), ValueError);
}

TEST(Manipulate, MasksMemoryAndCopies) {
  array a = ints({2, 3});
  auto where_odd = nonzero(a % 2);
  EXPECT_THAT(values(where_odd[0]), ElementsAre(0, 1, 1));
  EXPECT_THAT(values(where_odd[1]), ElementsAre(1, 0, 2));
  EXPECT_THROW(nonzero(array(1)), ValueError);
  array b = arange(10);
  EXPECT_FALSE(shares_memory(b(slice(0, none, 2)), b(slice(1, none, 2))));
  EXPECT_TRUE(may_share_memory(b(slice(0, none, 2)), b(slice(1, none, 2))));
  EXPECT_TRUE(shares_memory(b, b(slice(3, 4))));
  EXPECT_FALSE(may_share_memory(b, b.copy()));
  array mask = bools({true, false, true});
  copyto(a, -1, &mask);
  EXPECT_THAT(values(a), ElementsAre(-1, 1, -1, -1, 4, -1));
  EXPECT_THROW(copyto(a, 1.5), TypeError);
  EXPECT_THROW(copyto(a, ones({3})), TypeError);
  EXPECT_THROW(copyto(a, 1, &a), TypeError);
}

TEST(Linalg, Products) {
  array a = ints({2, 3}), b = ints({3, 2});
  EXPECT_THAT(values(matmul(a, b)), ElementsAre(10, 13, 28, 40));
  EXPECT_THAT(values<double>(matmul(a.astype(DType::float64), b.astype(DType::float64))), ElementsAre(10, 13, 28, 40));
  EXPECT_THAT(values(matmul(a, numbers({1, 1, 1}))), ElementsAre(3, 12));
  EXPECT_THAT(values(matmul(numbers({1, 1}), a)), ElementsAre(3, 5, 7));
  EXPECT_EQ(matmul(numbers({1, 2}), numbers({3, 4})).item<std::int64_t>(), 11);
  EXPECT_EQ(matmul(zeros({5, 1, 2, 3}), zeros({4, 3, 2})).shape(), (Dims{5, 4, 2, 2}));
  array batch = ints({2, 2, 2});
  EXPECT_THAT(values(matmul(batch, batch(0))), ElementsAre(2, 3, 6, 11, 10, 19, 14, 27));
  EXPECT_THAT(values<double>(matmul(zeros({3, 0}), zeros({0, 2}))), ElementsAre(0, 0, 0, 0, 0, 0));
  EXPECT_THROW(matmul(a, a), ValueError);
  EXPECT_THROW(matmul(array(1), a), ValueError);
  EXPECT_EQ(values<float>(matmul(full({1}, 1024.5, DType::float32), ones({1, 1}, DType::float32)))[0], 1024.5f);
}

TEST(Linalg, OutMayBeAnOperand) {
  array a = ints({2, 2}).astype(DType::float64);
  array r = matmul(a, a, &a);
  EXPECT_THAT(values<double>(a), ElementsAre(2, 3, 6, 11));
  EXPECT_EQ(r.cell(), a.cell());
  array single = zeros({2, 2}, DType::float32);
  matmul(a, a, &single);
  EXPECT_THAT(values<float>(single), ElementsAre(22, 39, 78, 139));
  array whole = zeros({2, 2}, DType::int64);
  EXPECT_THROW(matmul(a, a, &whole), TypeError);
  EXPECT_THROW(dot(a, a, &single), ValueError);
}

TEST(Linalg, OtherContractions) {
  array a = ints({2, 3}), b = ints({3, 2});
  EXPECT_EQ(dot(zeros({2, 3, 4}), zeros({5, 4, 6})).shape(), (Dims{2, 3, 5, 6}));
  EXPECT_THAT(values(dot(a, array(2))), ElementsAre(0, 2, 4, 6, 8, 10));
  EXPECT_THAT(values(inner(a, a)), ElementsAre(5, 14, 14, 50));
  EXPECT_THAT(values(outer(numbers({1, 2}), numbers({3, 4}))), ElementsAre(3, 4, 6, 8));
  EXPECT_EQ(tensordot(a, b.T()).item<std::int64_t>(), 0 * 0 + 1 * 2 + 2 * 4 + 3 * 1 + 4 * 3 + 5 * 5);
  EXPECT_THAT(values(tensordot(a, b, 1)), ElementsAre(10, 13, 28, 40));
  EXPECT_THAT(values(tensordot(a, b, {0}, {1})), ElementsAre(3, 9, 15, 4, 14, 24, 5, 19, 33));
  EXPECT_EQ(tensordot(zeros({2, 3}), zeros({4}), 0).shape(), (Dims{2, 3, 4}));
  EXPECT_THROW(tensordot(a, b), ValueError);
  EXPECT_THROW(tensordot(a, b, 3), IndexError);
  EXPECT_THROW(inner(a, b), ValueError);
  std::vector<std::complex<double>> z{{1, 2}, {3, 4}};
  EXPECT_EQ(vecdot(array(z), array(z)).item<std::complex<double>>(), std::complex<double>(30, 0));
  EXPECT_EQ(dot(array(z), array(z)).item<std::complex<double>>(), std::complex<double>(-10, 28));
  EXPECT_THAT(values(vecdot(a, a, 0)), ElementsAre(9, 17, 29));
  EXPECT_THAT(values(matvec(a, numbers({1, 1, 1}))), ElementsAre(3, 12));
  EXPECT_THAT(values(vecmat(numbers({1, 1}), a)), ElementsAre(3, 5, 7));
}

// fork() while another thread computes under the engine's lock, which the child could never take if it stayed locked.
TEST(Fork, ChildComputesWhateverOtherThreadsDid) {
#ifdef __SANITIZE_THREAD__
  GTEST_SKIP() << "ThreadSanitizer ends a child of a threaded process that starts threads";
#endif
  std::atomic<bool> stop = false;
  std::thread busy([&] {
    while (!stop) sum(sin(ones({1 << 18}))).item<double>();
  });
  for (int round = 0; round < 20; ++round) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      alarm(20);
      _exit(sum(ones({1 << 16}) + 1).item<double>() == 2 << 16 ? 42 : 1);
    }
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 42) << "round " << round;
  }
  stop = true;
  busy.join();
}

TEST(Assignment, AViewOntoItselfMovesNothing) {
  array a = arange(20000.0);
  eval(a);
  const std::int64_t before = graph::counters().kernels;
  a(slice(1, -1)) += 1.0;  // the operator's kernel, then the view is stored where it lies
  EXPECT_EQ(graph::counters().kernels, before + 1);
  a(slice(1, -1)) = a(slice(1, -1));
  EXPECT_EQ(graph::counters().kernels, before + 1);
  a(slice(1, -1)) = a(slice(-2, 0, -1));
  EXPECT_GT(graph::counters().kernels, before + 1);
  EXPECT_EQ(a(slice(0, 3)).to_vector<double>(), (std::vector<double>{0, 19999, 19998}));
}

}  // namespace
}  // namespace galop
