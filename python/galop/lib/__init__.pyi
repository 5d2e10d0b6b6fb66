# Written by tools/stubs.py; change that, not this.
from typing import Any

format: Any
npyio: Any
stride_tricks: Any
