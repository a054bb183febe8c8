"""What a parser is told: macros, optional syntax, limits."""

from __future__ import annotations

from dataclasses import field
from functools import cached_property

from celadon.cel.parsing.expansion import Macro, MacroTable
from celadon.cel.parsing.macros import STANDARD_MACROS
from celadon.cel.parsing.parse_limits import ParseLimits
from celadon.records import dataclass


# House rule 9: without slots, because `cached_property` needs the instance dictionary.
@dataclass(frozen=True)
class ParseOptions:
    """Make one and use it often: the table of macros is built once per instance.

    `optional_syntax` allows `.?`, `[?`, `{?` and `[?e]`; `escape_syntax` field names in backticks.
    `macro_calls` keeps in the tree what macros were before their expansion, for the unparser.
    """

    macros: tuple[Macro, ...] = STANDARD_MACROS
    optional_syntax: bool = True
    escape_syntax: bool = False
    macro_calls: bool = True
    limits: ParseLimits = field(default_factory=ParseLimits)

    @cached_property
    def macro_table(self) -> MacroTable:
        """By name, then by number of arguments and whether there is a receiver."""
        table: MacroTable = {}
        for macro in self.macros:
            table.setdefault(macro.name, {})[macro.arg_count, macro.member] = macro
        return table
