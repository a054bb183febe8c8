"""Regular expressions that are compiled when they are first used.

A command loads modules with more than a hundred patterns and uses a third of them. Compiling one
takes half a millisecond, a thousand times as long as everything else about a constant: together a
tenth of a short command. Those of modules are therefore made with `late_pattern`. From its first
use on such a pattern is as fast as any, since its methods are then the compiled pattern's.

For type checkers this is `re.compile`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from re import compile as late_pattern

    __all__ = ["late_pattern"]
else:
    import re
    from functools import partial
    from operator import methodcaller

    # Named like the function that it stands for, as type checkers see it.
    class late_pattern:
        """A pattern, with the methods of `re.Pattern` that this package uses."""

        __slots__ = (
            "findall",
            "finditer",
            "flags",
            "fullmatch",
            "match",
            "pattern",
            "search",
            "split",
            "sub",
        )

        def __init__(self, text, flags=0):
            self.pattern = text
            self.flags = flags
            self.findall = partial(self._first, "findall")
            self.finditer = partial(self._first, "finditer")
            self.fullmatch = partial(self._first, "fullmatch")
            self.match = partial(self._first, "match")
            self.search = partial(self._first, "search")
            self.split = partial(self._first, "split")
            self.sub = partial(self._first, "sub")

        def _first(self, method, *given, **named):
            """Compile, and do what was asked for."""
            # Two threads may come here at once: both compile, and either result serves.
            compiled = re.compile(self.pattern, self.flags)
            self.findall = compiled.findall
            self.finditer = compiled.finditer
            self.fullmatch = compiled.fullmatch
            self.match = compiled.match
            self.search = compiled.search
            self.split = compiled.split
            self.sub = compiled.sub
            return methodcaller(method, *given, **named)(compiled)
