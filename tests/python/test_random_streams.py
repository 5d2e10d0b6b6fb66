"""Bit generators, seed sequences, permutations and choices beside NumPy's; large fills, whose parts threads share; threads and copies."""

import copy
import pickle
import threading

import numpy as np
import pytest

import galop
from galop.testing import modes
from support import assert_alike, assert_same, host

MAKERS = ["RandomState", "default_rng"]
KINDS = ["PCG64", "MT19937"]


def both(make, seed=3):
    return getattr(np.random, make)(seed), getattr(galop.random, make)(seed)


def assert_same_state(ours, theirs):
    """The streams stand at the same place."""
    if hasattr(ours, "get_state"):
        ours, theirs = ours.get_state(legacy=False), theirs.get_state(legacy=False)
    else:
        ours, theirs = ours.bit_generator.state, theirs.bit_generator.state
    np.testing.assert_equal(ours, theirs)


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_large_fills_are_numpys_at_any_number_of_threads(threads):
    n = 5_000_001
    draws = {
        "RandomState": [lambda g: g.random_sample(n), lambda g: g.uniform(-3, 9, n)],
        "default_rng": [lambda g: g.random(n), lambda g: g.random(n, dtype=np.float32), lambda g: g.uniform(-3, 9, n)],
    }
    with modes(threads=threads):
        for make in MAKERS:
            theirs, ours = both(make)
            for draw in draws[make]:
                for g in (theirs, ours):  # leaves MT19937 inside a block, PCG64 with half a word
                    (g.random_sample if make == "RandomState" else lambda k: g.random(k, dtype=np.float32))(5)
                assert_same(draw(ours), draw(theirs), f"{make} {threads}")
                assert_same_state(ours, theirs)
        whole = host(galop.random.torch_uniform(n, 1, 100, seed=9))
    bits = np.random.RandomState(9).randint(0, 2**32, n, dtype="u4") & 0xFFFFFF
    assert_same(whole, (bits * 2.0**-24 * 99 + 1).astype("f4"))


@pytest.mark.parametrize("make", MAKERS)
@pytest.mark.parametrize("draw", [
    lambda g, xp: g.permutation(100), lambda g, xp: g.permutation(0), lambda g, xp: g.permutation(-3),
    lambda g, xp: g.permutation(xp.arange(50.0)), lambda g, xp: g.permutation(xp.arange(60).reshape(12, 5)),
    lambda g, xp: g.permutation([5, 6, 7, 8]), lambda g, xp: g.permutation(xp.zeros((0, 3))), lambda g, xp: g.permutation(2.5),
    lambda g, xp: g.choice(1000, 50), lambda g, xp: g.choice(1000, (5, 4), replace=False), lambda g, xp: g.choice(7),
    lambda g, xp: g.choice(7, ()), lambda g, xp: g.choice(xp.arange(9.0), 20), lambda g, xp: g.choice([1.5, 2.5, 9], (2, 3)),
    lambda g, xp: g.choice(4, 1000, p=[0.1, 0.2, 0.3, 0.4]), lambda g, xp: g.choice(4, 2, replace=False, p=[0.1, 0.2, 0.3, 0.4]),
    lambda g, xp: g.choice(3, 9, p=xp.array([0.1, 0.2, 0.7], dtype="f4")), lambda g, xp: g.choice(100_000, 20, replace=False),
    lambda g, xp: g.choice(100_000, 9000, replace=False), lambda g, xp: g.choice(0, 3), lambda g, xp: g.choice(0, 0),
    lambda g, xp: g.choice(3, 4, replace=False), lambda g, xp: g.choice(3, p=[0.5, 0.5]), lambda g, xp: g.choice(2, p=[0.5, 0.6]),
    lambda g, xp: g.choice(2, p=[1.5, -0.5]), lambda g, xp: g.choice(xp.array(3)), lambda g, xp: g.choice(2.5),
    lambda g, xp: g.standard_exponential(1000), lambda g, xp: g.exponential(3.5, 700), lambda g, xp: g.exponential(xp.arange(4.0)),
    lambda g, xp: g.exponential(-1.0), lambda g, xp: g.exponential(), lambda g, xp: g.standard_exponential(),
    lambda g, xp: g.uniform(xp.arange(3.0), size=(4, 3)), lambda g, xp: g.uniform(xp.arange(3.0), size=4),
    lambda g, xp: g.normal(xp.arange(3.0), size=()), lambda g, xp: g.normal([0.0, 1.0], [1.0, -1.0]),
    lambda g, xp: g.uniform([0.0, 1.0], [1.0, np.inf]), lambda g, xp: g.uniform(xp.array(2.0), 5), lambda g, xp: g.uniform(1j),
])  # fmt: skip
def test_permutations_choices_and_parameters(make, draw):
    assert_alike(lambda xp: draw(getattr(xp.random, make)(3), xp))

    def after(xp):
        g = getattr(xp.random, make)(3)
        try:
            draw(g, xp)
        except (ValueError, TypeError, OverflowError, IndexError):
            pass
        return g.random(3)

    assert_alike(after, context="the stream afterwards")


