"""Warnings about what a call asks for, such as dropped imaginary parts: NumPy's, at the user's line."""

import warnings

import numpy as np
import pytest
from support import galop

CASTS = """
z.astype('f8') | z.astype('i4') | z.astype(bool) | z.astype('f2') | z.astype('c8') | nothing.astype(float)
z.real.astype('f4') | x[...] = z | x[:] = z | x[0] = z[0] | x[0] = one_z | x[:] = [scalar, 2] | x[0] = scalar
x[...] = scalar | x[[0, 1]] = z | x[[0, 1]] = one_z | x[x > 0] = z | x[mask] = scalar | i[...] = z | mask[...] = z
mask[0] = scalar | x[0:0] = nothing | x[0:1] = z[:1] | x[...] = x | z[...] = x | x[0] = 1j | x[:] = [1j, 2]
x[x > 0] = 1j | x.fill(1j) | x.imag = z | x.fill(scalar) | x.fill(one_z) | x.real = z | z.real = z | z.imag = z
z.real = 1j | z.imag = scalar | x.flat = z | x.flat[:] = z | xp.array(z, dtype=float) | xp.array(one_z, dtype=float)
xp.array([scalar, 2], dtype=float) | xp.array(scalar, dtype=float) | xp.array(scalar, dtype=bool)
xp.array(1j, dtype=float) | xp.asarray(z, dtype=float) | xp.asarray(np.array([1j]), dtype=float)
xp.asarray(z, float, 'F') | xp.array(z, dtype=float, order='F') | xp.ascontiguousarray(z, float)
xp.asfortranarray(z, dtype='f4') | xp.full(2, 1j, dtype=float) | xp.full(2, scalar, dtype=float)
xp.full(2, z, dtype=float) | xp.full_like(x, 1j) | xp.full_like(x, z) | xp.copyto(x, z)
xp.copyto(x, z, casting='unsafe') | xp.copyto(x, z, casting='unsafe', where=x > 0)
xp.copyto(x, 1j, casting='unsafe') | xp.add(z, z, out=x) | xp.add(z, z, out=x, casting='unsafe')
xp.add(z, 1, out=x, casting='unsafe') | xp.add(x, 1, out=x, casting='unsafe')
xp.add(z, z, dtype=float, casting='unsafe') | xp.sqrt(z, out=x, casting='unsafe')
xp.exp(z, out=mask, casting='unsafe') | xp.absolute(z, out=x, casting='unsafe')
xp.add(x, x, out=x, dtype=complex, casting='unsafe') | xp.add(x, x, out=z)
xp.add.outer(z, z, dtype=float, casting='unsafe') | xp.add.reduce(z, dtype=float) | xp.add.accumulate(z, dtype=float)
xp.add.reduceat(z, [0], dtype=float) | xp.sum(z, dtype=float) | z.prod(dtype=float) | xp.sum(z, out=zero)
xp.mean(z, dtype=float) | xp.mean(z, out=zero) | xp.var(z, dtype=float) | z.std(dtype=float) | xp.var(z)
xp.var(z, out=zero) | xp.cumsum(z, dtype=float) | xp.cumsum(z, out=x) | xp.cumprod(z, dtype=float)
xp.trace(xp.ones((2, 2), dtype=complex), dtype=float) | xp.nansum(z, dtype=float) | xp.any(z, out=zero)
xp.concatenate([z, z], dtype=float) | xp.concatenate([z, z], dtype=float, casting='unsafe')
xp.concatenate([z, x], out=xp.ones(4), casting='unsafe') | xp.stack([z, z], dtype=float, casting='unsafe')
xp.hstack([z, z], dtype=float, casting='unsafe') | xp.vstack([z, z], dtype=float, casting='unsafe')
xp.linspace(0, 1j, 3, dtype=float) | xp.logspace(0, 1j, 3, dtype=float) | xp.geomspace(1, 1j, 3, dtype=float)
xp.where(x > 0, z, x) | float(one_z) | float(z[0]) | complex(one_z) | z.tolist() | np.array(z, dtype=float)
z.__array__(float) | xp.astype(z, float)
"""

