"""Writes the type stubs python/galop/*.pyi from the table and the signatures of an importable Galop.

    PYTHONPATH=build/release/python .venv/bin/python tools/stubs.py          writes them
    PYTHONPATH=build/release/python .venv/bin/python tools/stubs.py --check  says which are stale

What a signature does not tell, the tables below do: a parameter's type goes by its name, a result is an array unless
RETURNS says otherwise.
"""

import inspect
import keyword
import sys
import types
from pathlib import Path

import numpy as np

import galop

PACKAGE = Path(__file__).resolve().parents[1] / "python" / "galop"


def _each(names, text):
    return dict.fromkeys(names.split(), text)


AXIS = "int | tuple[int, ...] | None"
SHAPE = "SupportsIndex | Sequence[SupportsIndex]"
DEVICE = "Device | str | None"
PARAMETERS = {
    **_each("a a1 a2 ar arr ary array x x1 x2 y z b m v A B val values obj condition weights xi", "ArrayLike"),
    **_each("start stop fill_value repeats nan prepend append a_min a_max min max value where", "ArrayLike"),
    **_each("arrays tup arys args indices object item", "Any"),
    **_each("axis source destination", AXIS),
    **_each("axis1 axis2 axisa axisb axisc decimals k num N n offset ndmin", "SupportsIndex"),
    **_each("M repeat", "SupportsIndex | None"),
    **_each("keepdims endpoint copy equal_nan retstep sparse subok returned deg replace writeable legacy", "_bool"),
    **_each("rtol atol dx base ddof", "float"),
    **_each("posinf neginf correction", "float | None"),
    **_each("order casting mode indexing kind name", "str"),
    **_each("shape newshape dimensions reps shift", SHAPE),
    "initial": "Any",
    "dtype": "DTypeLike | None",
    "out": "ndarray | None",
    "device": DEVICE,
    "size": f"{SHAPE} | None",
    "fweights": "ArrayLike | None",
    "loc": "ArrayLike",
    "scale": "ArrayLike",
    "low": "ArrayLike",
    "high": "ArrayLike",
    "p": "ArrayLike | None",
    "length": "int",
    "seed": "Any",
    "allow_pickle": "_bool",
}  # fmt: skip
RETURNS = {
    **_each("allclose array_equal array_equiv iscomplexobj isrealobj may_share_memory shares_memory can_cast", "_bool"),
    **_each("is_available", "_bool"),
    **_each("array2string array_repr array_str explain why_not get_device_name", "str"),
    **_each("ndim device_count", "int"),
    **_each("array_split split hsplit vsplit dsplit", "list[ndarray]"),
    **_each("meshgrid broadcast_arrays nonzero unstack ix_", "tuple[ndarray, ...]"),
    **_each("copyto save savez savez_compressed set_default_device eval fill put putmask place fill_diagonal", "None"),
    **_each("seed set_state shuffle setflags empty_cache set_memory_limit synchronize at", "None"),
    **_each("load finfo iinfo item tolist geterr seterr geterrcall seterrcall modes get_state choice", "Any"),
    **_each("atleast_1d atleast_2d atleast_3d average frombuffer get_default_device transfers device", "Any"),
    **_each("get_device_properties memory_info indices ops permutation randint rand randn random", "Any"),
    **_each("normal uniform exponential standard_normal standard_exponential random_sample ranf sample", "Any"),
    **_each("unique_counts unique_inverse unique_all mgrid ogrid", "Any"),
    **_each("to_numpy get", "np.ndarray[Any, Any]"),
    "shape": "tuple[int, ...]",
    "size": "int",
    "result_type": "np.dtype[Any]",
    "timeit": "Timing",
    "bytes": "_bytes",
    "tobytes": "_bytes",
    "default_rng": "Generator",
    "spawn": "list[Any]",
    "astype": "ndarray",
}  # fmt: skip

# Functions whose results go by their arguments.
OVERLOADS = {
    "where": ["(condition: ArrayLike, /) -> tuple[ndarray, ...]",
              "(condition: ArrayLike, x: ArrayLike, y: ArrayLike, /) -> ndarray"],
    "linspace": [
        f"(start: ArrayLike, stop: ArrayLike, num: SupportsIndex = 50, endpoint: _bool = True, retstep: {step}, "
        f"dtype: DTypeLike | None = None, axis: SupportsIndex = 0, *, device: {DEVICE} = None) -> {result}"
        for step, result in (
            ("Literal[False] = False", "ndarray"),
            ("Literal[True] = ...", "tuple[ndarray, Any]"),
        )
    ],
}  # fmt: skip

