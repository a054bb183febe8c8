"""What is wrong with an input, as a value that can be shown in any format.

Texts obey the house's second law: lower case, no final period, user input in backticks, the
position and the help apart from the message.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Final

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
    """Return what a run ends with on their account: a defect of ours goes before unreadable
    input."""
    found = list(problems)
    if any(one.is_internal for one in found):
        return Exit.INTERNAL
    return Exit.USAGE if found else Exit.OK


# --- Errors of our own -------------------------------------------------------
#
# Errors of our own: said in a line, with what a report of them needs.
#
# Whatever an input does to us, the other inputs are still judged, and the exit code is one that
# means neither "admitted" nor "denied" (`Exit.INTERNAL`).

TRACEBACK_VARIABLE: Final = "CELADON_TRACEBACK"
"""Set in the environment, it makes the commands show whole tracebacks of such errors."""
_PACKAGE: Final = os.path.join(os.path.dirname(os.path.dirname(os.path.dirname(__file__))), "")
HELP: Final = f"please report it with the input; {TRACEBACK_VARIABLE}=1 shows more"


def crash(file: str, line: int, doing: str, error: Exception) -> Problem:
    """Return what happened while we were `doing` something with what stands at a place."""
    message = f"internal error while {doing}: {summary(error)}"
    return Problem(file, line, message, HELP, is_internal=True)


def summary(error: BaseException) -> str:
    """`TypeError: message (kube/names.py:12)`, and the traceback if the environment asks for it."""
    import traceback

    said = "".join(traceback.format_exception_only(error)).strip()
    ours = [one for one in traceback.extract_tb(error.__traceback__) if _PACKAGE in one.filename]
    place = ""
    if ours:
        _, _, below = ours[-1].filename.rpartition(_PACKAGE)
        place = f" ({below}:{ours[-1].lineno})"
    if not os.environ.get(TRACEBACK_VARIABLE):
        return f"{said}{place}"
    return f"{said}{place}\n{''.join(traceback.format_exception(error)).rstrip()}"
