"""The bindings library (cel-go `ext.Bindings`): `cel.bind`, and `cel.@block`. Not in Kubernetes.

Neither has an implementation here. `cel.bind` is a macro; `cel.@block`, which optimizers make,
evaluates its slots lazily, so the code generator writes it out.
"""

from __future__ import annotations

from celadon.cel import syntax
from celadon.cel.codegen import inline_operators
from celadon.cel.declarations import Function, Library, Overload
from celadon.cel.parsing.macros import BINDINGS_MACROS
from celadon.cel.types import DYN, list_of, type_param

LATEST = 1
_T = type_param("T")

_BLOCK = Function(
    syntax.BLOCK,
    (
        Overload(
            "cel_block_list",
            (list_of(DYN), _T),
            _T,
            doc="The second argument, in which `@index0`, `@index1`, … are the slots of the first.",
            inline=inline_operators.BLOCK,
        ),
    ),
)


def library(version: int = LATEST) -> Library:
    return Library(
        f"bindings/{version}",
        functions=(_BLOCK,) if version >= 1 else (),
        macros=BINDINGS_MACROS,
    )
