"""Values of a configuration that JSON does not have: what a mutating policy may put into an object.

They never fit a schema; all there is to know of one is how Go prints it.
"""

from __future__ import annotations

from celadon.records import dataclass


@dataclass(frozen=True, slots=True, eq=False)
class ForeignValue:
    """`go_type` is what `%T` prints, `plain` what `%v` does, `written` what `%#v` does; `value` is
    whatever it was made of."""

    go_type: str
    plain: str
    written: str
    value: object = None

    def __str__(self) -> str:
        return self.plain
