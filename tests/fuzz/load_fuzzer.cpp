// libFuzzer: whatever bytes are loaded as .npy and .npz give arrays or ValueError. tools/fuzz.sh builds and runs it.
#include <cstdint>
#include <cstdlib>
#include <span>
#include <vector>

#include "galop/io.hpp"

namespace {

// Arrays that were loaded are read to the last byte and saved again.
void use(const galop::array& a) {
  if (a.size() > 0) a.astype(galop::DType::complex128).to_vector<std::complex<double>>();
}

template <class Work>
void attempt(Work&& work) {
  try {
    work();
  } catch (const galop::ValueError&) {
  } catch (const galop::MemoryError&) {
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto bytes = std::as_bytes(std::span(data, size));
  attempt([&] { use(galop::load(bytes)); });
  attempt([&] {
    const galop::Npz z(std::vector<std::byte>(bytes.begin(), bytes.end()));
    for (const std::string& name : z.names()) attempt([&] { use(z[name]); });
  });
  return 0;
}
