"""Switches of the engine, for tests: none of them ever changes a result."""

from contextlib import contextmanager

from . import _galop as core

__all__ = ["modes"]


@contextmanager
def modes(**switches):
    """Sets switches in a with block: eager, donation, fusion_limit (None: default), overlap_maybe, threads, block."""
    before = core.settings()
    core.set_settings(switches)
    try:
        yield
    finally:
        core.set_settings(before)
