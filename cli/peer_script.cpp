// The three programs in Python: as NumPy and CuPy write them, PyTorch, and JAX with jit.
#include "peers.hpp"

namespace galop::cli {

const char* const kPeerScript = R"python(
import json
import math
import os
import sys
import time

peer, device, runs, programs = sys.argv[1], sys.argv[2], int(sys.argv[3]), sys.argv[4:]


def say(**fields):
    print(json.dumps(fields), flush=True)


def operands(n):
    import numpy as np

    np.random.seed(0)
    return [np.random.uniform(1, 100, (n, n)).astype(np.float32) for _ in range(2)]


class Unfit(Exception):
    pass


class NumPy:
    def __init__(self):
        import numpy

        self.xp, self.version, self.device = numpy, numpy.__version__, "cpu"

    def wait(self, result):
        pass

    def put(self, a):
        return a

    def ones(self, n):
        return self.xp.ones(n)

    def linspace(self, n):
        return self.xp.linspace(0, 2 * math.pi, n)

    def add(self, n):
        a = self.ones(n)

        def run():
            nonlocal a
            a += 1
            return a

        return run, lambda a: [a[0], a[n // 2], a[-1]]

    def matmul(self, n):
        A, B = map(self.put, operands(n))
        return lambda: A @ B, lambda C: list(C[0, :4])

    def polar(self, n):
        def run():
            theta = self.linspace(n)
            r = 1 + 0.75 * self.xp.sin(3 * theta)
            return r * self.xp.cos(theta), r * self.xp.sin(theta)

        return run, lambda c: [c[0][0], c[0][n // 7], c[1][n // 7], c[0][-1]]


class CuPy(NumPy):
    def __init__(self):
        if device == "cpu":
            raise Unfit("it runs on GPUs alone")
        import cupy

        self.xp, self.version, self.device = cupy, cupy.__version__, "cuda"

    def wait(self, result):
        self.xp.cuda.Device().synchronize()

    def put(self, a):
        return self.xp.asarray(a)


class PyTorch(NumPy):
    def __init__(self):
        import torch

        if device == "cuda" and not torch.cuda.is_available():
            raise Unfit("it sees no GPU")
        self.xp, self.version, self.device = torch, torch.__version__, device

    def wait(self, result):
        if device == "cuda":
            self.xp.cuda.synchronize()

    def put(self, a):
        return self.xp.from_numpy(a).to(device)

    def ones(self, n):
        return self.xp.ones(n, dtype=self.xp.float64, device=device)

    def linspace(self, n):
        return self.xp.linspace(0, 2 * math.pi, n, dtype=self.xp.float64, device=device)


class JAX(NumPy):
    def __init__(self):
        os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")
        if device == "cpu":
            os.environ["JAX_PLATFORMS"] = "cpu"
        import jax

        jax.config.update("jax_enable_x64", True)
        if device == "cuda" and jax.default_backend() != "gpu":
            raise Unfit("it sees no GPU")
        self.jax, self.xp, self.version, self.device = jax, jax.numpy, jax.__version__, device

    def wait(self, result):
        if result is not None:
            self.jax.block_until_ready(result)

    def put(self, a):
        return self.xp.asarray(a)

    def add(self, n):
        a = self.ones(n)
        more = self.jax.jit(lambda a: a + 1, donate_argnums=0)

        def run():
            nonlocal a
            a = more(a)
            return a

        return run, lambda a: [a[0], a[n // 2], a[-1]]

    def matmul(self, n):
        A, B = map(self.put, operands(n))
        product = self.jax.jit(lambda A, B: self.xp.matmul(A, B, precision="highest"))
        return lambda: product(A, B), lambda C: list(C[0, :4])

    def polar(self, n):
        run, values = super().polar(n)
        return self.jax.jit(run), values


try:
    library = {"numpy": NumPy, "torch": PyTorch, "cupy": CuPy, "jax": JAX}[peer]()
except Exception as error:
    say(problem=f"{error}" if isinstance(error, Unfit) else f"it cannot be started ({type(error).__name__}: {error})")
    sys.exit()
say(version=library.version, device=library.device)
for argument in programs:
    name, size = argument.split("=")
    run, values = getattr(library, name)(int(size))
    library.wait(None)
    for _ in range(runs):
        result = None
        start = time.perf_counter()
        result = run()
        library.wait(result)
        say(program=name, seconds=time.perf_counter() - start)
    say(program=name, values=[float(v) for v in values(result)])
    del run, values, result
)python";

}  // namespace galop::cli
