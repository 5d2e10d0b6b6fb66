"""The article's second program: the product of two 10,000 × 10,000 float32 matrices of random numbers."""

import argparse
import sys
import time

import galop as np

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("n", nargs="?", type=float, default=10_000, help="rows and columns")
parser.add_argument("--numpy", action="store_true", help="run this very program with NumPy")
parser.add_argument("--torch", action="store_true", help="also the table that PyTorch's random numbers give")
options = parser.parse_args()
if options.numpy:
    import numpy as np  # noqa: F811

n = int(options.n)
start = time.perf_counter()
np.random.seed(0)
A = np.random.uniform(1, 100, (n, n)).astype(np.float32)
B = np.random.uniform(1, 100, (n, n)).astype(np.float32)
C = np.matmul(A, B)
print(C[:5, :5])
print(f"{time.perf_counter() - start:.3f} s", file=sys.stderr)

if options.torch and not options.numpy:
    # What torch.manual_seed(0) and two calls of torch.empty(n, n).uniform_(1, 100) give; NumPy has no such stream.
    A, B = np.random.torch_uniform((2, n, n), 1, 100, seed=0)
    print(np.matmul(A, B)[:5, :5])
