"""Prints a public header as Doxygen is to read it: its opening lines as the page's text, the rows of ops.def spelled out.

Run by Doxygen (docs/Doxyfile): python tools/doxygen_filter.py HEADER
"""

import re
import sys
from pathlib import Path

SUMMARY = re.compile(r'"([^"]*)"')
CLASSES = {"UNARY": "unary_ufunc", "BINARY": "binary_ufunc", "BINARY_INT": "binary_ufunc", "TERNARY": "ternary_ufunc",
           "UNARY2": "unary2_ufunc", "BINARY2": "binary2_ufunc"}  # fmt: skip


def rows(table: str) -> str:
    """One documented object for each row and for each second spelling."""
    lines = []
    for line in table.splitlines():
        row = re.match(r"(\w+)\s*\((\w+),", line)
        if row and row[1] in CLASSES:
            summary = SUMMARY.findall(line)[1]  # the first text holds the typecodes
            lines.append(f"/// {summary}\ninline constexpr {CLASSES[row[1]]} {row[2]};")
        else:
            lines += [f"/// The same as {name}.\ninline constexpr auto {alias} = {name};"
                      for alias, name in re.findall(r"ALIAS\((\w+), (\w+)\)", line) if alias != "alias"]  # fmt: skip
    return "\n".join(lines)


def main() -> None:
    header = Path(sys.argv[1])
    opening, rest = header.read_text(encoding="utf-8").split("#pragma once", 1)
    opening = re.sub("^//", "///", opening, flags=re.MULTILINE)
    rest = re.sub(r"^#define (UNARY|BINARY|TERNARY|ALIAS).*\n", "", rest, flags=re.MULTILINE)
    if header.name == "ufunc.hpp":
        rest = rest.replace('#include "galop/ops.def"', rows((header.parent / "ops.def").read_text(encoding="utf-8")))
    sys.stdout.write(f"{opening}/// @file{rest}")


if __name__ == "__main__":
    main()
