"""Seed sequences and bit generators of galop.random: the same seeds, states and words as NumPy's."""

import operator
import os
import sys

import numpy as np

from ._common import core

_core = core.random


def _words(x):
    """The 32-bit words of a non-negative integer, low word first, or of a sequence of such integers."""
    if isinstance(x, np.ndarray) and x.dtype == np.uint32:
        return x.ravel().tolist()
    if isinstance(x, str):
        x = int(x, 16 if x.startswith("0x") else 10)
    if isinstance(x, (int, np.integer)):
        x = int(x)
        if x < 0:
            raise ValueError(f"[seed] expected a non-negative integer; got {x}")
        words = [x & 0xFFFFFFFF]
        while x := x >> 32:
            words.append(x & 0xFFFFFFFF)
        return words
    if isinstance(x, (float, np.inexact)):
        raise TypeError(f"[seed] expected an integer; got {x}")
    return [word for v in x for word in _words(v)]


class SeedSequence:
    """Mixes entropy into well distributed seeds, and spawns children whose seeds are independent."""

    def __init__(self, entropy=None, *, spawn_key=(), pool_size=4, n_children_spawned=0):
        if not isinstance(entropy, (int, np.integer, list, tuple, range, np.ndarray, type(None))):
            raise TypeError(f"[SeedSequence] entropy must be an integer or a sequence of integers; got {entropy!r}")
        if pool_size < 4:
            raise ValueError(f"[SeedSequence] pool_size must be at least 4; got {pool_size}")
        self.entropy = int.from_bytes(os.urandom(4 * pool_size), "little") if entropy is None else entropy
        self.spawn_key = tuple(spawn_key)
        self.pool_size = pool_size
        self.n_children_spawned = n_children_spawned
        self._core = _core.SeedSequence(_words(self.entropy), _words(self.spawn_key), pool_size)

    def __repr__(self):
        usual = {"spawn_key": (), "pool_size": 4, "n_children_spawned": 0}
        parts = [f"    {key}={value},\n" for key, value in self.state.items() if value != usual.get(key)]
        return f"{type(self).__name__}(\n{''.join(parts)})"

    def __reduce__(self):
        return _restored_sequence, (self.state,)

    @property
    def pool(self):
        return np.array(self._core.pool(), np.uint32)

    @property
    def state(self):
        return {key: getattr(self, key) for key in ("entropy", "spawn_key", "pool_size", "n_children_spawned")}

    def generate_state(self, n_words, dtype=np.uint32):
        """n_words random words of dtype uint32 or uint64, always the same."""
        dtype = np.dtype(dtype)
        if dtype not in (np.uint32, np.uint64):
            raise ValueError(f"[generate_state] dtype must be uint32 or uint64; got {dtype}")
        return np.array((self._core.generate32 if dtype == np.uint32 else self._core.generate64)(n_words), dtype)

    def spawn(self, n_children):
        """Children that no other call gives again."""
        first, self.n_children_spawned = self.n_children_spawned, self.n_children_spawned + n_children
        return [
            SeedSequence(self.entropy, spawn_key=(*self.spawn_key, i), pool_size=self.pool_size)
            for i in range(first, first + n_children)
        ]


def _restored_sequence(state):
    return SeedSequence(**state)


def _sequence(seed):
    """The seed sequence of what a bit generator may be seeded with."""
    if isinstance(seed, SeedSequence):
        return seed
    # Whoever has one of NumPy's has imported its module, which takes a while.
    numpy_random = sys.modules.get("numpy.random")
    if numpy_random and isinstance(seed, numpy_random.SeedSequence):
        return SeedSequence(**seed.state)
    return SeedSequence(seed)


