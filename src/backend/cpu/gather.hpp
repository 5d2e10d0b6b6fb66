// Elements at scattered places: by index arrays and by masks. These are the Backend's methods of the same names.
#pragma once

#include <span>

#include "backend/backend.hpp"

namespace galop::cpu {

bool locate(std::span<const IndexedAxis> axes, std::int64_t count, std::int64_t* offsets);
void gather(const Blocks& b);
void scatter(const Blocks& b);
std::int64_t count_true(const void* mask, std::int64_t n);
void positions(const void* mask, std::int64_t n, std::int64_t* out);
void compress(const void* mask, std::int64_t n, int itemsize, const void* in, void* out);

}  // namespace galop::cpu
