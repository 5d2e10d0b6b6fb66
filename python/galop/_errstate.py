"""What happens on floating-point exceptions: NumPy's errstate, for Galop's operations and, along with them, NumPy's.

An operation follows the state that was in force where it was called, also when it is computed later.
"""

import contextlib
import contextvars

import numpy as np

from ._common import core

__all__ = ["errstate", "geterr", "geterrcall", "seterr", "seterrcall"]

_ACTIONS = ("ignore", "warn", "raise", "call", "print", "log")
_FLAGS = ("divide", "over", "under", "invalid")  # three bits of the policy each
_UNSET = object()


def _packed(actions):
    return sum(_ACTIONS.index(a) << 3 * k for k, a in enumerate(actions))


_FIRST = (_packed(("warn", "warn", "ignore", "warn")), None)
_state = contextvars.ContextVar("galop_errstate", default=_FIRST)
core.watch_errstate(_state, _FIRST)


def _actions(policy):
    return [_ACTIONS[policy >> 3 * k & 7] for k in range(4)]


def _changed(all, divide, over, under, invalid, call=_UNSET):
    """The state after a change; None leaves a flag's action."""
    policy, hook = _state.get()
    actions = [a if a is not None else all for a in (divide, over, under, invalid)]
    actions = [old if new is None else new for new, old in zip(actions, _actions(policy))]
    for a in actions:
        if a not in _ACTIONS:
            raise ValueError(f"[errstate] an action is one of {', '.join(_ACTIONS)}; got {a!r}")
    return _packed(actions), hook if call is _UNSET else _checked_hook(call)


def _checked_hook(hook):
    if hook is None or callable(hook) or callable(getattr(hook, "write", None)):
        return hook
    raise ValueError(f"[seterrcall] takes a function, an object with a method write, or None; got {hook!r}")


def _apply_to_numpy(state):
    policy, hook = state
    np.seterr(**dict(zip(_FLAGS, _actions(policy))))
    np.seterrcall(hook)


def geterr():
    """The action for each kind of floating-point exception, as a dict."""
    return dict(zip(_FLAGS, _actions(_state.get()[0])))


def seterr(all=None, divide=None, over=None, under=None, invalid=None):
    """Sets actions in this context (thread or task) and returns the former ones, as geterr() gives them.

    An action is "ignore", "warn", "raise", "call", "print" or "log"; None leaves it as it is.
    """
    before = geterr()
    state = _changed(all, divide, over, under, invalid)
    _state.set(state)
    _apply_to_numpy(state)
    return before


def geterrcall():
    """What seterrcall set."""
    return _state.get()[1]


def seterrcall(func):
    """Sets the function for the action "call", f(kind, flags), or the object whose write() serves "log"; returns the
    former one.
    """
    before = geterrcall()
    state = (_state.get()[0], _checked_hook(func))
    _state.set(state)
    _apply_to_numpy(state)
    return before


class errstate(contextlib.ContextDecorator):
    """errstate(*, call=..., all=None, divide=None, over=None, under=None, invalid=None): actions for a `with` block or,
    as a decorator, for a function.

    Within "raise" and "call" operations are computed at the call, so that the program stops at the statement.
    """

    def __init__(self, *, call=_UNSET, all=None, divide=None, over=None, under=None, invalid=None):
        self._wanted = (all, divide, over, under, invalid, call)
        self._token = None

    def _recreate_cm(self):
        *actions, call = self._wanted
        return type(self)(call=call, **dict(zip(("all", *_FLAGS), actions)))

    def __enter__(self):
        if self._token is not None:
            raise TypeError("[errstate] cannot be entered twice; got one that is in force")
        state = _changed(*self._wanted)
        self._numpy = np.errstate(call=state[1], **dict(zip(_FLAGS, _actions(state[0]))))
        self._numpy.__enter__()
        self._token = _state.set(state)

    def __exit__(self, *error):
        _state.reset(self._token)
        self._token = None
        self._numpy.__exit__(*error)


for _name in __all__:
    globals()[_name].__module__ = "galop"
