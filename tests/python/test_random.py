"""Random numbers: NumPy's bits from RandomState, seed and default_rng; PyTorch's float32 uniform stream."""

import numpy as np
import pytest

import galop
from support import assert_alike, assert_same, host

SEEDS = [0, 1, 42, 12345, 2**32 - 1]
WIDE_SEEDS = [*SEEDS, 2**64 + 5, 10**30, [1, 2, 3], (0, 0), [2**32, 5]]
SIZES = [None, 0, 1, 2, 3, 5, (), (3,), (2, 3), (0, 4), 623, 624, 625, 1000, (30, 41), 20_011]


def torch_uniform(seed, size, low=0.0, high=1.0):
    """The only place that knows the name of Galop's stream."""
    return galop.random.torch_uniform(size, low, high, seed=seed)


LEGACY = {
    "random_sample": lambda g, n: g.random_sample(n),
    "random": lambda g, n: g.random(n),
    "uniform": lambda g, n: g.uniform(1, 100, n),
    "uniform of none": lambda g, n: g.uniform(size=n),
    "standard_normal": lambda g, n: g.standard_normal(n),
    "normal": lambda g, n: g.normal(3, 2.5, n),
    "randint": lambda g, n: g.randint(0, 10, n),
    "randint below": lambda g, n: g.randint(7, size=n),
    "randint wide": lambda g, n: g.randint(-(2**62), 2**62, n),
    "randint int8": lambda g, n: g.randint(-100, 100, n, dtype="i1"),
    "randint uint8": lambda g, n: g.randint(0, 256, n, dtype="u1"),
    "randint int16": lambda g, n: g.randint(-(2**15), 2**15, n, dtype="i2"),
    "randint uint16": lambda g, n: g.randint(3, 60_000, n, dtype="u2"),
    "randint int32": lambda g, n: g.randint(-5, 2**31, n, dtype="i4"),
    "randint uint32": lambda g, n: g.randint(0, 2**32, n, dtype="u4"),
    "randint uint64": lambda g, n: g.randint(0, 2**64, n, dtype="u8"),
    "randint bool": lambda g, n: g.randint(0, 2, n, dtype=bool),
}

MODERN = {
    "random": lambda g, n: g.random(n),
    "random float32": lambda g, n: g.random(n, dtype=np.float32),
    "uniform": lambda g, n: g.uniform(1, 100, n),
    "standard_normal": lambda g, n: g.standard_normal(n),
    "standard_normal float32": lambda g, n: g.standard_normal(n, dtype=np.float32),
    "normal": lambda g, n: g.normal(3, 2.5, n),
    "integers": lambda g, n: g.integers(0, 10, n),
    "integers below": lambda g, n: g.integers(7, size=n),
    "integers endpoint": lambda g, n: g.integers(1, 6, n, endpoint=True),
    "integers wide": lambda g, n: g.integers(-(2**62), 2**62, n),
    "integers int8": lambda g, n: g.integers(-100, 100, n, dtype="i1"),
    "integers uint8": lambda g, n: g.integers(0, 256, n, dtype="u1"),
    "integers int16": lambda g, n: g.integers(-5, 1000, n, dtype="i2"),
    "integers uint16": lambda g, n: g.integers(3, 60_000, n, dtype="u2"),
    "integers int32": lambda g, n: g.integers(-5, 2**31, n, dtype="i4"),
    "integers uint32": lambda g, n: g.integers(0, 2**32, n, dtype="u4"),
    "integers uint64": lambda g, n: g.integers(0, 2**64, n, dtype="u8"),
    "integers bool": lambda g, n: g.integers(0, 2, n, dtype=bool),
}


@pytest.mark.parametrize("draw", LEGACY.values(), ids=LEGACY)
def test_random_state(draw):
    for seed in SEEDS:
        for size in SIZES if seed in (0, 42) else SIZES[-3:]:
            assert_alike(lambda xp: draw(xp.random.RandomState(seed), size), context=f"seed {seed} size {size}")


@pytest.mark.parametrize("draw", MODERN.values(), ids=MODERN)
def test_default_rng(draw):
    for seed in WIDE_SEEDS:
        for size in SIZES if seed in (0, 42) else SIZES[-3:]:
            assert_alike(lambda xp: draw(xp.random.default_rng(seed), size), context=f"seed {seed} size {size}")


def test_random_state_of_many_seeds():
    for seed in [*SEEDS, [1, 2, 3], [0], np.array([5, 6], dtype="u4")]:
        assert_alike(lambda xp: xp.random.RandomState(seed).random_sample(10), context=repr(seed))
    for bad in (-1, 2**32, [2**32], "x"):
        assert_alike(lambda xp: xp.random.RandomState(bad).random_sample(1), context=repr(bad))


@pytest.mark.parametrize("draws", [LEGACY, MODERN], ids=["RandomState", "default_rng"])
def test_the_stream_continues_over_calls(draws):
    """Draws of different kinds and sizes after one another, which leave half-used words and normals behind."""
    make = "RandomState" if draws is LEGACY else "default_rng"
    order = np.random.default_rng(1).integers(0, len(draws), 300)
    sizes = np.random.default_rng(2).choice([1, 2, 3, 7, 100, 9001], 300, p=[0.3, 0.2, 0.2, 0.15, 0.13, 0.02])
    theirs, ours = getattr(np.random, make)(7), getattr(galop.random, make)(7)
    names = list(draws)
    for i, n in zip(order, sizes):
        draw = draws[names[i]]
        assert_same(draw(ours, int(n)), draw(theirs, int(n)), f"{names[i]} {n}")


