"""Random programs over views, ufuncs, reductions, in-place writes and exports, run on NumPy and on Galop (lockstep.py).

python tests/python/random_programs.py --programs 20000 --seed 1 --mode all --minutes 10 --log last.txt
"""

import argparse
import itertools
import random
import sys
import time
import warnings

import numpy as np

import galop
from lockstep import (
    DEVICE_MODES, EXTRA_POINTS, LAZY_TO_THE_END, MODES, WARNING_MODES, Step, arrays, execute, numpy_space, run, script,
    shrink,
)  # fmt: skip
from support import BOOL, DTYPES, FLOATS, INTS

ARITHMETIC = ["add", "subtract", "multiply"]
ORDER = ["maximum", "minimum", "fmax", "fmin"]
COMPARE = ["equal", "not_equal", "less", "less_equal", "greater", "greater_equal"]
LOGIC = ["logical_and", "logical_or", "logical_xor"]
REAL = ["floor_divide", "remainder", "fmod", "true_divide", "nextafter", "heaviside"]
BITS = ["bitwise_and", "bitwise_or", "bitwise_xor", "left_shift", "right_shift", "gcd", "lcm"]
UNARY = ["negative", "positive", "conjugate", "logical_not", "isnan", "isfinite", "isinf"]
UNARY_REAL = ["absolute", "sign", "square", "sqrt", "rint", "floor", "ceil", "trunc", "reciprocal", "fabs"]
UNARY_INT = ["invert", "bitwise_count"]
INPLACE = ["+=", "-=", "*=", "//=", "%=", "&=", "|=", "^=", "<<=", ">>=", "/="]

# Parts of NumPy's API that a program uses only where Galop has them.
FEATURES = {
    "real": hasattr(galop.ndarray, "real"),
    "copyto": hasattr(galop, "copyto"),
    "eye": hasattr(galop, "eye"),
}

SMALL = [
    (), (0,), (1,), (3,), (5,), (7,), (2, 3), (3, 3), (4, 1), (1, 4), (0, 3), (2, 0), (2, 2, 2), (3, 1, 2), (2, 3, 4),
    (1, 2, 1, 3),
]  # fmt: skip
BIG = [
    (20000,), (9001,), (16385,), (130, 100), (100, 130), (90, 1), (1, 200), (2, 8193), (33, 5, 61), (3, 4, 30, 31), (111, 111),
]  # fmt: skip