PROPERTIES = {
    "T": "ndarray", "mT": "ndarray", "base": "None", "data": "memoryview", "device": "Device", "dtype": "np.dtype[Any]",
    "flags": "Any", "flat": "Any", "imag": "ndarray", "itemsize": "int", "nbytes": "int", "ndim": "int",
    "real": "ndarray",
    "shape": "tuple[int, ...]", "size": "int", "strides": "tuple[int, ...]",
    "__array_interface__": "dict[str, Any]", "__cuda_array_interface__": "dict[str, Any]",
    "index": "int", "type": "str",
    "identity": "Any", "nargs": "int", "nin": "int", "nout": "int", "ntypes": "int", "signature": "str | None",
    "types": "list[str]",
}  # fmt: skip
SETTABLE = {"shape", "strides", "real", "imag", "dtype", "flat"}

BINARY = "add sub mul truediv floordiv mod pow lshift rshift and or xor matmul".split()
# Special methods, with all that is said of them; `object`'s own are left out.
SPECIAL = {
    **{f"__{side}{op}__": f"(self, other: ArrayLike, /) -> {'Self' if side == 'i' else 'ndarray'}"
       for op in BINARY for side in ("", "r", "i")},
    **{f"__{op}__": "(self, other: ArrayLike, /) -> ndarray" for op in ("lt", "le", "gt", "ge")},
    **{f"__{op}__": "(self, other: ArrayLike, /) -> ndarray: ...  # type: ignore[override]" for op in ("eq", "ne")},
    **{f"__{op}__": "(self) -> ndarray" for op in ("neg", "pos", "abs", "invert", "copy")},
    "__divmod__": "(self, other: ArrayLike, /) -> tuple[ndarray, ndarray]",
    "__rdivmod__": "(self, other: ArrayLike, /) -> tuple[ndarray, ndarray]",
    "__bool__": "(self) -> _bool", "__int__": "(self) -> int", "__float__": "(self) -> float",
    "__complex__": "(self) -> complex", "__index__": "(self) -> int", "__len__": "(self) -> int",
    "__contains__": "(self, value: Any, /) -> _bool", "__iter__": "(self) -> Iterator[Any]",
    "__setitem__": "(self, key: Any, value: ArrayLike, /) -> None",
    "__deepcopy__": "(self, memo: Any, /) -> ndarray",
    "__array__": "(self, dtype: Any = None, *, copy: _bool | None = None) -> np.ndarray[Any, Any]",
    "__array_namespace__": "(self, *, api_version: str | None = None) -> ModuleType",
    "__array_ufunc__": "(self, ufunc: Any, method: Any, *inputs: Any, **kwargs: Any) -> Any",
    "__array_function__": "(self, func: Any, types: Any, args: Any, kwargs: Any) -> Any",
    "__dlpack__": "(self, /, *, stream: Any = None, max_version: Any = None, dl_device: Any = None, "
                  "copy: _bool | None = None) -> Any",
    "__dlpack_device__": "(self, /) -> tuple[int, int]",
}  # fmt: skip
GETITEM = """\
    @overload
    def __getitem__(self, key: slice | EllipsisType | None | ndarray, /) -> ndarray: ...
    @overload
    def __getitem__(self, key: Any, /) -> Any: ..."""

NOTE = "# Written by tools/stubs.py; change that, not this.\n"
HEAD = f"""\
{NOTE}from builtins import bool as _bool, bytes as _bytes
from collections.abc import Callable, Iterator, Sequence
from contextlib import ContextDecorator
from types import EllipsisType, ModuleType
from typing import Any, Final, Literal, NamedTuple, Self, SupportsIndex, overload

import numpy as np
import numpy.typing as npt
from numpy.typing import DTypeLike
"""

UFUNC_OPTIONS = "where: ArrayLike = True, casting: str = 'same_kind', order: str = 'K', dtype: DTypeLike | None = None"


def default_text(value):
    if value is None or isinstance(value, (bool, int, str)) or (isinstance(value, float) and np.isfinite(value)):
        return repr(value)
    return "..."


