"""Write `celadon/record_shapes.py`: the `__init__` of records of all shapes that a short command
defines.

    python -m tools.record_shapes [--check]

A shape is a number of fields, and which of them have factories.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Final

OUTPUT: Final = Path("src/celadon/record_shapes.py")
Shape = tuple[int, tuple[int, ...]]

_ASKED: Final = """\
import contextlib, dataclasses, io, sys
from celadon.cli.main import main
with contextlib.redirect_stdout(io.StringIO()):
    main(["check", "-f", sys.argv[1], sys.argv[2]])
for module in [*sys.modules.values()]:
    for one in [*vars(module).values()]:
        own = vars(one) if isinstance(one, type) else {}
        is_own = module.__name__.startswith("celadon.")
        if is_own and "__slots__" in own and "__dataclass_fields__" in own:
            fields = dataclasses.fields(one)
            if all(field.init and not field.kw_only for field in fields):
                missing = dataclasses.MISSING
                made = [n for n, field in enumerate(fields) if field.default_factory is not missing]
                print(len(fields), *made)
"""
"""Prints the shapes of all records that a `celadon check` loads."""
_POLICIES: Final = "examples/policies"
_MANIFESTS: Final = "examples/manifests"

_HEAD: Final = '''\
"""The `__init__` of records, by their shape: how many fields they have, and which of them have
factories. Written by `python -m tools.record_shapes`.

The standard library would write and compile each when a program starts: 0.4 ms for a shape,
20 ms for those of a `celadon check`, a twelfth of it. Functions of a module are compiled once.
`celadon.records` makes one again for each class, with the names of its fields; shapes that are not
here it has from the standard library, whose functions are the same.
"""

# fmt: off
# ruff: noqa
# mypy: ignore-errors

from dataclasses import _HAS_DEFAULT_FACTORY as MARK


'''


def asked() -> list[Shape]:
    """The shapes of a start, in order."""
    command = [sys.executable, "-c", _ASKED, _POLICIES, _MANIFESTS]
    said = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    lines = {tuple(map(int, line.split())) for line in said.splitlines()}
    return sorted((count, tuple(factories)) for count, *factories in lines)


def written(shapes: Iterable[Shape]) -> str:
    """The module."""
    named = {shape: "_".join(("_of", *map(str, (shape[0], *shape[1])))) for shape in shapes}
    functions = "\n\n".join(_function(name, *shape) for shape, name in named.items())
    table = "".join(f"    {shape}: {name}(),\n" for shape, name in named.items())
    return f"{_HEAD}{functions}\n\nSHAPES = {{\n{table}}}\n"


def _function(name: str, count: int, factories: tuple[int, ...]) -> str:
    """In place of each factory stands its name, as in a model of `celadon.records`."""
    cells = [f"_dflt_f{n}='f{n}'" for n in factories]
    outer = ", ".join(("_HAS_DEFAULT_FACTORY=MARK", *cells)) if cells else ""
    marks = dict.fromkeys(factories, "_HAS_DEFAULT_FACTORY")
    arguments = ", ".join(("self", *(f"f{n}={marks.get(n)}" for n in range(count))))
    lines = [
        f"        self.f{n} = _dflt_f{n}() if f{n} is _HAS_DEFAULT_FACTORY else f{n}"
        if n in marks
        else f"        self.f{n} = f{n}"
        for n in range(count)
    ]
    body = "\n".join(lines or ["        pass"])
    return f"def {name}({outer}):\n    def __init__({arguments}):\n{body}\n    return __init__\n"


def main() -> int:
    """Write the module, or say whether it is what would be written."""
    text = written(asked())
    if "--check" in sys.argv[1:]:
        return int(OUTPUT.read_text() != text)
    OUTPUT.write_text(text)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
