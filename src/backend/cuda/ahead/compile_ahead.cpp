// compile_ahead ARCHIVE CACHE JOBS CAPABILITY…: compiles the kernels of common operations and packs them.
//
// Which kernels these are the engine says itself: the operations run on a device that does nothing, with the disk cache
// in the folder CACHE, and what a run has asked of the cache is packed. What the folder holds is not compiled again.
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iostream>
#include <iterator>
#include <string>
#include <vector>

#include "backend/backend.hpp"
#include "backend/cuda/ahead/idle_driver.hpp"
#include "backend/cuda/archive.hpp"
#include "backend/cuda/jit_cache.hpp"
#include "backend/cuda/nvrtc.hpp"
#include "galop/galop.hpp"

namespace galop::cuda {
namespace {

namespace fs = std::filesystem;

using Task = std::function<void()>;

constexpr rlim_t kMostSeconds = 300;  // of a process
// Large enough for the device and for blocks that share a result; kernels depend on no size beyond that.
constexpr std::int64_t kMany = std::int64_t{1} << 20;
const Dims kShapes[] = {{1024, 1024}, {64, kMany / 8}};
constexpr DType kTypes[] = {DType::float64, DType::float32, DType::int64};

bool has_loop(Op op, DType t) {
  return info(op).types.find(typecode(t)) != std::string_view::npos && compute_dtype(op, t) == t;
}
array number(DType t, const Dims& shape = {kMany}) { return empty(shape, t); }

// Every row of the table, on arrays side by side in memory, and with a number on either side.
void rows(std::vector<Task>& tasks) {
  for (int o = 0; o < kTableOps; ++o) {
    const Op op = static_cast<Op>(o);
    const OpInfo& row = info(op);
    for (const DType t : {DType::float64, DType::float32, DType::int64, DType::bool_}) {
      if (!has_loop(op, t)) continue;
      const auto call = [op](std::vector<arg> operands) {
        for (const array& r : ufunc(op).call(operands)) eval(r);
      };
      if (row.nin == 1)
        tasks.push_back([=] {
          const array x = number(t);
          call({x});
        });
      if (row.nin == 2 && !row.int_second) {
        tasks.push_back([=] {
          const array x = number(t), y = number(t);
          call({x, y});
        });
        if (t == DType::bool_) continue;
        const scalar two = t == DType::int64 ? scalar(2) : scalar(2.0);
        tasks.push_back([=] {
          const array x = number(t);
          call({x, two});
        });
        if (row.ulp == 0 && row.identity == Identity::ORDERED)
          tasks.push_back([=] {
            const array x = number(t);
            call({two, x});
          });
      }
    }
  }
}

void maps(std::vector<Task>& tasks) {
  for (const DType t : kTypes) {
    tasks.push_back([=] {
      const array x = number(t), y = number(t), m = number(DType::bool_);
      eval(where(m, x, y));
    });
    tasks.push_back([=] {
      const array x = number(t), m = number(DType::bool_);
      eval(where(m, x, 0));
    });
    tasks.push_back([=] {
      const array x = number(t);
      eval(clip(x, 0, 1));
    });
    tasks.push_back([=] { eval(full({kMany}, 1, t)); });
    tasks.push_back([=] { eval(arange(0, kMany, 1, t)); });
    tasks.push_back([=] {
      const array x = number(t, kShapes[0]), y = number(t, kShapes[0]);
      copyto(y, x.T());
      eval(y);
      eval(x(slice(1, -1)).copy());
    });
    tasks.push_back([=] {
      const array x = number(t);
      eval(add(x, x));
      eval(multiply(x, x));
      eval(multiply.outer(number(t, {1024}), number(t, {1024})));
    });
    // A step of a stencil, and the copies of what stands around it.
    if (t != DType::int64)
      tasks.push_back([=] {
        const array x = number(t, kShapes[0]);
        const slice inner(1, -1);
        x(inner, inner) = add(x(slice(none, -2), inner), x(slice(2, none), inner));
        eval(x);
      });
    // Neighbours, which lie on addresses that no vector is aligned to.
    tasks.push_back([=] {
      const array x = number(t), after = x(slice(1, none)), before = x(slice(none, -1));
      eval(add(after, before));
      eval(subtract(after, before));
      x(slice(5, none)) = 0;
    });
    tasks.push_back([=] {
      const array x = number(t, kShapes[0]);
      eval(x(slice(1, -1), slice(1, -1)).copy());
    });
    tasks.push_back([=] {
      const array x = number(t);
      eval(x(slice(none, none, 2)).copy());
    });
    for (const DType to : {DType::float64, DType::float32, DType::int64, DType::int32, DType::bool_}) {
      if (to == t) continue;
      tasks.push_back([=] { eval(number(t).astype(to)); });
      tasks.push_back([=] { eval(number(to).astype(t)); });
    }
    for (const auto& f : {add, subtract, multiply})
      for (const Dims& shape : {Dims{1024}, Dims{1024, 1}})
        tasks.push_back([=] {
          const array x = number(t, kShapes[0]), y = number(t, shape);
          eval(f(x, y));
        });
  }
  tasks.push_back([] { eval(linspace(0, 1, kMany)); });
}

void folds(std::vector<Task>& tasks) {
  using Fold = array (*)(const array&, const reduce_options&);
  constexpr Fold every = [](const array& a, const reduce_options& o) { return all(a, o); };  // `all` names a slice too
  constexpr Fold plain[] = {sum, prod, min, max, mean}, truths[] = {any, every, count_nonzero};
  const auto each = [&](const std::function<array(const array&, const reduce_options&)>& fold, DType t) {
    for (const std::int64_t n : {kMany / 64, kMany}) tasks.push_back([=] { eval(fold(number(t, {n}), {})); });
    for (const Dims& shape : kShapes)
      for (const int axis : {0, 1}) tasks.push_back([=] { eval(fold(number(t, shape), {.axis = Dims{axis}})); });
  };
  for (const DType t : kTypes) {
    for (const Fold f : plain) each(f, t);
    tasks.push_back([=] {
      eval(argmin(number(t)));
      eval(argmax(number(t)));
    });
    if (t != DType::int64) {
      each([](const array& a, const reduce_options& o) { return var(a, o); }, t);
      each([](const array& a, const reduce_options& o) { return std_(a, o); }, t);
      tasks.push_back([=] {
        const array x = number(t);
        eval(sum(multiply(x, x)));
      });
    }
  }
  each(sum, DType::bool_);
  for (const Fold f : truths) each(f, DType::bool_);
}

// What runs at its call. Positions and counts come back as zeros, so what follows from them is asked for directly.
void calls(std::vector<Task>& tasks) {
  for (const DType t : kTypes) {
    for (const auto& f : {add, multiply}) {
      tasks.push_back([=] { eval(f.accumulate(number(t))); });
      for (const int axis : {0, 1}) tasks.push_back([=] { eval(f.accumulate(number(t, kShapes[0]), axis)); });
    }
    for (const auto& f : {greater, less})
      tasks.push_back([=] {
        const array x = number(t);
        for (const int limit : {0, 1}) eval(x(f(x, limit)));
      });
    tasks.push_back([=] {
      const array x = number(t), i = zeros({kMany}, DType::int64);
      eval(x(i));
      x(i) = 0;
      const arg one = 1;
      add.at(x, std::vector<index>{i}, &one);
    });
    tasks.push_back([=] {
      const array x = number(t, kShapes[0]), i = zeros({4096}, DType::int64);
      eval(x(i));
    });
  }
  tasks.push_back([] {
    const array x = number(DType::int64, kShapes[0]);
    eval(matmul(x, x));
  });
  tasks.push_back([] {
    DeviceBackend& gpu = cuda_backend(0);
    void* const p = gpu.allocate(kMany * 16).data;
    gpu.count_true(p, kMany);
    gpu.positions(p, kMany, static_cast<std::int64_t*>(p));
    for (const int bytes : {1, 4, 8, 16}) gpu.compress(p, kMany, bytes, p, p);
  });
  tasks.push_back([] { eval(random::default_rng(1).random({kMany})); });
  tasks.push_back([] { eval(random::default_rng(1).random({kMany}, DType::float32)); });
  tasks.push_back([] { eval(random::default_rng(1).standard_normal({kMany})); });
  tasks.push_back([] { eval(random::default_rng(1).integers(0, 100, {kMany})); });
  tasks.push_back([] { eval(random::RandomState(1).random_sample({kMany})); });
}

int run_share(int capability, const std::string& cache, int share, int shares) {
  setenv("GALOP_CUDA_PLUGIN", (Archive::default_file().parent_path() / "libgalop_cuda.so").c_str(), 1);
  setenv("GALOP_DEVICE", "cuda", 1);
  setenv("GALOP_CACHE_DIR", cache.c_str(), 1);
  setenv("GALOP_CUDA_KERNELS", "", 1);
  const Driver idle = idle_driver(capability);
  replace_driver(&idle);
  // What waits for numbers that never come must not stop a build for good.
  const rlimit seconds{kMostSeconds, kMostSeconds};
  setrlimit(RLIMIT_CPU, &seconds);
  // Python's policy at first, and so its kernels.
  set_fp_policy({.divide = FpAction::warn, .overflow = FpAction::warn, .invalid = FpAction::warn});
  std::vector<Task> tasks;
  for (const auto& add_to : {rows, maps, folds, calls}) add_to(tasks);
  int failures = 0;
  for (std::size_t i = static_cast<std::size_t>(share); i < tasks.size(); i += static_cast<std::size_t>(shares)) {
    try {
      tasks[i]();
    } catch (const std::exception& e) {
      if (++failures <= 3) std::cerr << "compile_ahead: " << e.what() << "\n";
    }
  }
  return failures;
}

// The time of the file system now.
fs::file_time_type now_in(const std::string& folder) {
  const fs::path marker = fs::path(folder) / "started";
  std::ofstream(marker) << "compile_ahead";
  return fs::last_write_time(marker);
}

// A process a share: one device each, and none here, so that they can be forked.
bool run_all(int capability, const std::string& cache, int shares) {
  std::vector<pid_t> children;
  for (int i = 0; i < shares; ++i) {
    const pid_t child = fork();
    if (child < 0) return false;
    if (child == 0) {
      std::_Exit(run_share(capability, cache, i, shares) > 0 ? 1 : 0);
    }
    children.push_back(child);
  }
  bool good = true;
  for (const pid_t child : children) {
    int status = 0;
    waitpid(child, &status, 0);
    good = good && status == 0;
  }
  return good;
}

int compile_ahead(const std::string& file, const std::string& cache, int jobs, const std::vector<int>& capabilities) {
  fs::create_directories(cache);
  std::vector<Archive::Entry> entries;
  std::string reason;
  const bool compiles = nvrtc_version(&reason).first != 0;
  if (!compiles) std::cout << "compile_ahead: no kernels are compiled ahead: " << reason << "\n";
  for (const int capability : capabilities) {
    if (!compiles) break;
    const fs::file_time_type then = now_in(cache);
    // A kernel that is not here is compiled when it is first needed: no reason to stop a build.
    if (!run_all(capability, cache, jobs))
      std::cerr << "compile_ahead: not all operations could be run for compute capability " << capability << "\n";
    // The compiler's version, the first line, is no matter to whoever finds a kernel ready.
    for (JitCache::Kept& kept : JitCache(cache).used_since(then, capability))
      entries.push_back({kept.key.substr(kept.key.find('\n') + 1), capability, std::move(kept.cubin)});
  }
  const std::string bytes = Archive::pack(entries), fresh = file + ".new";
  if (!(std::ofstream(fresh, std::ios::binary) << bytes)) return 1;
  fs::rename(fresh, file);
  std::cout << entries.size() << " kernels in " << bytes.size() << " bytes\n";
  return 0;
}

}  // namespace
}  // namespace galop::cuda

int main(int argc, char** argv) {
  if (argc < 5) {
    std::cerr << "compile_ahead ARCHIVE CACHE JOBS CAPABILITY…\n";
    return 2;
  }
  std::vector<int> capabilities;
  for (int i = 4; i < argc; ++i) capabilities.push_back(std::atoi(argv[i]));
  return galop::cuda::compile_ahead(argv[1], argv[2], std::max(std::atoi(argv[3]), 1), capabilities);
}
