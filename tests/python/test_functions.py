"""Functions made of others (rolls, splits, picks, differences, statistics, grids) against NumPy: values to the bit,
dtypes, shapes, kinds of errors. test_calc.py and tests/cpp/functions_test.cpp compare their C++ side."""

import builtins

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from support import assert_alike

nan, inf = np.nan, np.inf
_random = np.random.default_rng(3)


def _halves(*shape, dtype="f8"):
    return (_random.integers(-9, 10, shape) * (0.5 if dtype[0] in "fc" else 1)).astype(dtype)


NAMES = {
    "v": _halves(7), "m": _halves(4, 5), "c": _halves(2, 3, 4), "w3": _halves(3, 3), "e": np.zeros((0, 3)),
    "f": np.asfortranarray(_halves(3, 4)), "t": _halves(4, 5).T, "s": np.float32(2.5), "h": _halves(6, dtype="f2"),
    "i": _halves(6, dtype="i4"), "u": np.abs(_halves(3, 3, dtype="i8")).astype("u1"), "b": _halves(5, dtype="i8") > 0,
    "z": _halves(4) + 1j * _halves(4), "nz": np.array([1 + 1j, nan, 2 - 3j]),
    "n": np.array([[1, nan, 3], [inf, -inf, nan], [0, 2, -1.5]], "f4"),
}  # fmt: skip