def test_what_only_generators_do():
    def run(draw):
        assert_alike(lambda xp: draw(xp.random.default_rng(5), xp))

    x = np.arange(60).reshape(3, 4, 5)
    run(lambda g, xp: g.permutation(xp.array(x), axis=1))
    run(lambda g, xp: g.choice(xp.array(x), 6, axis=2))
    run(lambda g, xp: g.choice(xp.array(x)))
    run(lambda g, xp: g.choice(500, 60, replace=False, shuffle=False))
    run(lambda g, xp: g.permutation(xp.array(x), axis=3))
    for method in ("zig", "inv"):
        run(lambda g, xp: g.standard_exponential(999, method=method))
        run(lambda g, xp: g.standard_exponential(999, dtype="f4", method=method))
    run(lambda g, xp: (out := xp.zeros((3, 4)), g.random(out=out))[0])
    run(lambda g, xp: (out := xp.zeros(7, dtype="f4"), g.standard_normal(7, dtype="f4", out=out))[0])
    run(lambda g, xp: g.random(3, out=xp.zeros(4)))
    run(lambda g, xp: g.random(out=xp.zeros(4, dtype="f4")))
    run(lambda g, xp: g.random(out=xp.zeros(8)[::2]))
    run(lambda g, xp: g.random(out=[1.0]))


@pytest.mark.parametrize("make", MAKERS)
def test_bounds_that_are_arrays(make):
    name = "randint" if make == "RandomState" else "integers"
    for low, high, dtype in [
        ([0, 5, 9], 10, int), (0, [[3], [300]], "i8"), ([-128, 0], [128, 1], "i1"), ([0, 1], [2, 2], bool), (0, [9, 2**32], "u4"),
        ([1, 5], [9, 5], int), (0, [300], "u1"), ([-1], 4, "u8"), (0, [2**63 - 1], "i8"), (0, [2.9, 7.1], int),
        ([], 5, int), (np.array(3), np.array(9), int), (0, np.array([2**63 + 5], dtype="u8"), "u8"),
    ]:  # fmt: skip
        def run(xp, size=None):
            g = getattr(xp.random, make)(8)
            draw = getattr(g, name)
            bounds = [xp.array(b) if isinstance(b, (list, np.ndarray)) else b for b in (low, high)]
            return draw(*bounds, size, dtype=dtype), g.random(2)

        assert_alike(run, context=f"{low} {high} {dtype}")
        assert_alike(lambda xp: run(xp, (4, 2, 3)), context=f"{low} {high} {dtype} with a size")


@pytest.mark.parametrize("make", MAKERS)
def test_shuffle_in_place(make):
    def run(xp, x, *axis):
        getattr(xp.random, make)(4).shuffle(x, *axis)
        return x

    data = np.arange(84).reshape(7, 4, 3)
    for cut in (slice(None), (slice(None), 0, 0), (slice(None, None, -2), 1, 2), slice(0, 0)):
        assert_alike(lambda xp: run(xp, xp.array(data)[cut]), context=str(cut))
    if make == "default_rng":
        assert_alike(lambda xp: run(xp, xp.array(data), 2))
        assert_alike(lambda xp: run(xp, list(range(9)), 1))
    assert_alike(lambda xp: run(xp, xp.array(data, dtype="f2")[::2]))
    assert run(np, list("Galop")) == run(galop, list("Galop"))
    assert_alike(lambda xp: run(xp, (1, 2)))
    assert_alike(lambda xp: run(xp, 3))
    foreign = np.arange(50)  # a NumPy array of the user
    run(galop, foreign)
    assert_same(foreign, run(np, np.arange(50)))
    before = galop.arange(5)
    run(galop, after := before[:])
    assert (host(before) == host(after)).all()
    with pytest.raises(ValueError):
        run(galop, galop.broadcast_to(galop.arange(3), (4, 3)))


