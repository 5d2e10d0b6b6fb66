// What the writers of files have in common: arrays held still, and archives to any sink.
#pragma once

#include <functional>
#include <string>

#include "galop/io.hpp"

namespace galop::io {

/// The array evaluated, where there is memory for it, under a handle of its own: assigning to `a` as a whole meanwhile
/// leaves it alone.
array held(const array& a);
/// A .npy file to anything that takes bytes.
void write_npy_file(const array& a, const std::function<void(const void*, std::int64_t)>& write);
/// A .npz file to anything that takes bytes.
void write_npz(const NamedArrays& arrays, bool compressed, const std::function<void(const void*, std::int64_t)>& write);

}  // namespace galop::io