CALLS = """
    lib.stride_tricks.sliding_window_view(v, 3); lib.stride_tricks.sliding_window_view(m, 2, 1);
    lib.stride_tricks.sliding_window_view(m, (2, 3)); lib.stride_tricks.sliding_window_view(m, 2);
    lib.stride_tricks.sliding_window_view(m, 9, 0); lib.stride_tricks.sliding_window_view(m, (2, 1), (1, 0));
    lib.stride_tricks.sliding_window_view(e, 0, 0); lib.stride_tricks.sliding_window_view(m, -1, 0);
    roll(v, 2); roll(v, -9); roll(m, 3); roll(m, 1, 0); roll(m, (1, 2), (0, 1)); roll(m, 1, (0, 1)); roll(m, (1, 2), 1);
    roll(m, (1,2)); roll(f, 0); roll(f, 0, 0); roll(f, 5, 1); roll(e, 1); roll(e, 1, 1); roll(m, (1,2,3), (0,1));
    roll(m, 1, 2); roll(t, 1, -1); roll(v, np.int64(2)); roll(v, 2.7); roll(s, 1); roll(c, [1, -1], [0, 2]);
    roll([1,2,3], 1); roll(v, np.array([1, 1]), 0); roll(b, 1);
    array_split(v, 3); array_split(v, [2, 4]); array_split(m, 2, 1); array_split(v, 0); array_split(v, -1);
    array_split(v, [5, 2]); array_split(v, np.array([1, 3])); split(v, 7); split(v, 3);
    split(v, 0); split(v, [1, 2]); split(m, 2); split(m, 5, -1); split(v, -7); split(v, ());
    split(m, np.int64(2)); split(v, np.array(7)); split(v, [1, 20]); split(v, -1);
    hsplit(v, 7); hsplit(m, 5); hsplit(m, [1]); hsplit(s, 1); vsplit(m, 2); vsplit(v, 7); vsplit(m, (1, 3));
    dsplit(c, 2); dsplit(m, 1); dsplit(c, [1]); unstack(m); unstack(m, axis=1); unstack(c, axis=-1); unstack(s);
    unstack(m, axis=5); unstack(e);
    atleast_1d(s); atleast_2d(v); atleast_3d(v); atleast_3d(m); atleast_1d(s, v); atleast_2d(3, [1, 2]); atleast_3d(s);
    atleast_3d(c);
    concatenate([v, v]); concatenate((v, i)); concatenate((m, m), 1); concatenate((m, m), None); concatenate((m, v));
    concatenate([]); concatenate((v, v), dtype='f4'); concatenate((v, v), dtype='i4', casting='unsafe');
    concatenate((i, i), out=A(12)); concatenate((v, v), out=A(13)); concatenate((v, v), out=A(14), dtype='f8');
    concat([v, i]); stack([v, v]); stack([v, v], 1); stack([v, v], -1, dtype='f4'); stack([v, i]); stack([v, v], 5);
    stack([v,v], out=A(2,7)); vstack([v, v]); hstack([v, v]); hstack([m, m]); vstack([m, t.T]); dstack([v, v]);
    dstack([m, m]); column_stack([v, v]); column_stack([m, m]); hstack([s, s]); vstack([v, v], dtype='f4');
    hstack([v, 3]); append(v, 3); append(m, m, 1); append(m, v); append(m, v, 0); append(v, [1, 2]);
    delete(v, 2); delete(v, -1); delete(v, [0, 3]); delete(v, slice(1, 5, 2)); delete(m, 1, 0); delete(m, [1, 2], 1);
    delete(m, 3); delete(v, 9); delete(v, -9); delete(b, b); delete(v, b); delete(v, []);
    delete(m, slice(None, None, -2), 1); delete(v, [[1, 2], [3, 4]]); delete(m, 1, 4); delete(v, 1.0); delete(v, True);
    delete(f, 1, 0); delete(c, -1, 1); delete(v, slice(10)); delete(v, np.array([1, 1])); delete(v, [1.0, 2.0]);
    delete(v, (0,));
    take(v, 2); take(v, [0, -1]); take(v, [[0, 1], [2, 3]]); take(m, [1, 2], 0); take(m, 1, 1); take(m, [0, 7]);
    take(c, [[0, 1]], 1); take(v, 9); take(v, [9, -9], mode='wrap'); take(v, [9, -9], mode='clip');
    take(v, [9], mode='x'); take(v, []); take(e, [0], 0); take(e, [], 0); take(v, [True, False]); take(v, 2, out=A(()));
    take(v, [1, 2], out=A(2)); take(v, [1, 2], out=A(3)); take(m, [0, 1], 2); take(f, [0, 2], 1);
    take(v, np.array([1, 2], 'u1')); take(v, np.array([1, 2], 'u8')); take(m, [1, 2], 0, mode='wrap');
    take(e, [0], 0, mode='wrap'); take(3, 0); take(t, [1, 0], 0);
    take_along_axis(m, np.argsort(-abs(m), 1), 1); take_along_axis(v, np.array([1, 2]), None);
    take_along_axis(m, np.array([[0], [1], [2], [3]]), 1); take_along_axis(m, np.array([1]), 1);
    compress([True, False, True], v); compress([1, 0, 1], m, 1); compress([1, 0], m, 0); compress(m, m);
    compress([0, 1, 1], m, 1, out=A(4, 2)); compress([1] * 9, v); extract(m > 0, m); extract([1, 0, 1, 0, 1, 0, 1], v);
    flatnonzero(m); flatnonzero([0, 1, 2]); flatnonzero(s);
    round(v); round(v, 1); round(v / 3, 2); round(i, -1); round(i, 1); round(b); round(m, -1);
    round(v / 3, 2, out=A(7)); round(i, out=A(6)); round(3.567, 1); round(h / 3, 1); round(u, -1);
    isclose(v, v + 1e-9); isclose(v, v[::-1]); isclose(n, n); isclose(n, n, equal_nan=True); isclose(i, i);
    isclose(v, v, rtol=0, atol=0); isclose(1, 1 + 1e-9); isclose(v, v + 1e-3, rtol=np.full(7, 1e-2));
    isclose(v, v + 1e-3, atol=1); isclose(b, b); isclose(z, z); isclose(n, 1.0); isclose(m, v);
    isclose([1, nan], [1, nan], equal_nan=True); isclose(i, i + 1, rtol=1); isclose(h, h);
    allclose(v, v); allclose(v, v + 1); allclose(n, n); allclose(n, n, equal_nan=True); allclose([], []);
    allclose(m, 0, atol=100); allclose(m, v); array_equal(v, v); array_equal(v, m); array_equal(n, n);
    array_equal(n, n, equal_nan=True); array_equal([1, 2], [1, 2]); array_equal(None, v); array_equiv(v, v[:1]);
    array_equiv([1, 1], 1); array_equiv(m, v); array_equiv(s, 2.5); array_equal(object(), v);
    angle(v); angle(i); angle(1j); iscomplex(z); iscomplex(v); iscomplex(2j); isreal(z);
    isreal(v); isreal(b); isposinf(n); isneginf(n); isposinf(i); isposinf(n, A(3, 3) > 0); isneginf(inf);
    isposinf(n, A(2) > 0); sinc(v); sinc(0.0); sinc(i); sinc(z);
    nan_to_num(n); nan_to_num(n, nan=7); nan_to_num(n, nan=7., posinf=1, neginf=-1); nan_to_num(i); nan_to_num(nz);
    nan_to_num(nan); nan_to_num(inf); nan_to_num([1, nan]); nan_to_num(n, nan=np.arange(3.)); nan_to_num(n, copy=False);
    nan_to_num(b); nan_to_num(n.astype('f2')); nan_to_num(n, posinf=np.array([1., 2, 3]));
    diff(v); diff(v, 2); diff(m, axis=0); diff(m, 1, 1); diff(b); diff(v, 0); diff(v, -1); diff(s); diff(v, prepend=0);
    diff(v, append=[1, 2]); diff(m, prepend=0, axis=0); diff(m, append=m[:, :1]); diff(m, append=v);
    diff(i, prepend=0.5); diff(u); diff(v, 9); diff(m, axis=3); diff(i, prepend=0); diff(v, 0, prepend=1);
    diff(b, prepend=False);
    trapezoid(v); trapezoid(m); trapezoid(m, axis=0); trapezoid(v, dx=0.5); trapezoid(v, v * v); trapezoid(m, m);
    trapezoid(m, np.arange(5)); trapezoid(m, np.arange(4), axis=0); trapezoid(i); trapezoid(z); trapezoid(v, dx=2j);
    trapezoid(c, np.arange(3), axis=1); trapezoid(n); trapezoid(v, dx=np.arange(6));
    trapezoid([1, 2, 3]); trapezoid(h); trapezoid(v, 1.0); trapezoid(m, m, axis=0);
    cross([1, 2, 3], [4, 5, 6]); cross(w3, w3[::-1]); cross(w3, [1, 2, 3]); cross(w3, w3.T, axis=0);
    cross(w3, w3 + 1, axisa=0); cross(w3, w3 + 1, axisc=0); cross(m, m); cross(s, s); cross(u, u);
    cross(w3, w3 + 1, axisb=0, axisc=0); cross(w3, w3, axis=3); cross(c.T[:3], c.T[1:], axis=0);
    vdot(v, v); vdot(z, z); vdot(m, m); vdot(2, 3); inner(v, v); inner(2, v); inner(m, m); inner(m, v); outer(v, i);
    outer(v, v, A(7, 7)); outer(m, 2); outer(v, v, A(7)); vecdot(m, m); vecdot(m, m, axis=0); vecdot(m, m, A(4));
    matvec(m, m[0]); vecmat(m[:, 0], m); matvec(m, m[0], A(4)); vecmat(m[:, 0], m, A(5)); matvec(m, m[0], A(3));
    vecdot(z, z);
    ptp(v); ptp(m, 0); ptp(m, 1, keepdims=True); ptp(m, (0, 1)); ptp(m, 0, A(5)); ptp(i); ptp(n); ptp(m, 4); ptp(e);
    ptp(u); ptp(m, 0, A(4));
    average(v); average(m, 0); average(v, weights=abs(v)); average(m, 1, [1, 2, 3, 4, 5]);
    average(m, weights=abs(m), returned=True); average(v, returned=True); average(m, 0, returned=True);
    average(m, 1, returned=True, keepdims=True); average(i, weights=[1, 2, 3, 4, 5, 6]); average(v, weights=[1, 2]);
    average(m, weights=[1, 2, 3, 4, 5]); average(m, 0, [1, 2, 3, 4, 5]); average(v, weights=v * 0);
    average(c, (0, 2), np.arange(8).reshape(2, 4)); average(c, (2, 0), np.arange(8).reshape(4, 2));
    average(c, (1, 2), np.arange(12.).reshape(3, 4), keepdims=True); average(z, weights=[1, 2, 3, 4]);
    average(u, weights=u + 1); average(h, weights=h * h); average(i, returned=True); average(m, 7);
    average(m, 0, abs(m), returned=True); average(np.array([200], 'u1'), weights=np.array([2], 'u1'));
    average(m, -1, [1, 2, 3, 4, 5], returned=True); average([1, 2, 3], weights=[1.5, 2, 3]);
    cumsum(v); cumsum(m); cumsum(m, 1); cumsum(i); cumsum(b); cumsum(u, 0); cumsum(v, dtype='f4'); cumsum(v, out=A(7));
    cumsum(v, out=A(6)); cumsum(m, 3); cumsum(s); cumprod(v); cumprod(i); cumprod(m, 0); cumprod(u); cumulative_sum(v);
    cumulative_sum(m); cumulative_sum(m, axis=1); cumulative_sum(m, axis=0, include_initial=True);
    cumulative_sum(i, include_initial=True, dtype='f4'); cumulative_prod(v, include_initial=True);
    cumulative_prod(i, axis=0); cumulative_sum(v, out=A(7)); cumulative_sum(v, include_initial=True, out=A(8));
    cumulative_sum(v, include_initial=True, out=A(7)); cumulative_sum(b, include_initial=True);
    cumsum(m, -1, out=A(4, 5).astype('f4'));
    trace(m); trace(m, 1); trace(m, -2); trace(c); trace(c, 0, 1, 2); trace(i); trace(u); trace(m, dtype='f4');
    trace(c, out=A(4)); trace(m, out=A(())); trace(m, 0, 1, 0); trace(m, 0, 0, 0);
    nansum(n); nansum(n, 0); nansum(n, 1, keepdims=True); nansum(n, dtype='f8'); nansum(i); nansum(n, 0, out=A(3));
    nansum(n, initial=2); nansum(n, where=n > 0); nansum(nz); nansum(b); nanprod(n); nanprod(n, 1); nanprod(i);
    nanmin(n); nanmin(n, 0); nanmin(i); nanmax(n); nanmax(n, 1, keepdims=True); nanmax(n, 0, A(3));
    nanmin(n, 1, initial=-5, where=n < 9); nanmax(n, 9); nanmin(e); nanmax(b);
    nanmean(n); nanmean(n, 0); nanmean(n, 1, keepdims=True); nanmean(i); nanmean(n, 0, out=A(3)); nanmean(n, 0, 'f8');
    nanmean(n, where=n > 0); nanmean([nan, nan]); nanmean(nz); nanmean(n.astype('f2'), 0); nanmean(n, 0, out=A(2));
    nanmean(n, 0, out=A(3).astype('i4')); nanvar(n[2:]); nanvar(n[:1]); nanvar(n[::2], 0); nanvar(n[::2], 1, ddof=1);
    nanvar(n[::2], 1, correction=1); nanvar(i); nanvar(i, ddof=1); nanvar(n[::2], 0, keepdims=True, ddof=0.5);
    nanvar(nz); nanvar(n[:1], where=n[:1] > 1); nanvar(n[:1], ddof=2); nanvar(n[:1], ddof=5); nanvar(n[::2], 0, 'f8');
    nanstd(n[::2]); nanstd(n[::2], 0, ddof=1); nanstd(nz); nanstd(i, keepdims=True); nanstd(n[::2].astype('f2'), 1);
    nanvar(n, 0);
    
    logspace(0, 3, 4); logspace(0, 3, 4, base=2); logspace(0, 3, 4, base=2.5, dtype='f4'); logspace(0, [1, 2], 3);
    logspace(0, [1, 2], 3, axis=1); logspace(0, 3, 4, base=[2, 3]); logspace(0, 3, 4, dtype=int);
    logspace(0, 3, 4, base=[2, 3], axis=-1); logspace([0, 1], [3, 4], 4, base=[2, 3]);
    logspace([0, 1], [3, 4], 4, base=[[2], [3]]); logspace(0, 3, -1); logspace(0, 1j, 3);
    logspace(np.float32(0), np.float32(3), 4);
    geomspace(1, 1000, 4); geomspace(1, 256, 9, dtype=int); geomspace(-1, -1000, 4); geomspace(0, 1);
    geomspace([1, 2], [8, 32], 4); geomspace([1, 2], [8, 32], 4, axis=1); geomspace(1j, 1000j, 4); geomspace(1, 1, 3);
    geomspace(1, 2, 0); geomspace(1, 2, 1); geomspace(np.float32(1), np.float32(8), 4); geomspace(1, [2, 0]);
    geomspace(1, 2, -3);
    eye(3); eye(3, 4, 1); eye(3, k=-1, dtype=int); eye(3, order='F'); eye(2, 3, order='F', dtype=bool);
    identity(3, 'f4'); eye(0); eye(3, 0);
    meshgrid(v, i); meshgrid(v, i, indexing='ij'); meshgrid(v, i, sparse=True); meshgrid(v, i, sparse=True, copy=False);
    meshgrid(v); meshgrid(); meshgrid(v, i, u); meshgrid(v, i, u, indexing='ij', sparse=True);
    meshgrid(v, i, indexing='x'); meshgrid(3, [1, 2]); meshgrid(m, v[:2]); meshgrid(e, v);
    indices((2, 3)); indices((2, 3), 'f4'); indices((2, 3), sparse=True); indices(()); indices((3,)); indices((2, 0));
    indices((2, 3), sparse=True, dtype='i4'); indices([2, 2]); indices((), sparse=True); indices((2, 2), bool);
    ix_([0, 1], [2, 3]); ix_([True, False, True], [1]); ix_([], [1]); ix_(m); ix_(); ix_([1.5]); ix_(range(3), [0]);
    tri(3); tri(3, 4); tri(3, k=1); tri(3, 4, -1, int); tri(3, dtype=bool); tri(3, -2); tri(-1); tri(0); tri(2, 0);
    tri(3, 3, 9); tril(m); triu(m); tril(m, 1); triu(m, -1); tril(v); triu(v, 1); tril(c); triu(u);
    tril(z.reshape(2, 2)); tril(s); triu(i); tril(b.reshape(1, 5)); triu([[1, 2], [3, 4]]);
    diag(v); diag(v, 1); diag(v, -2); diag(m); diag(m, 1); diag(c); diag(s); diag(i); diag([1, 2]); diagflat(m);
    diagflat([1, 2], 1); diagflat(s); diag(z, -1); diag(b); diag(m, 9); diag(m, -9); diag(e);
"""