SLICES = """
xp.mean(e) | e.mean() | xp.mean([]) | xp.mean(e20, axis=1) | xp.mean(e20, axis=0) | xp.mean(e03, axis=-2)
e03.mean(axis=0, keepdims=True) | xp.mean(e03, axis=(0, 1)) | xp.mean(e00, axis=0) | xp.mean(e.astype(int))
xp.mean(nothing) | xp.mean(e.astype('f2')) | xp.mean(e, out=zero) | xp.mean(x, where=False) | xp.mean(x, where=mask)
xp.mean(x23, axis=0, where=rows) | xp.mean(x23, axis=1, where=rows) | xp.average(e) | xp.average(e20, axis=1)
xp.average(e, returned=True) | xp.mean(x) | xp.sum(e) | xp.var(e) | e.var() | e.std() | xp.std(e)
xp.var(e20, axis=1) | xp.var(e20, axis=0) | xp.std(e03, axis=0) | xp.var(x[:1], ddof=1) | xp.std(x[:1], ddof=1)
xp.var(x, ddof=2) | xp.var(x, ddof=3) | xp.var(x, ddof=1.5) | xp.var(i, ddof=2) | xp.var(x, correction=2)
x.var(ddof=2) | x23.var(axis=0, ddof=2) | x23.std(axis=(0, 1), ddof=6) | xp.std(x23 * x23, axis=0, ddof=3)
xp.var(x, where=mask) | xp.std(x23, axis=1, where=rows) | xp.var(x, where=x > 0, ddof=2) | xp.var(i[:0])
xp.var(nothing) | xp.std(z[:1], ddof=1) | xp.var(e, out=zero) | xp.nanmean(n) | xp.nanmean(e)
xp.nanmean(n22, axis=0) | xp.nanmean(n22, axis=1) | xp.nanmean(i[:0]) | xp.nanmean(x, where=False) | xp.nanmean(i)
xp.nanmean(e20, axis=0) | xp.nanmean(e20, axis=1) | xp.nanmean(n22, axis=0, where=rows[:, :1]) | xp.nanmean(n * 1j)
xp.nanvar(n) | xp.nanvar(e) | xp.nanstd(n) | xp.nanvar(n22, axis=0) | xp.nanvar(x, ddof=2) | xp.nanvar(x, ddof=3)
xp.nanvar(i, ddof=2) | xp.nanvar(i[:0]) | xp.nanstd(n22, axis=1, ddof=1) | xp.nanstd(x) | xp.nanvar(n22, axis=1)
xp.nanmin(n) | xp.nanmax(n) | xp.nanmin(n22, axis=0) | xp.nanmax(n22, axis=1) | xp.nanmin(i) | xp.nanmin(e20, axis=0)
xp.nanmin(n, initial=2.) | xp.nanmin(n22, axis=0, out=x) | xp.nanmax(n * 1j) | xp.nansum(n) | xp.nanmax(x)
"""


def statements(table):
    return [s.strip() for line in table.strip().splitlines() for s in line.split(" | ")]


def names(xp):
    nan = float("nan")
    return {
        "xp": xp, "np": np, "scalar": np.complex128(1 + 2j),
        "z": xp.array([1 + 2j, 3]), "one_z": xp.array(1 + 2j), "nothing": xp.ones(0, dtype=complex),
        "x": xp.ones(2), "i": xp.arange(2), "mask": xp.zeros(2, dtype=bool), "zero": xp.array(0.0),
        "e": xp.ones(0), "e20": xp.ones((2, 0)), "e03": xp.ones((0, 3)), "e00": xp.ones((0, 0)),
        "x23": xp.array([[1.0, 2, 3], [5, 7, 9]]), "rows": xp.array([[True], [False]]),
        "n": xp.array([nan, nan]), "n22": xp.array([[nan, 1], [nan, 2]]),
    }  # fmt: skip


def run(xp, statement, action="always"):
    """The namespace, the warnings and the type of the error after a statement, its result read as well."""
    space = names(xp)
    kept = f"result = {statement}" if " = " not in statement else statement
    read = "[np.asarray(r) for r in (result if isinstance(result, tuple) else [result])] if 'result' in dir() else None"
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter(action)
        try:
            exec(compile(f"{kept}\n{read}", "the user's file", "exec"), space)
        except Exception as e:
            return space, seen, e
    return space, seen, None


def words(seen):
    """NumPy's results of all axes are scalars, which its texts say."""
    return {(w.category, str(w.message).replace("scalar ", "")) for w in seen}


@pytest.mark.parametrize("statement", statements(CASTS + SLICES))
def test_warnings_are_numpys(statement):
    _, expected, wrong = run(np, statement)
    _, seen, error = run(galop, statement)
    assert isinstance(wrong, type(error)), error  # NumPy has finer classes of TypeError
    assert words(seen) == words(expected)
    assert {w.filename for w in seen} <= {"the user's file"}
    assert len(seen) == len(words(seen))  # once a call


@pytest.mark.parametrize("statement", statements(CASTS + SLICES))
def test_arrays_stay_whole_where_warnings_are_errors(statement):
    expected = run(np, statement)[1]
    space, _, error = run(galop, statement, "error")
    assert isinstance(error, Warning) == bool(expected), error
    before = names(np)
    for name, was in before.items():
        if not isinstance(space[name], galop.ndarray):
            continue
        now = np.asarray(space[name])
        assert now.shape == was.shape and now.dtype == was.dtype
        if statement in statements(CASTS) and isinstance(error, Warning):
            np.testing.assert_array_equal(now, was)  # nothing was written
        np.testing.assert_array_equal(np.asarray(space[name] + space[name]), now + now)