def annotation(name, default=inspect.Parameter.empty):
    text = PARAMETERS.get(name.lstrip("_"), "Any")
    if default is None and "None" not in text and text != "Any":
        text += " | None"
    return text


def one_parameter(name, default, prefix=""):
    text = f"{prefix}{name}: {annotation(name, default)}"
    return text if default is inspect.Parameter.empty else f"{text} = {default_text(default)}"


def parameters_of(f):
    """The parameters as text, and whether the first is self; from nanobind's own record where Python has none."""
    if records := getattr(f, "__nb_signature__", None):
        text, _, defaults = records[0]
        inside = text[text.index("(") + 1 : text.rindex(")")]
        parts = []
        for part in filter(None, inside.split(", ")):
            name, _, value = part.partition(": ")
            _, equals, number = value.partition(" = \\")
            if not value:
                parts.append(part if part in ("self", "*", "/") else f"{part}: Any")
                continue
            parts.append(one_parameter(name, defaults[int(number)] if equals else inspect.Parameter.empty))
        return parts
    parts, star, positional = [], False, False
    for p in inspect.signature(f).parameters.values():
        if p.kind is p.POSITIONAL_ONLY:
            positional = True
        elif positional:
            parts.append("/")
            positional = False
        if p.kind is p.VAR_POSITIONAL:
            star = True
        if p.kind is p.KEYWORD_ONLY and not star:
            parts.append("*")
            star = True
        prefix = {p.VAR_POSITIONAL: "*", p.VAR_KEYWORD: "**"}.get(p.kind, "")
        parts.append(f"{prefix}{p.name}: Any" if prefix else one_parameter(p.name, p.default))
    return parts + ["/"] * positional


def function_text(name, f, method=False):
    if name in OVERLOADS and not method:
        return "\n".join(f"@overload\ndef {name}{text}: ..." for text in OVERLOADS[name])
    parts = parameters_of(f)
    if method and parts:
        first = parts[0].partition(":")[0]
        if first not in ("self", "cls") and not first.startswith("*"):  # a function of one array, used as a method
            parts[0] = "self"
            if len(parts) > 1 and parts[1] == "/":
                del parts[1]
        else:
            parts[0] = first
    return f"def {name}({', '.join(parts)}) -> {RETURNS.get(name, 'ndarray')}: ..."


def class_text(name, cls, returns_any=False):
    """A class with its public members and the special ones that SPECIAL knows."""
    hidden = {}  # the members of bases that have no public name
    bases = []
    for base in cls.__bases__:
        if base.__name__.startswith("_"):
            hidden |= vars(base)
        elif base is not object:
            bases.append(base.__name__)
    if issubclass(cls, tuple) and hasattr(cls, "_fields"):
        fields = [f"    {field}: {inspect.formatannotation(cls.__annotations__[field])}" for field in cls._fields]
        return "\n".join([f"class {name}(NamedTuple):", *fields])
    lines = []
    for member, value in sorted({**hidden, **vars(cls)}.items()):
        special = member.startswith("__")
        if special and member in SPECIAL and name == "ndarray":
            text = SPECIAL[member]
            lines.append(f"    def {member}{text}" + ("" if "..." in text else ": ..."))
        elif isinstance(value, (property, types.GetSetDescriptorType)) and (not special or member in PROPERTIES):
            kind = PROPERTIES.get(member, "Any")
            lines += ["    @property", f"    def {member}(self) -> {kind}: ..."]
            if name == "ndarray" and member in SETTABLE:
                lines += [f"    @{member}.setter", f"    def {member}(self, value: Any) -> None: ..."]
        elif special and member not in ("__init__", "__enter__", "__exit__"):
            continue
        elif member.startswith("_") and not special:
            continue
        elif isinstance(value, (types.FunctionType, types.MethodDescriptorType)) or hasattr(value, "__nb_signature__"):
            text = function_text(member, value, method=True)
            if special:
                text = text.replace("-> ndarray", "-> None" if member != "__enter__" else "-> Any")
            elif returns_any and member not in RETURNS:
                text = text.replace("-> ndarray", "-> Any")
            lines.append("    " + text)
    if name == "ndarray":
        lines += ["    __array_priority__: float", "    __hash__: None  # type: ignore[assignment]", GETITEM]
    if name == "ufunc":
        lines += ["    __name__: str", "    def __call__(self, *args: Any, **kwargs: Any) -> Any: ..."]
    head = f"class {name}({', '.join(bases)}):" if bases else f"class {name}:"
    return "\n".join([head, *lines] if lines else [head + " ..."])