class _Namespace(dict):
    """NAMES as arrays of a module, A(shape) for an array to write to, and the module's functions."""

    def __init__(self, xp):
        super().__init__({name: xp.asarray(value.copy("K")) for name, value in NAMES.items()})
        self.update(np=np, nan=nan, inf=inf, A=self._target)
        self._xp = xp

    def _target(self, extent, *more):
        return self._xp.asarray(np.ones((extent, *more) if more else extent))

    def __missing__(self, name):
        return getattr(self._xp, name) if hasattr(self._xp, name) else getattr(builtins, name)


@pytest.mark.parametrize("call", [call.strip() for call in CALLS.split(";") if call.strip()])
@pytest.mark.filterwarnings("ignore")
def test_calls(call):
    def run(xp):
        with xp.errstate(all="ignore"):
            result = eval(call, {}, _Namespace(xp))
        return tuple(result) if isinstance(result, list) else result

    assert_alike(run, context=call)


SHAPES = st.lists(st.integers(0, 4), min_size=1, max_size=3)


@settings(max_examples=40)
@given(SHAPES, st.lists(st.tuples(st.integers(-9, 9), st.integers(-3, 2)), max_size=3), st.sampled_from("CF"))
def test_roll_along_several_axes(shape, moves, order):
    a = np.asarray(np.arange(np.prod(shape)).reshape(shape), order=order)
    shifts, axes = [shift for shift, _ in moves], [axis for _, axis in moves]
    assert_alike(lambda xp: xp.roll(xp.asarray(a), shifts, axes))
    assert_alike(lambda xp: xp.roll(xp.asarray(a), shifts))