def test_one_large_draw_is_many_small_ones():
    for make in (galop.random.RandomState, galop.random.default_rng):
        for name in ("random", "standard_normal"):
            whole = host(getattr(make(3), name)(30_001))
            g = make(3)
            parts = np.concatenate([host(getattr(g, name)(n)) for n in (1, 2, 8191, 8193, 1, 13_613)])
            assert parts.tobytes() == whole.tobytes()


def test_module_functions_share_one_stream():
    def run(xp):
        r = xp.random
        r.seed(0)
        first = (
            r.uniform(1, 100, (20, 30)),
            r.rand(3, 2),
            r.randn(5),
            r.random(4),
            r.standard_normal(3),
            r.normal(1, 2, 3),
        )
        second = r.randint(0, 100, 10), r.random_sample(2), r.rand(), r.randn()
        r.seed(5)
        return (*first, *second, r.random_sample(7), r.randn(2, 0))

    assert_alike(run)


def test_scalars_are_drawn_as_numpy_does():
    for make in ("RandomState", "default_rng"):
        theirs, ours = getattr(np.random, make)(11), getattr(galop.random, make)(11)
        for _ in range(50):
            assert float(ours.random()) == theirs.random()
            assert float(ours.standard_normal()) == theirs.standard_normal()
        integers = "randint" if make == "RandomState" else "integers"
        assert [int(getattr(ours, integers)(10)) for _ in range(50)] == [
            int(getattr(theirs, integers)(10)) for _ in range(50)
        ]


def test_parameters_that_are_arrays():
    def run(xp, make):
        g = getattr(xp.random, make)(3)
        low, high = xp.arange(3.0), xp.array([[5.0], [9.0]])
        return g.uniform(low, high), g.normal(low, 2.0), g.normal(0.0, xp.array([1.0, 2.0]), (4, 2))

    for make in ("RandomState", "default_rng"):
        assert_alike(run, make, context=make)


def test_without_a_seed_streams_differ():
    for make in (galop.random.default_rng, galop.random.RandomState):
        assert host(make().random(4)).tobytes() != host(make().random(4)).tobytes()


@pytest.mark.parametrize("call", [
    lambda g: g.randint(5, 5), lambda g: g.randint(6, 5), lambda g: g.randint(0, 300, dtype="u1"),
    lambda g: g.randint(-1, 5, dtype="u4"),
    lambda g: g.randint(0, 10, dtype="f4"), lambda g: g.normal(0, -1), lambda g: g.normal(0, -1, 3),
    lambda g: g.random_sample(-1),
    lambda g: g.random_sample((2, -3)), lambda g: g.uniform(0, np.inf), lambda g: g.uniform(-1e308, 1e308, 4),
    lambda g: g.random_sample(2**61),
    lambda g: g.random_sample(1.5), lambda g: g.standard_normal("x"),
])  # fmt: skip
def test_errors_of_random_state(call):
    assert_alike(lambda xp: call(xp.random.RandomState(1)))

    def after(xp):
        g = xp.random.RandomState(1)
        try:
            call(g)
        except (ValueError, TypeError, OverflowError, MemoryError):
            pass
        return g.random_sample(5)

    assert_alike(after, context="the stream after the error")


@pytest.mark.parametrize("call", [
    lambda g: g.integers(5, 5), lambda g: g.integers(6, 5), lambda g: g.integers(0, 300, dtype="u1"),
    lambda g: g.integers(0, 10, dtype="f4"),
    lambda g: g.normal(0, -1), lambda g: g.random(-1), lambda g: g.random(3, dtype="i4"),
    lambda g: g.random(3, dtype="f2"),
    lambda g: g.standard_normal(3, dtype="i4"), lambda g: g.uniform(0, np.nan, 3),
])  # fmt: skip
def test_errors_of_default_rng(call):
    assert_alike(lambda xp: call(xp.random.default_rng(1)))


def test_results_are_arrays_that_can_be_written_to():
    x = galop.random.default_rng(0).random((3, 4))
    want = np.random.default_rng(0).random((3, 4))
    x[1:] *= 2
    want[1:] *= 2
    assert isinstance(x, galop.ndarray)
    assert_same(x, want)
    assert_same(
        galop.random.RandomState(0).uniform(size=20_000).astype("f4").sum(),
        np.random.RandomState(0).uniform(size=20_000).astype("f4").sum(),
    )


# -- PyTorch's stream: one 32-bit word of MT19937 for each number, of which the low 24 bits count


def words(seed, n):
    return np.random.RandomState(seed).randint(0, 2**32, n, dtype="u4")


@pytest.mark.parametrize("seed", SEEDS)
def test_torch_uniform(seed):
    for size in (0, 1, 3, 15, 16, 17, 624, 1001, (3, 5), (30, 41), 20_011):
        n = int(np.prod(size))
        unit = (words(seed, n) & 0xFFFFFF).astype("f4") * np.float32(2.0**-24)
        assert_same(torch_uniform(seed, size), unit.reshape(size), f"{seed} {size}")
        # PyTorch's product and sum are one operation that rounds once (exact in float64 before).
        scaled = (unit.astype("f8") * 99 + 1).astype("f4")
        assert_same(torch_uniform(seed, size, 1.0, 100.0), scaled.reshape(size), f"{seed} {size} scaled")


def test_first_numbers_of_torch():
    """torch.manual_seed(0); torch.rand(5), as printed."""
    assert [round(v, 4) for v in torch_uniform(0, 5).tolist()] == [0.4963, 0.7682, 0.0885, 0.1320, 0.3074]
