"""Two-variable comprehensions (cel-go `ext.TwoVarComprehensions`), macros and what they call; and
bindings, which become comprehensions as well."""

from __future__ import annotations

from celadon.cel import size_growth, syntax
from celadon.cel.codegen import inline_operators
from celadon.cel.declarations import Function, Library, Overload
from celadon.cel.parsing.macros import BINDINGS_MACROS, TWO_VARIABLE_MACROS
from celadon.cel.types import DYN, list_of, map_of, type_param
from celadon.cel.values.container_access import map_insert, map_insert_all, paid_again

_K = type_param("K")
_V = type_param("V")
_MAP = map_of(_K, _V)

LIBRARY = Library(
    "comprehensions",
    functions=(
        Function(
            syntax.MAP_INSERT,
            (
                Overload(
                    "@mapInsert_map_key_value",
                    (_MAP, _K, _V),
                    _MAP,
                    map_insert,
                    doc="A map with one more entry; a key that is there already is an error.",
                    examples=(
                        ("['a', 'b'].transformMap(i, s, s + '!')", "{0: 'a!', 1: 'b!'}"),
                        ("{'a': 1}.all(k, v, k == 'a' && v == 1)", "true"),
                    ),
                    growth=size_growth.together,
                ),
                Overload(
                    "@mapInsert_map_map",
                    (_MAP, _MAP),
                    _MAP,
                    map_insert_all,
                    doc="The entries of both maps; a key that is in both is an error.",
                    examples=(("{'a': 'b'}.transformMapEntry(k, v, {v: k})", "{'b': 'a'}"),),
                    growth=size_growth.together,
                ),
            ),
            unpaid=paid_again,
        ),
    ),
    macros=TWO_VARIABLE_MACROS,
)


# --- Bindings ----------------------------------------------------------------
#
# The bindings library (cel-go `ext.Bindings`): `cel.bind`, a comprehension over nothing, and
# `cel.@block`. Not in Kubernetes.
#
# Neither has an implementation here. `cel.bind` is a macro; `cel.@block`, which optimizers
# make, evaluates its slots lazily, so the code generator writes it out.

LATEST_BINDINGS = 1
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


def bindings(version: int = LATEST_BINDINGS) -> Library:
    return Library(
        f"bindings/{version}", functions=(_BLOCK,) if version >= 1 else (), macros=BINDINGS_MACROS
    )
