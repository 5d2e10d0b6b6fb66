"""Random numbers with NumPy's bits under NumPy's names, and PyTorch's uniform float32 stream."""

import operator

import numpy as np

from ._bit_generators import MT19937, PCG64, BitGenerator, SeedSequence
from ._common import asarray, axis_index, core, is_array

__all__ = [
    "BitGenerator", "Generator", "MT19937", "PCG64", "RandomState", "SeedSequence", "bytes", "choice", "default_rng",
    "exponential", "get_state", "normal", "permutation", "rand", "randint", "randn", "random", "random_sample",
    "ranf", "sample", "seed", "set_state", "shuffle", "standard_exponential", "standard_normal", "torch_uniform",
    "uniform",
]  # fmt: skip

_core = core.random


# ----------------------------------------------------------------------------------------------------------------------
# What Generator and RandomState have in common


def _python(value, size, dtype):
    """A single integer as the Python type that was asked for, if one was."""
    return dtype(value) if size is None and (dtype is int or dtype is bool) and not is_array(value) else value


def _population(a):
    """The array to choose from or to permute: NumPy's own where Galop has no such dtype."""
    try:
        return asarray(a)
    except TypeError:
        return np.asarray(a)


class _Distributions:
    """Over self._core, the C++ class, and self._bit_generator."""

    def __reduce__(self):
        return type(self), (self._bit_generator,)

    def __repr__(self):
        return f"{self} at 0x{id(self):X}"

    def __str__(self):
        return f"{type(self).__name__}({type(self._bit_generator).__name__})"

    def uniform(self, low=0.0, high=1.0, size=None):
        """float64 numbers from low to before high."""
        return self._core.uniform(low, high, size)

    def normal(self, loc=0.0, scale=1.0, size=None):
        """Normal deviates around loc with standard deviation scale."""
        return self._core.normal(loc, scale, size)

    def exponential(self, scale=1.0, size=None):
        """Exponential deviates with mean scale."""
        return self._core.exponential(scale, size)

    def bytes(self, length):
        """Random bytes."""
        return self._core.bytes(operator.index(length))

    def _choose(self, a, size, replace, p, axis, shuffle):
        of, other = int(a) if isinstance(a, (int, np.integer)) else _population(a), None
        if not isinstance(of, int) and of.ndim == 0:
            try:
                of = operator.index(of.item())
            except TypeError:
                raise ValueError(f"[choice] a must be an array or an integer; got {a!r}") from None
        elif isinstance(of, np.ndarray):  # a dtype that Galop lacks
            other, of = of, of.shape[axis_index(axis, of.ndim)]
        result = self._core.choice(of, size, bool(replace), p, axis, bool(shuffle))
        return result if other is None else np.take(other, np.asarray(result), axis)

    def _permuted(self, x, axis, no_axis):
        if isinstance(x, (int, np.integer)):
            return self._core.permutation(int(x))
        x = _population(x)
        if x.ndim == 0:
            raise no_axis(f"[permutation] x must be an integer or at least 1-dimensional; got {x!r}")
        if is_array(x):
            return self._core.permutation(x, axis)
        return np.take(x, np.asarray(self._core.permutation(x.shape[axis_index(axis, x.ndim)])), axis)

    def _shuffle(self, x, axis):
        if isinstance(x, np.ndarray):
            if x.size:
                rows = np.moveaxis(x, axis, 0)
                rows[...] = rows[np.asarray(self._core.permutation(len(rows)))]
            return
        if axis != 0:
            raise NotImplementedError("[shuffle] an axis other than 0 is for arrays only")
        n = len(x)
        if not hasattr(x, "__setitem__"):
            raise TypeError(f"[shuffle] expected something that can be written to; got {type(x).__name__}")
        items = [x[i] for i in self._core.permutation(n).tolist()]
        for i in range(n):
            x[i] = items[i]


# ----------------------------------------------------------------------------------------------------------------------
# Generator


class Generator(_Distributions):
    """Random numbers from a bit generator, by the algorithms of numpy.random.Generator."""

    def __init__(self, bit_generator):
        if not isinstance(bit_generator, BitGenerator):
            raise TypeError(f"[Generator] expected a bit generator of Galop; got {type(bit_generator).__name__}")
        self._bit_generator = bit_generator
        self._core = _core.Generator(bit_generator._core)

    @property
    def bit_generator(self):
        return self._bit_generator

    def spawn(self, n_children):
        """Generators whose streams are independent of this one's and of one another's."""
        return [type(self)(bits) for bits in self._bit_generator.spawn(n_children)]

    def random(self, size=None, dtype=np.float64, out=None):
        """Numbers from 0 to before 1, float64 or float32."""
        return self._core.random(size, dtype, out)

    def standard_normal(self, size=None, dtype=np.float64, out=None):
        """Normal deviates around 0 with standard deviation 1, float64 or float32."""
        return self._core.standard_normal(size, dtype, out)

    def standard_exponential(self, size=None, dtype=np.float64, method="zig", out=None):
        """Exponential deviates with mean 1, float64 or float32, by NumPy's ziggurat or (any other method) by inversion."""
        return self._core.standard_exponential(size, dtype, method != "zig", out)

    def integers(self, low, high=None, size=None, dtype=np.int64, endpoint=False):
        """Integers from low to before high, or to high with endpoint; from 0 to before low without high."""
        return _python(self._core.integers(low, high, size, dtype, bool(endpoint)), size, dtype)

    def choice(self, a, size=None, replace=True, p=None, axis=0, shuffle=True):
        """Random elements of an array, or of range(a), with or without replacement, with probabilities p."""
        return self._choose(a, size, replace, p, axis, shuffle)

    def permutation(self, x, axis=0):
        """range(x), or a copy of the array, in random order along an axis."""
        return self._permuted(x, axis, np.exceptions.AxisError)

    def shuffle(self, x, axis=0):
        """Puts an array, or a list, in random order along an axis."""
        if is_array(x):
            self._core.shuffle(x, axis)
        else:
            self._shuffle(x, axis)