def ufunc_classes():
    """What calling takes and gives, by the numbers of operands and results."""
    lines = []
    for nin, nout in sorted({(u.nin, u.nout) for u in galop._galop.ufuncs.values()}):
        operands = ["x"] if nin == 1 else [f"x{i + 1}" for i in range(nin)]
        given = ", ".join(f"{o}: ArrayLike" for o in operands)
        result = "ndarray" if nout == 1 else f"tuple[{', '.join(['ndarray'] * nout)}]"
        options = f"out: Any = None, *, {UFUNC_OPTIONS}, subok: _bool = True"
        lines.append(f"class _ufunc_{nin}_{nout}(ufunc):")
        lines.append(f"    def __call__(self, {given}, /, {options}) -> {result}: ...")
    return lines


def namespace_stub():
    lines = [HEAD, "from . import " + ", ".join(f"{m} as {m}" for m in ("cuda", "lib", "random", "testing")), ""]
    body, foreign = [], []
    for name in galop.__all__:
        value = getattr(galop, name)
        module = getattr(value, "__module__", None)
        if isinstance(value, types.ModuleType) or name in ("ndarray", "ufunc"):
            continue
        if isinstance(value, galop.ufunc):
            body.append(f"{name}: Final[_ufunc_{value.nin}_{value.nout}]")
        elif name == "newaxis":
            body.append("newaxis: Final[None]")
        elif isinstance(value, float):
            body.append(f"{name}: Final[float]")
        elif getattr(np, name, None) is value:
            foreign.append(name)
        elif isinstance(value, type) and module == "numpy.exceptions":
            lines.append(f"from numpy.exceptions import {name} as {name}")
        elif isinstance(value, type) and module.startswith("galop"):
            base = "(RuntimeError)" if issubclass(value, RuntimeError) else ""
            body.append(f"class {name}{base}: ..." if base else class_text(name, value, returns_any=True))
        elif callable(value) and (inspect.isfunction(value) or hasattr(value, "__nb_signature__")):
            body.append(function_text(name, value))
        elif isinstance(value, type):
            body.append(f"{name}: Any")
        else:
            body.append(f"{name}: Final[Any]")
    lines += [f"from numpy import {name} as {name}" for name in foreign]
    lines += ["", "__version__: Final[str]", "__array_api_version__: Final[str]", "__all__: list[str]", ""]
    lines += ["class __array_namespace_info__:", "    def __getattr__(self, name: str) -> Callable[..., Any]: ...", ""]
    lines += [class_text("ndarray", galop.ndarray), "", "ArrayLike = ndarray | npt.ArrayLike", ""]
    lines += [class_text("ufunc", galop.ufunc, returns_any=True), "", *ufunc_classes(), "", *body, ""]
    return "\n".join(lines)


def module_stub(module):
    names = getattr(module, "__all__")
    lines = [HEAD, "from . import ArrayLike, Device, DeviceError as DeviceError, ndarray", "", "__all__: list[str]", ""]
    for name in names:
        value = getattr(module, name)
        if isinstance(value, type):
            if value.__module__ != "galop":
                lines += [class_text(name, value, returns_any=True), ""]
        elif not keyword.iskeyword(name):
            lines.append(function_text(name, value))
    return "\n".join([*lines, ""])


def stubs():
    """File name and text of every stub."""
    texts = {"__init__.pyi": namespace_stub(), "py.typed": ""}
    for module in (galop.cuda, galop.random, galop.testing):
        texts[module.__name__.rpartition(".")[2] + ".pyi"] = module_stub(module)
    parts = "".join(f"{name}: Any\n" for name in galop.lib.__all__)
    texts["lib/__init__.pyi"] = f"{NOTE}from typing import Any\n\n{parts}"
    return texts


def stale(package=PACKAGE):
    """Names of the stubs that do not say what the package is."""
    return [name for name, text in stubs().items()
            if not (package / name).exists() or (package / name).read_text() != text]  # fmt: skip


if __name__ == "__main__":
    if sys.argv[1:] == ["--check"]:
        names = stale()
        sys.exit(f"stale: {', '.join(names)}; run tools/stubs.py" if names else 0)
    for name, text in stubs().items():
        (PACKAGE / name).write_text(text)
