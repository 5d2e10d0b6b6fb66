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
