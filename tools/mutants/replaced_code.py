"""A mistake in functions that are loaded already: their code is replaced where it stands.

Whoever imported a function keeps the object, so a module that is run again would not reach it; its
`__code__` does. That serves for mistakes in lines that run when functions are called. Lines that
run on import (tables, defaults, whatever tests build when they are collected) need a new import.
"""

from __future__ import annotations

import ast
import gc
import sys
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from types import CodeType, FunctionType

from tools.mutants.mutations import mutated

Key = tuple[str, int]
"""Qualified name and first line: what tells functions of a module apart, but for some lambdas."""


def replace_code(module: str, path: Path, number: int) -> None:
    """Make that mistake in the functions of the module, wherever they are."""
    tree = mutated(path.read_text(encoding="utf-8"), number)
    codes = _by_key(compile(tree, str(path), "exec"))
    file = sys.modules[module].__file__
    for found in gc.get_objects():
        if type(found) is FunctionType and found.__code__.co_filename == file:
            same = codes.get(_key(found.__code__), ())
            if len(same) == 1:
                found.__code__ = same[0]


def is_replaceable(path: Path, line: int, number: int) -> bool:
    """Whether the line is in a function that can be told from all others by its key, and that
    mistake leaves every function the variables around it that it reads: Python replaces the code
    of a closure only by such."""
    source = path.read_text(encoding="utf-8")
    codes = _by_key(compile(ast.parse(source), str(path), "exec"))
    mistaken = _by_key(compile(mutated(source, number), str(path), "exec"))
    if any(_free(codes[key]) != _free(mistaken[key]) for key in codes if key in mistaken):
        return False
    around = [
        same
        for same in codes.values()
        for code in same
        if code.co_name != "<module>" and any(at == line for _, _, at in code.co_lines())
    ]
    return bool(around) and all(len(same) == 1 for same in around)


def _free(codes: list[CodeType]) -> list[int]:
    return [len(code.co_freevars) for code in codes]


def _by_key(code: CodeType) -> dict[Key, list[CodeType]]:
    found: defaultdict[Key, list[CodeType]] = defaultdict(list)
    for one in _all(code):
        found[_key(one)].append(one)
    return found


def _all(code: CodeType) -> Iterator[CodeType]:
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _all(constant)


def _key(code: CodeType) -> Key:
    return code.co_qualname, code.co_firstlineno