def test_other_types_come_back_as_numpys():
    words = ["a", "b", "c", "d"]
    for make in MAKERS:
        theirs, ours = both(make)
        assert list(ours.permutation(words)) == list(theirs.permutation(words))
        assert list(ours.choice(words, 9)) == list(theirs.choice(words, 9))
        assert ours.choice(words) == theirs.choice(words)
        for _ in range(5):
            for n in (0, 1, 4, 7, 1000, (1 << 21) + 3):
                assert ours.bytes(n) == theirs.bytes(n)


@pytest.mark.parametrize("kind", KINDS)
def test_bit_generators(kind):
    for seed in (0, 12345, 2**70, [1, 2, 2**40], np.array([7, 8], dtype="u4")):
        theirs, ours = getattr(np.random, kind)(seed), getattr(galop.random, kind)(seed)
        np.testing.assert_equal(ours.state, theirs.state)
        assert ours.random_raw() == theirs.random_raw()
        assert_same(ours.random_raw((2, 3)), theirs.random_raw((2, 3)))
        assert ours.random_raw(4, False) is None and theirs.random_raw(4, False) is None
        for jumps in (1, 3):
            np.testing.assert_equal(ours.jumped(jumps).state, theirs.jumped(jumps).state)
        for a, b in zip(ours.spawn(3), theirs.spawn(3)):
            np.testing.assert_equal(a.state, b.state)
        a, b = galop.random.Generator(ours), np.random.Generator(theirs)
        assert_same(a.random(5), b.random(5))
        assert_same(a.integers(0, 9, 5, dtype="i4"), b.integers(0, 9, 5, dtype="i4"))
        for x, y in zip(a.spawn(2), b.spawn(2)):
            assert_same(x.standard_normal(5), y.standard_normal(5))
        c, d = galop.random.RandomState(ours), np.random.RandomState(theirs)
        assert_same(c.randn(5), d.randn(5))
        np.testing.assert_equal(ours.state, theirs.state)
        moved = getattr(galop.random, kind)(1)
        moved.state = theirs.state  # NumPy's state moves into Galop, and back
        assert_same(galop.random.Generator(moved).random(5), np.random.Generator(theirs).random(5))
        theirs.state = ours.state
    if kind == "PCG64":
        for delta in (1, 10**30, -5):
            np.testing.assert_equal(ours.advance(delta).state, theirs.advance(delta).state)
    for bad, error in ((3, TypeError), ({"bit_generator": "SFC64"}, ValueError)):
        for g in (ours, theirs):
            with pytest.raises(error):
                g.state = bad
    for bad in (-1, 1.5, "x", [1, -2]):
        assert_alike(lambda xp: galop.array(getattr(xp.random, kind)(bad).random_raw()), context=repr(bad))


def test_seed_sequences():
    for args, kw in [((0,), {}), ((2**100,), {}), (([1, 2**40],), {}), ((5,), {"spawn_key": (3, 2**33)}), ((5,), {"pool_size": 8})]:
        ours, theirs = galop.random.SeedSequence(*args, **kw), np.random.SeedSequence(*args, **kw)
        for dtype in ("u4", "u8"):
            got = ours.generate_state(9, dtype)
            assert got.dtype == np.dtype(dtype) and got.tolist() == theirs.generate_state(9, dtype).tolist()
        assert ours.pool.tolist() == theirs.pool.tolist()
        ours.spawn(2), theirs.spawn(2)
        for a, b in zip(ours.spawn(2), theirs.spawn(2)):
            assert a.state == b.state and a.generate_state(3).tolist() == b.generate_state(3).tolist()
        assert ours.state == theirs.state
        assert repr(ours) == repr(theirs)
        assert galop.random.PCG64(theirs).state == np.random.PCG64(theirs).state
    for bad in (1.5, "x"):
        assert_alike(lambda xp: galop.array(xp.random.SeedSequence(bad).generate_state(1)), context=repr(bad))
    assert_alike(lambda xp: galop.array(xp.random.SeedSequence(1).generate_state(1, "i4")))
    assert_alike(lambda xp: galop.array(xp.random.SeedSequence(1, pool_size=3).generate_state(1)))


