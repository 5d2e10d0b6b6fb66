"""Switches of the engine, for tests: none of them ever changes a result."""

from contextlib import contextmanager

from . import _galop as core

__all__ = ["modes"]


@contextmanager
def modes(**switches):
    """Sets switches in a with block: eager (False: small arrays are lazy too), eager_below, donation, fusion_limit (None: default),
    overlap_maybe, threads, block."""
    before = core.settings()
    if switches.get("eager") is False:
        switches.setdefault("eager_below", 0)
    core.set_settings(switches)
    try:
        yield
    finally:
        core.set_settings(before)
