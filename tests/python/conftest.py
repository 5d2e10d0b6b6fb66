"""Shared pytest set-up: floating-point warnings are silenced, since special values are tested on purpose."""

import numpy as np
import pytest

import galop


def pytest_configure(config):
    config.addinivalue_line("filterwarnings", "ignore::RuntimeWarning")
    config.addinivalue_line("filterwarnings", "ignore::numpy.exceptions.ComplexWarning")


@pytest.fixture(autouse=True)
def quiet():
    with np.errstate(all="ignore"), galop.errstate(all="ignore"):
        yield


@pytest.fixture
def one_place():
    """For tests that compare bits of several calls: a GPU's sums and functions differ from the CPU's in the last bits,
    so what chooses a place by size must not choose here."""
    if galop.ndarray is np.ndarray or str(galop.get_default_device()) != "auto" or not galop.cuda.is_available():
        yield
        return
    with galop.device("cuda"):
        yield