class BitGenerator:
    """A stream of random bits; generators over the same object draw from the same stream."""

    def __init__(self, seed=None):
        if type(self) is BitGenerator:
            raise NotImplementedError("[BitGenerator] is the base of PCG64 and MT19937")
        self._seed_seq = _sequence(seed)
        self._core = self._seeded(self._seed_seq._core)

    @property
    def seed_seq(self):
        return self._seed_seq

    def __reduce__(self):
        return _restored_bits, (type(self), self._seed_seq, self.state)

    def random_raw(self, size=None, output=True):
        """The stream's own words, an integer or an array of uint64."""
        words = self._core.random_raw(size)
        return words if output else None

    def jumped(self, jumps=1):
        """A bit generator so far on that the streams do not meet."""
        jumps = operator.index(jumps)
        result = type(self)()
        result._core = self._core.jumped(jumps)
        return result

    def spawn(self, n_children):
        """Bit generators of the same kind from the seed sequence's children."""
        if self._seed_seq is None:
            raise TypeError("[spawn] the bit generator was not made from a seed sequence, so it has no children")
        return [type(self)(s) for s in self._seed_seq.spawn(n_children)]

    def _checked(self, state):
        if not isinstance(state, dict):
            raise TypeError(f"[state] expected a dict; got {type(state).__name__}")
        name = type(self).__name__
        if state.get("bit_generator", "") != name:
            raise ValueError(f"[state] expected the state of a {name}; got that of {state.get('bit_generator')!r}")
        return state


def _restored_bits(kind, seed_seq, state):
    bits = kind(0)
    bits._seed_seq, bits.state = seed_seq, state
    return bits


class PCG64(BitGenerator):
    """PCG XSL-RR 128/64: the bit generator of default_rng."""

    _seeded = staticmethod(_core.pcg64)

    @property
    def state(self):
        state, inc, has_uint32, uinteger = self._core.state()
        inner = {"state": state, "inc": inc}
        return {"bit_generator": "PCG64", "state": inner, "has_uint32": has_uint32, "uinteger": uinteger}

    @state.setter
    def state(self, value):
        inner = self._checked(value)["state"]
        self._core.set_pcg64(inner["state"], inner["inc"], bool(value["has_uint32"]), int(value["uinteger"]))

    def advance(self, delta):
        """The stream as after `delta` draws of 64 bits."""
        self._core.advance(delta)
        return self


class MT19937(BitGenerator):
    """The Mersenne Twister: the bit generator of RandomState."""

    _seeded = staticmethod(_core.mt19937)

    @property
    def state(self):
        key, pos = self._core.state()
        return {"bit_generator": "MT19937", "state": {"key": np.array(key, np.uint32), "pos": pos}}

    @state.setter
    def state(self, value):
        if isinstance(value, tuple):
            if value[0] != "MT19937" or len(value) not in (3, 5):
                raise ValueError(f"[state] expected the state of an MT19937; got that of {value[0]!r}")
            value = {"bit_generator": "MT19937", "state": {"key": value[1], "pos": value[2]}}
        inner = self._checked(value)["state"]
        self._core.set_mt19937(np.asarray(inner["key"], np.uint32).tolist(), int(inner["pos"]))

    def _legacy_seeding(self, seed):
        """As RandomState is seeded: by an integer below 2**32, an array of them, or None for the operating system."""
        if seed is None:
            self._core.seed_legacy(np.frombuffer(os.urandom(4 * 624), np.uint32).tolist(), True)
            return
        try:
            value = operator.index(np.squeeze(seed) if hasattr(seed, "squeeze") else seed)
            key = np.array([value], dtype=object)
        except TypeError:
            key = np.asarray(seed)
            if key.size == 0:
                raise ValueError("[seed] must not be empty") from None
            key = key.astype(np.int64, casting="safe")
            if key.ndim != 1:
                raise ValueError(f"[seed] an array of seeds must be 1-d; got shape {key.shape}") from None
            value = None
        if ((key < 0) | (key > 2**32 - 1)).any():
            raise ValueError(f"[seed] must be between 0 and 2**32 - 1; got {seed}")
        self._core.seed_legacy([int(word) for word in key], value is None)
        self._seed_seq = None