def default_rng(seed=None):
    """A Generator over PCG64 with the seed, or over the bit generator given."""
    if isinstance(seed, Generator):
        return seed
    if isinstance(seed, RandomState):
        seed = seed._bit_generator
    if type(seed).__name__ != "SeedSequence" and type(seed).__module__.startswith("numpy.random"):
        raise TypeError(f"[default_rng] expected a seed, or a bit generator of galop.random, whose streams are NumPy's; "
                        f"got NumPy's {type(seed).__name__}")
    return Generator(seed if isinstance(seed, BitGenerator) else PCG64(seed))


# ----------------------------------------------------------------------------------------------------------------------
# RandomState


class RandomState(_Distributions):
    """Random numbers from MT19937 by the frozen algorithms of numpy.random.RandomState."""

    def __init__(self, seed=None):
        if isinstance(seed, BitGenerator):
            bits = seed
        else:
            bits = MT19937(0)
            bits._legacy_seeding(seed)
        self._bit_generator = bits
        self._core = _core.RandomState(bits._core)

    def __reduce__(self):
        return _restored_state, (self._bit_generator, self.get_state(legacy=False))

    def seed(self, seed=None):
        """Starts the stream again."""
        if not isinstance(self._bit_generator, MT19937):
            raise TypeError(f"[seed] only MT19937 can be seeded again; got {type(self._bit_generator).__name__}")
        self._bit_generator._legacy_seeding(seed)
        self._core.set_gauss(False, 0.0)

    def get_state(self, legacy=True):
        """The stream's place: ("MT19937", key, pos, has_gauss, gauss), or a dict."""
        state = self._bit_generator.state
        state["has_gauss"], state["gauss"] = self._core.gauss()
        if not legacy or state["bit_generator"] != "MT19937":
            return state
        return "MT19937", state["state"]["key"], state["state"]["pos"], state["has_gauss"], state["gauss"]

    def set_state(self, state):
        """Goes to a place that get_state gave, of Galop or of NumPy."""
        if isinstance(state, (tuple, list)):
            if len(state) not in (3, 5):
                raise ValueError(f"[set_state] expected 3 or 5 entries; got {len(state)}")
            inner = {"key": state[1], "pos": state[2]}
            gauss = dict(zip(("has_gauss", "gauss"), state[3:]))
            state = {"bit_generator": state[0], "state": inner, **gauss}
        elif not isinstance(state, dict):
            raise TypeError(f"[set_state] expected a tuple or a dict; got {type(state).__name__}")
        self._bit_generator.state = state
        self._core.set_gauss(bool(state.get("has_gauss", 0)), float(state.get("gauss", 0.0)))

    def random_sample(self, size=None):
        """float64 numbers from 0 to before 1."""
        return self._core.random_sample(size)

    def random(self, size=None):
        """float64 numbers from 0 to before 1."""
        return self._core.random_sample(size)

    def rand(self, *args):
        """random_sample with the extents as arguments."""
        return self._core.random_sample(args if args else None)

    def standard_normal(self, size=None):
        """Normal deviates around 0 with standard deviation 1."""
        return self._core.standard_normal(size)

    def randn(self, *args):
        """standard_normal with the extents as arguments."""
        return self._core.standard_normal(args if args else None)

    def standard_exponential(self, size=None):
        """Exponential deviates with mean 1."""
        return self._core.standard_exponential(size)

    def randint(self, low, high=None, size=None, dtype=int):
        """Integers from low to before high, or from 0 to before low."""
        return _python(self._core.randint(low, high, size, dtype), size, dtype)

    def choice(self, a, size=None, replace=True, p=None):
        """Random elements of a 1-d array, or of range(a), with or without replacement, with probabilities p."""
        if np.ndim(a) > 1:
            raise ValueError(f"[choice] a must be 1-dimensional; got {np.ndim(a)} dimensions")
        return self._choose(a, size, replace, p, 0, True)

    def permutation(self, x):
        """range(x), or a copy of the array, in random order along its first axis."""
        return self._permuted(x, 0, IndexError)

    def shuffle(self, x):
        """Puts an array, or a list, in random order along its first axis."""
        if is_array(x):
            self._core.shuffle(x)
        else:
            self._shuffle(x, 0)


def _restored_state(bits, state):
    result = RandomState(bits)
    result.set_state(state)
    return result


# ----------------------------------------------------------------------------------------------------------------------
# The functions, over one RandomState, and PyTorch's stream

_global = RandomState()

bytes = _global.bytes
choice = _global.choice
exponential = _global.exponential
get_state = _global.get_state
normal = _global.normal
permutation = _global.permutation
rand = _global.rand
randint = _global.randint
randn = _global.randn
random = _global.random
random_sample = ranf = sample = _global.random_sample
seed = _global.seed
set_state = _global.set_state
shuffle = _global.shuffle
standard_exponential = _global.standard_exponential
standard_normal = _global.standard_normal
uniform = _global.uniform


def torch_uniform(size, low=0.0, high=1.0, *, seed):
    """float32 numbers from low to high as PyTorch has them on the CPU: torch.manual_seed(seed), then
    torch.empty(size).uniform_(low, high), or torch.rand(size)."""
    return _core.torch_uniform(size, low, high, operator.index(seed))