class Generator:
    """Writes a program step by step, running it on NumPy to know shapes, dtypes and values."""

    def __init__(self, seed, points=False):
        self.r = random.Random(seed)
        self.seed = seed
        self.big = self.r.random() < 0.12
        self.limit = 60000 if self.big else 400
        self.length = self.r.randint(6, 14 if self.big else 26)
        self.dtypes = DTYPES if self.r.random() < 0.6 else self.r.sample(DTYPES, 3)
        self.kind = self.r.choice(["wild", "exact", "mixed"])
        self.check_rate = self.r.choice([0.0, 0.1, 0.3])
        self.force_rate = 0.35 if points else 0.05
        self.space = numpy_space()
        self.steps = []
        self.names = itertools.count()
        self.kinds = [(getattr(self, n), w) for n, w in WEIGHTS.items()]

    # -- choosing

    def data_kind(self):
        return self.r.choice(["wild", "exact"]) if self.kind == "mixed" else self.kind

    def live(self, prefix="v"):
        return [n for n in arrays(self.space) if n[0] == prefix]

    def get(self, name):
        return self.space[name]

    def pick(self, test=lambda x: True):
        """A live array, recent ones rather, or None."""
        names = [n for n in self.live() if test(self.space[n])]
        if not names:
            return None
        return names[-1 - min(int(self.r.expovariate(0.4)), len(names) - 1)]

    def partner(self, x, test=lambda y: True):
        """Something that broadcasts with x: an array or a Python scalar."""

        def broadcasts(y):
            try:
                return int(np.prod(np.broadcast_shapes(x.shape, y.shape))) <= self.limit and test(y)
            except ValueError:
                return False

        if self.r.random() < 0.25:
            return self.scalar(x.dtype)
        if self.r.random() < 0.03:
            return self.pick(test)  # may not broadcast: an error in both
        same = self.pick(lambda y: y.shape == x.shape and test(y))
        return (self.r.random() < 0.6 and same) or self.pick(broadcasts)

    def scalar(self, dtype):
        kind = np.dtype(dtype).kind
        if kind == "b":
            return self.r.choice(["True", "False"])
        if kind == "u":
            return self.r.choice(
                ["0", "1", "2", "3", "7", "-1", "300"] if self.r.random() < 0.1 else ["0", "1", "2", "3", "7"]
            )
        if kind == "i":
            return self.r.choice(["0", "1", "2", "3", "-1", "-3", "7"])
        if kind == "c" and self.r.random() < 0.5:
            return self.r.choice(["(1+2j)", "2j", "(0.5-1j)"])
        return self.r.choice(["0", "1", "2", "-3", "0.5", "2.5", "-0.0", "1e3"])

    def slices(self, shape, keep=False):
        """An index expression of basic slicing; keep: without integers and newaxis."""
        parts = []
        for d in shape:
            k = self.r.random()
            if k < 0.15:
                parts.append(":")
            elif k < 0.27 and d and not keep:
                parts.append(str(self.r.randint(-d, d - 1)))
            else:
                a = self.r.choice(["", "", *map(str, {0, 1, -1, d // 2, d, -d})])
                b = self.r.choice(["", "", *map(str, {0, 1, -1, d // 2, d, -d})])
                parts.append(f"{a}:{b}:{self.r.choice(['', '', '1', '2', '3', '-1', '-2', '-1'])}")
        while len(parts) > 1 and self.r.random() < 0.2:
            parts.pop()
        if self.r.random() < 0.3 or not parts:
            parts.insert(self.r.randint(0, len(parts)) if len(parts) == len(shape) else len(parts), "...")
        elif all(p.lstrip("-").isdigit() for p in parts):
            parts.append("...")  # a view, where plain integers would give a scalar
        if not keep and len(shape) < 4 and self.r.random() < 0.15:
            parts.insert(self.r.randint(0, len(parts)), "None")
        return ", ".join(parts)

    def shape_for(self, size):
        """A shape of that size, up to three dimensions."""
        options = [(size,)]
        for a in (1, 2, 3, 4, 5, 10, 13, 111):
            if size and size % a == 0:
                options.append((a, size // a))
                options += [(a, b, size // a // b) for b in (1, 2, 3) if (size // a) % b == 0]
        return self.r.choice(options)

    def fresh(self, prefix="v"):
        return f"{prefix}{next(self.names)}"

    def axis(self, x):
        k = self.r.random()
        if x.ndim == 0 or k < 0.25:
            return "None"
        if k < 0.28:
            return str(x.ndim)  # out of range
        if k < 0.45 and x.ndim > 1:
            axes = self.r.sample(range(x.ndim), self.r.randint(1, x.ndim))
            return "(" + ", ".join(str(a - self.r.choice([0, x.ndim])) for a in axes) + ",)"
        return str(self.r.randint(-x.ndim, x.ndim - 1))

    # -- kinds of step; each gives a Step or None

    def new(self):
        shape = self.r.choice(BIG if self.big and self.r.random() < 0.7 else SMALL)
        dtype = self.r.choice(self.dtypes)
        name = self.fresh()
        if self.r.random() < 0.15:
            make = [
                f"xp.zeros({shape}, dtype='{dtype}')",
                f"xp.ones({shape}, dtype='{dtype}')",
                f"xp.full({shape}, {self.scalar(dtype)}, dtype='{dtype}')",
            ]
            if dtype not in BOOL + ["i1", "u1"] and (dtype != "f2" or not self.big):
                make.append(f"xp.arange({self.r.choice([0, 1, 7, 30])}, dtype='{dtype}')")
            if FEATURES["eye"]:
                make.append(f"xp.eye({self.r.randint(1, 4)}, dtype='{dtype}')")
            return Step(f"{name} = {self.r.choice(make)}")
        return Step(f"{name} = new({self.r.randint(0, 10**6)}, {shape}, '{dtype}', '{self.data_kind()}')")

    def view(self):
        v = self.pick()
        x, name, k = self.get(v), self.fresh(), self.r.random()
        if k < 0.45:
            return Step(f"{name} = {v}[{self.slices(x.shape)}]")
        if k < 0.65 and x.ndim > 1:
            axes = list(range(x.ndim))
            self.r.shuffle(axes)
            return Step(
                f"{name} = {v}.T" if self.r.random() < 0.5 else f"{name} = {v}.transpose({', '.join(map(str, axes))})"
            )
        if k < 0.8:
            shape = self.shape_for(x.size)
            if self.r.random() < 0.3 and x.size:
                shape = (*shape[:-1], -1)
            if self.r.random() < 0.03:
                shape = (x.size + 1,)
            # Whether reshape gives a view is NumPy's promise only for contiguous arrays.
            return Step(f"{name} = {v}.reshape({shape})" + ("" if x.flags.c_contiguous else ".copy()"))
        if k < 0.92:
            shape = tuple(self.r.randint(1, 4) if d == 1 else d for d in x.shape)
            if self.r.random() < 0.4 and len(shape) < 4:
                shape = (self.r.randint(1, 3), *shape)
            if int(np.prod(shape)) > self.limit:
                return None
            return Step(f"{name} = xp.broadcast_to({v}, {shape})")
        if FEATURES["real"] and x.dtype.kind == "c":
            return Step(f"{name} = {v}.{self.r.choice(['real', 'imag'])}")
        return Step(f"{name} = {v}[...]")

    def binary_name(self, x):
        kind = x.dtype.kind
        groups = [ARITHMETIC, ARITHMETIC, ORDER, COMPARE, LOGIC]
        if kind != "c" or self.r.random() < 0.05:
            groups += [REAL]
        if kind in "biu" or self.r.random() < 0.05:
            groups += [BITS, BITS]
        return self.r.choice(self.r.choice(groups))

    def guard_for(self, name, *args):
        text = ", ".join(args)
        if name in ("multiply", "*=", "square"):
            return f"product({text})"
        if name in ORDER:
            return f"unsigned_zero({text})"
        if name in ("true_divide", "/="):
            return f"not any(xp.iscomplexobj(q) for q in ({text},))"
        if name in ("absolute", "reciprocal", "sign", "sqrt", "rint"):
            return f"not xp.iscomplexobj({args[0]})"
        return ""

    def expression(self):
        """(expression, guard) of one pure ufunc call."""
        v = self.pick()
        x, k = self.get(v), self.r.random()
        if k < 0.62:
            name, w = self.binary_name(x), self.partner(x)
            if w is None:
                return None
            args = (v, w) if self.r.random() < 0.7 else (w, v)
            dtype = ""
            if self.r.random() < 0.04 and name in ("add", "subtract"):
                dtype = f", dtype='{self.r.choice(self.dtypes)}'"
            guard = self.guard_for(name, *args)
            operator = {
                "add": "+",
                "subtract": "-",
                "multiply": "*",
                "less": "<",
                "equal": "==",
                "bitwise_and": "&",
                "remainder": "%",
                "floor_divide": "//",
                "true_divide": "/",
            }.get(name)
            if operator and not dtype and self.r.random() < 0.6:
                return f"{args[0]} {operator} {args[1]}", guard
            return f"xp.{name}({args[0]}, {args[1]}{dtype})", guard
        if k < 0.82:
            kind = x.dtype.kind
            names = UNARY + (UNARY_REAL if kind in "iuf" else []) + (UNARY_INT if kind in "biu" else [])
            name = self.r.choice(names)
            return f"xp.{name}({v})", self.guard_for(name, v)
        if k < 0.88:
            m = self.mask_for(x)
            w = self.partner(x)
            return None if w is None else (f"xp.where({m}, {v}, {w})", "")
        if k < 0.92 and x.dtype.kind != "c":
            low, high = sorted(self.r.sample([0, 1, 2, 3, 5], 2))
            return f"xp.clip({v}, {low}, {high})", f"unsigned_zero({v})"
        if k < 0.95 and x.dtype.kind in "iuf":
            return f"{v} ** 2", f"product({v})"
        if k < 0.97 and x.dtype.kind in "iu":
            w = self.pick(lambda y: y.shape == x.shape and y.dtype.kind in "iu")
            return f"xp.power({v}, {w})", f"exponent({w})"
        dtype = self.r.choice(self.dtypes)
        return f"{v}.astype('{dtype}')", f"fits({v}, '{dtype}')"

    def mask_for(self, x):
        m = self.pick(lambda y: y.dtype == bool and y.shape == x.shape)
        return m if m and self.r.random() < 0.7 else f"new({self.r.randint(0, 999)}, {x.shape}, '?', 'wild')"

    def pure(self):
        found = self.expression()
        return found and Step(f"{self.fresh()} = A({found[0]})", found[1])

    def chain(self):
        """Two operations in one statement: a temporary that only the expression owns."""
        found = self.expression()
        if not found or found[1]:
            return None
        return Step(f"{self.fresh()} = A(({found[0]}) + {self.r.choice(['1', 'True', '(' + found[0] + ')'])})")

    def two_results(self):
        v = self.pick(lambda y: y.dtype.kind in "iuf")
        w = v and self.partner(self.get(v), lambda y: y.dtype.kind in "iuf")
        if not w:
            return None
        a, b = self.fresh(), self.fresh()
        call = f"xp.divmod({v}, {w})" if self.r.random() < 0.7 else f"xp.modf({v})"
        return Step(f"{a}, {b} = map(A, {call})")

    def reduction(self):
        v = self.pick()
        x, name = (
            self.get(v),
            self.r.choice(
                ["sum", "sum", "min", "max", "any", "all", "prod", "count_nonzero", "argmin", "argmax", "mean", "sum"]
            ),
        )
        args, guard = [f"axis={self.axis(x)}"], ""
        if name in ("argmin", "argmax") and "(" in args[0]:
            args = ["axis=None"]
        if name == "prod":
            guard = f"{v}.dtype.kind in 'biu'"
        if name in ("min", "max"):
            guard = f"unsigned_zero({v})"
        if name in ("sum", "mean"):
            guard = f"any_order({v}, {name == 'mean'})"
        if self.r.random() < 0.3:
            args.append("keepdims=True")
        # A masked float sum adds in another order than NumPy's runs of selected elements; test_reductions.py bounds it.
        exact = name in ("prod", "min", "max", "any", "all") or (name == "sum" and x.dtype.kind in "biu")
        if self.r.random() < 0.12 and exact:
            args.append(f"where={self.mask_for(x)}")
            if name in ("min", "max"):
                args.append(f"initial={self.scalar(x.dtype)}".replace("=-0.0", "=0.0"))  # the sign of max(0.0, -0.0) is free
        elif self.r.random() < 0.1 and name == "sum" and x.dtype.kind in "biu":
            dtype = self.r.choice(INTS + FLOATS)
            args.append(f"dtype='{dtype}'")
            guard = f"any_order({v}.astype('{dtype}'), {dtype in FLOATS})"
        out = self.fresh()
        if self.r.random() < 0.4 and name not in ("count_nonzero",) and not any(a.startswith("where") for a in args):
            return Step(f"{out} = A({v}.{name}({', '.join(args)}))", guard)
        return Step(f"{out} = A(xp.{name}({', '.join([v, *args])}))", guard)

    def reduction_out(self):
        v = self.pick(lambda y: y.ndim > 0)
        # NumPy folds into `out` itself, so a dtype that rounds would round after each of its loops.
        o = v and self.pick(lambda y: y.shape == self.get(v).shape[1:] and np.can_cast(self.get(v).dtype, y.dtype))
        if not o:
            return None
        name = self.r.choice(["sum", "max", "min"])
        return Step(f"xp.{name}({v}, axis=0, out={o})", f"unsigned_zero({v}) and fits({v}, {o}.dtype) and product({v}) and any_order({v})")

    def scan(self):
        v = self.pick(lambda y: y.ndim > 0)
        if not v:
            return None
        x = self.get(v)
        names = ["add", "maximum", "minimum"] + (["multiply", "bitwise_xor"] if x.dtype.kind in "iu" else [])
        if self.r.random() < 0.2 and x.ndim == 1 and x.size <= 20:
            w = self.pick(lambda y: y.size <= 20)
            if w:
                return Step(f"{self.fresh()} = xp.add.outer({v}, {w})", f"xp.add.outer({v}, {w}).ndim <= 4")
        return Step(
            f"{self.fresh()} = xp.{self.r.choice(names)}.accumulate({v}, axis={self.r.randint(0, x.ndim - 1)})",
            f"unsigned_zero({v}) and any_order({v})",
        )

    def inplace(self):
        v = self.pick()
        x = self.get(v)
        fitting = INPLACE[:3] * 2 + (
            INPLACE[3:5] + ["/="] if x.dtype.kind == "f" else INPLACE[3:10] if x.dtype.kind in "iu" else []
        )
        op = self.r.choice(fitting if self.r.random() < 0.93 else INPLACE)
        if x.dtype.kind == "b" and self.r.random() < 0.9:
            op = self.r.choice(["&=", "|=", "^=", "+="])
        w = self.partner(x, lambda y: np.can_cast(np.result_type(x, y), x.dtype, "same_kind") or self.r.random() < 0.03)
        if w is None:
            return None
        guard = self.guard_for(op, v, w)
        if self.r.random() < 0.5 and x.ndim and w not in self.space:
            return Step(f"{v}[{self.slices(x.shape)}] {op} {w}", guard)
        return Step(f"{v} {op} {w}", guard)

    def overlap(self):
        """v[s] op= v[t], of one array."""
        v = self.pick(lambda y: y.ndim > 0)
        if not v:
            return None
        x, op = self.get(v), self.r.choice(["=", "+=", "-=", "*="])
        if x.dtype == bool:
            op = self.r.choice(["=", "|=", "^="])
        axis = self.r.randint(0, x.ndim - 1)
        d, k = x.shape[axis], self.r.random()
        if k < 0.2 and x.ndim > 1 and x.shape == x.shape[::-1]:
            return Step(
                f"{v} {op if op != '=' else '+='} {v}.T" if op != "=" else f"{v}[...] = {v}.T", self.guard_for(op, v)
            )
        pairs = [
            ("1:", ":-1"),
            (":-1", "1:"),
            ("::-1", ":"),
            (":", "::-1"),
            ("::2", f":{(d + 1) // 2}"),
            (f":{d // 2}", "1::2"),
            (f"{d // 2}:{d // 2 * 2}", f":{d // 2}"),
            (":1", f"{d - 1}:"),
            (":", f"{d // 2}:{d // 2 + 1}"),
        ]
        s, t = self.r.choice(pairs)
        lead = ":, " * axis
        if self.r.random() < 0.3:
            u = self.r.choice([s, t])
            name = self.r.choice(["add", "subtract", "maximum"]) if x.dtype != bool else "logical_or"
            return Step(f"xp.{name}({v}[{lead}{s}], {v}[{lead}{t}], out={v}[{lead}{u}])", self.guard_for(name, v))
        guard = f"apart({v}[{lead}{s}], {v}[{lead}{t}])" if op == "=" else self.guard_for(op, v)
        return Step(f"{v}[{lead}{s}] {op} {v}[{lead}{t}]", guard)

    def out(self):
        v = self.pick()
        x = self.get(v)
        name, w = self.binary_name(x), self.partner(x)
        if w is None:
            return None
        try:
            shape = np.broadcast_shapes(x.shape, np.shape(self.space.get(w, 0)))
        except ValueError:
            shape = x.shape  # an error in both
        o = self.pick(lambda y: y.shape == shape)
        if not o:
            return None
        x, more = self.get(o), ""
        if self.r.random() < 0.35:
            mask = self.mask_for(x)
            more = f", where={mask}"
        guard = " and ".join(filter(None, [self.guard_for(name, v, w), more and f"unmixed({o}, {v}, {w}, {mask})"]))
        return Step(f"xp.{name}({v}, {w}, out={o}{more})", guard)

    def setitem(self):
        v = self.pick()
        x, k = self.get(v), self.r.random()
        if k < 0.3:
            return Step(f"{v}[{self.slices(x.shape)}] = {self.scalar(x.dtype)}")
        if k < 0.45:
            mask = self.mask_for(x)
            return Step(f"{v}[{mask}] = {self.scalar(x.dtype)}", f"unmixed({v}, {mask})")
        if k < 0.52 and FEATURES["copyto"]:
            w = self.pick(lambda y: y.shape == x.shape and np.can_cast(y.dtype, x.dtype, "same_kind"))
            mask = self.mask_for(x)
            return w and Step(f"xp.copyto({v}, {w}, where={mask})", f"{v}.flags.writeable and unmixed({v}, {w}, {mask})")
        index = self.slices(x.shape, keep=True)
        target = eval(f"x[{index}]", {"x": x})
        w = self.pick(lambda y: y.shape == target.shape) or self.pick(
            lambda y: y.ndim <= target.ndim and all(a in (1, b) for a, b in zip(y.shape[::-1], target.shape[::-1]))
        )
        if not w:
            return None
        return Step(f"{v}[{index}] = {w}", f"fits({w}, {v}.dtype) and apart({v}[{index}], {w})")

    def at(self):
        v = self.pick(lambda y: y.ndim > 0 and 0 < y.shape[0])
        if not v:
            return None
        x = self.get(v)
        name = self.r.choice(["add", "subtract", "maximum"]) if x.dtype != bool else "logical_or"
        index = f"index({self.r.randint(0, 999)}, {self.r.randint(1, 6)}, {x.shape[0]})"
        # NumPy's `at` takes a Python number for an int64 or float64, so the number is given the array's dtype.
        value = f"numpy.asarray({self.scalar(x.dtype)}).astype({v}.dtype)"
        return Step(f"xp.{name}.at({v}, {index}, {value})", f"unsigned_zero({v})")

    def export(self):
        v = self.pick()
        return Step(f"{self.fresh('e')} = export({v})")

    def use_export(self):
        exported = self.live("e")
        if not exported:
            return self.export()
        e, k = self.r.choice(exported), self.r.random()
        x = self.get(e)
        if k < 0.35:
            return Step(f"{self.fresh()} = wrap({e})")
        if k < 0.7:
            return Step(f"{e}[...] = {self.scalar(x.dtype)}")
        return Step(
            f"{e} {'+=' if x.dtype != bool else '^='} {self.r.choice(['1', '0'] if x.dtype != bool else ['True'])}"
        )

    def filed(self):
        """A new array, or one that may still be unevaluated, by way of a file."""
        v = self.pick()
        mode = self.r.choice(["None", "'npz'", "'r'", "'r'", "'r+'", "'c'"])
        return Step(f"{self.fresh()} = filed({v}{self.r.choice(['', '[...]', '.T', '.copy()'])}, {mode})")

    def delete(self):
        names = self.live() + self.live("e")
        return Step(f"del {self.r.choice(names)}") if len(names) > 2 else None

    def force(self):
        v = self.pick()
        return Step(f"force({v})" if self.r.random() < 0.7 else f"peek({v})")

    # -- the program

    def add(self, step):
        """Appends the step if its guard holds, and runs it on NumPy; arrays that grew too large go at once."""
        try:
            if step.guard and not eval(step.guard, self.space):
                return
        except Exception:
            return
        try:
            execute(step.code, self.space)
        except Exception:
            pass  # Galop must raise the same
        self.steps.append(step)
        for n in arrays(self.space):
            if self.space[n].size > self.limit or self.space[n].ndim > 5:
                self.add(Step(f"del {n}"))

    def program(self):
        methods, weights = zip(*self.kinds)
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            for _ in range(self.r.randint(2, 4)):
                self.add(self.new())
            while len(self.steps) < self.length:
                if not self.live():
                    self.add(self.new())
                step = self.r.choices(methods, weights)[0]()
                if step:
                    self.add(step)
                if self.r.random() < self.force_rate and self.live():
                    self.add(self.force())
                if self.r.random() < self.check_rate:
                    self.steps.append(Step("check()"))
                if len(self.live()) > 9:
                    self.add(Step(f"del {self.r.choice(self.live())}"))
        return self.steps


WEIGHTS = {
    "new": 5, "view": 16, "pure": 18, "chain": 3, "two_results": 2, "reduction": 9, "reduction_out": 2, "scan": 2,
    "inplace": 14,
    "overlap": 8, "out": 8, "setitem": 12, "at": 2, "export": 3, "filed": 3, "use_export": 4, "delete": 5, "force": 2,
}  # fmt: skip


def program(seed, mode="default"):
    return Generator(seed, points=mode in EXTRA_POINTS).program()


def check(seed, mode, shrinking=True):
    """None, or the text of a program that shows a difference."""
    steps, settings, checks = program(seed, mode), (MODES | WARNING_MODES | DEVICE_MODES)[mode], mode not in LAZY_TO_THE_END
    failure = run(steps, settings, checks)
    if failure is None:
        return None
    if shrinking:
        steps, settings, failure = shrink(steps, settings, checks)
    return script(
        steps, settings, checks, f"seed {seed}, mode {mode}: {failure.message if failure else 'passes when run again'}"
    )


def main(argv=None):
    p = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    p.add_argument("--programs", type=int, default=1000)
    p.add_argument("--seed", type=int, default=0, help="of the first program; program i has seed SEED + i")
    p.add_argument("--mode", default="all", choices=["all", "devices", *MODES, *WARNING_MODES, *DEVICE_MODES])
    p.add_argument("--minutes", type=float, default=None, help="stop after so long")
    p.add_argument("--failures", type=int, default=5, help="stop after so many")
    p.add_argument("--log", default=None, help="a file that names the program being run, in case the process dies")
    a = p.parse_args(argv)
    modes = {"all": [*MODES, *WARNING_MODES], "devices": list(DEVICE_MODES)}.get(a.mode, [a.mode])
    started, failures, done = time.monotonic(), 0, 0
    for i in range(a.programs):
        if a.minutes is not None and time.monotonic() - started > a.minutes * 60:
            break
        seed, mode = a.seed + i, modes[(a.seed + i) % len(modes)]
        if a.log:
            with open(a.log, "w") as f:
                f.write(f"--programs 1 --seed {seed} --mode {mode}\n")
        text = check(seed, mode)
        done += 1
        if text:
            failures += 1
            print(text, flush=True)
            if failures >= a.failures:
                break
    print(
        f"{done} programs, {failures} with a difference, {time.monotonic() - started:.1f} s, mode {a.mode}, features "
        + ", ".join(f"{k}={v}" for k, v in FEATURES.items())
    )
    return 1 if failures or not done else 0


if __name__ == "__main__":
    sys.exit(main())
