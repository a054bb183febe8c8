"""Two-variable comprehensions (cel-go `ext.TwoVarComprehensions`): macros, and what they call."""

from __future__ import annotations

from celadon.cel import growth, syntax
from celadon.cel.declarations import Function, Library, Overload
from celadon.cel.parsing.macros import TWO_VARIABLE_MACROS
from celadon.cel.types import map_of, type_param
from celadon.cel.values.container_access import map_insert, map_insert_all

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
                    growth=growth.together,
                ),
                Overload(
                    "@mapInsert_map_map",
                    (_MAP, _MAP),
                    _MAP,
                    map_insert_all,
                    doc="The entries of both maps; a key that is in both is an error.",
                    examples=(("{'a': 'b'}.transformMapEntry(k, v, {v: k})", "{'b': 'a'}"),),
                    growth=growth.together,
                ),
            ),
        ),
    ),
    macros=TWO_VARIABLE_MACROS,
)
