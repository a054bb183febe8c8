"""What is wrong with an input, as a value that can be shown in any format.

Texts obey the house's second law: lower case, no final period, user input in backticks, the
position and the help apart from the message.
"""

from __future__ import annotations

from collections.abc import Iterable

from celadon.cli.exits import Exit
from celadon.records import dataclass


@dataclass(frozen=True, slots=True)
class Problem:
    """One reason why (a part of) an input could not be used.

    `line` counts from 1 and is 0 when the problem concerns the file as a whole. `is_internal` says
    that the reason is a defect of ours.
    """

    file: str
    line: int
    message: str
    help: str = ""
    is_internal: bool = False
    column: int = 0

    def position(self) -> str:
        """`file:line:column`, as much of it as is known."""
        known = [str(one) for one in (self.line, self.column) if one]
        return ":".join((self.file, *known))

    def text(self) -> str:
        """`file:line: message (help)`."""
        help = f" ({self.help})" if self.help else ""
        return f"{self.position()}: {self.message}{help}"


def exit_of(problems: Iterable[Problem]) -> Exit:
    """What a run ends with on their account: a defect of ours goes before unreadable input."""
    found = list(problems)
    if any(one.is_internal for one in found):
        return Exit.INTERNAL
    return Exit.USAGE if found else Exit.OK