@settings(max_examples=40)
@given(SHAPES, st.integers(-4, 4), st.lists(st.integers(-5, 5), max_size=4), st.integers(-3, 2))
def test_splits_and_picks(shape, parts, places, axis):
    a = np.arange(np.prod(shape)).reshape(shape)
    index = np.array(places, dtype=np.int64)

    def mine(f):
        return lambda xp: tuple(r) if isinstance(r := f(xp, xp.asarray(a)), list) else r

    if -len(shape) <= axis < len(shape):  # else NumPy's splits tell of a list's end
        assert_alike(mine(lambda xp, x: xp.array_split(x, parts, axis)))
        assert_alike(mine(lambda xp, x: xp.split(x, parts, axis)))
        assert_alike(mine(lambda xp, x: xp.split(x, places, axis)))
    assert_alike(lambda xp: xp.delete(xp.asarray(a), index, axis))
    assert_alike(lambda xp: xp.delete(xp.asarray(a), slice(*places[:3]) if 0 not in places[2:3] and places else 0))
    for mode in ("raise", "wrap", "clip") if a.size else ():  # NumPy seeks an index of nothing for ever
        assert_alike(lambda xp: xp.take(xp.asarray(a), index, axis, mode=mode), context=mode)


@settings(max_examples=40)
@given(st.lists(st.floats(-1e3, 1e3) | st.just(nan), min_size=1, max_size=9), st.integers(0, 2))
@pytest.mark.filterwarnings("ignore")
def test_reductions_without_nan(values, ddof):
    a = np.array([values, values[::-1]])
    for name in ("nansum", "nanprod", "nanmin", "nanmax", "nanmean"):
        for axis in (None, 0, 1):
            assert_alike(lambda xp: getattr(xp, name)(xp.asarray(a), axis, keepdims=True), context=name)
    assert_alike(lambda xp: xp.nanvar(xp.asarray(a), 1, ddof=ddof))
    assert_alike(lambda xp: xp.average(xp.asarray(np.nan_to_num(a)), 0, weights=[1.5, 2], returned=True))