def test_places_of_random_state():
    theirs, ours = both("RandomState")
    for g in (theirs, ours):
        g.randn(3)
    place = ours.get_state()
    np.testing.assert_equal(place, theirs.get_state())
    want = theirs.randn(4)
    assert_same(ours.randn(4), want)
    for state in (place, place[:3], ours.get_state(legacy=False)):
        ours.set_state(state), theirs.set_state(state)
        assert_same(ours.randn(4), theirs.randn(4))
    for bad, error in ((3, TypeError), (("PCG64", *place[1:]), ValueError)):
        for g in (theirs, ours):
            with pytest.raises(error):
                g.set_state(bad)
    for bad in ((place[0], place[1][:9], 5), (place[0], place[1], 625), place[:2]):
        with pytest.raises(ValueError):
            ours.set_state(bad)
    assert_same_state(ours, theirs)
    galop.random.set_state(np.random.RandomState(6).get_state())
    assert_same(galop.random.rand(3), np.random.RandomState(6).rand(3))
    assert galop.random.get_state()[0] == "MT19937"
    with pytest.raises(TypeError):
        galop.random.RandomState(galop.random.PCG64(1)).seed(3)


def test_default_rng_of_generators():
    g = galop.random.default_rng(1)
    assert galop.random.default_rng(g) is g
    assert galop.random.default_rng(g.bit_generator).bit_generator is g.bit_generator
    state = galop.random.RandomState(3)
    assert_same(galop.random.default_rng(state).random(3), np.random.default_rng(np.random.RandomState(3)).random(3))
    with pytest.raises(TypeError):
        galop.random.Generator(3)


@pytest.mark.parametrize("duplicate", [copy.copy, copy.deepcopy, lambda g: pickle.loads(pickle.dumps(g))])
def test_copies_continue_the_stream(duplicate):
    for g in (*(both(make)[1] for make in MAKERS), galop.random.Generator(galop.random.MT19937(4))):
        g.standard_normal(3)
        again = duplicate(g)
        g = duplicate(g) if duplicate is copy.copy else g  # a shallow copy draws from the same stream
        want = copy.deepcopy(g).standard_normal(5)
        assert_same(again.standard_normal(5), want)
    seeds = duplicate(galop.random.SeedSequence(3, spawn_key=(1,)))
    assert seeds.generate_state(2).tolist() == np.random.SeedSequence(3, spawn_key=(1,)).generate_state(2).tolist()


def test_threads_share_a_stream():
    g, n, parts = galop.random.default_rng(2), 40_000, []
    workers = [threading.Thread(target=lambda: parts.extend(host(g.random(n)) for _ in range(20))) for _ in range(4)]
    for w in workers:
        w.start()
    for w in workers:
        w.join()
    whole = np.random.default_rng(2).random(80 * n).reshape(80, n)
    assert sorted(p[0] for p in parts) == sorted(whole[:, 0])
    assert np.sort(np.concatenate(parts)).tobytes() == np.sort(whole, axis=None).tobytes()


def test_torch_uniform_errors():
    for low, high, error in ((2, 1, ValueError), (-3e38, 3e38, OverflowError), (0, np.inf, OverflowError)):
        with pytest.raises(error):
            galop.random.torch_uniform(3, low, high, seed=0)
    with pytest.raises(TypeError):
        galop.random.torch_uniform(3)
    with pytest.raises(ValueError):
        galop.random.torch_uniform(-3, seed=0)
    # The low 32 bits are the seed.
    assert_same(galop.random.torch_uniform(3, seed=-1), galop.random.torch_uniform(3, seed=2**32 - 1))


def test_generators_of_numpy_are_named():
    for theirs in (np.random.PCG64(1), np.random.default_rng(1), np.random.RandomState(1)):
        with pytest.raises(TypeError, match=f"got NumPy's {type(theirs).__name__}"):
            galop.random.default_rng(theirs)
    assert galop.random.default_rng(np.random.SeedSequence(3)).random() == np.random.default_rng(3).random()


def test_a_legacy_seed_has_no_children():
    for module in (np.random, galop.random):
        bits = module.RandomState(3)._bit_generator
        assert bits.seed_seq is None
        with pytest.raises(TypeError):
            bits.spawn(1)
        assert pickle.loads(pickle.dumps(bits)).seed_seq is None
