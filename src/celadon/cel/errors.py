"""The exceptions of the language room.

    CelError
    ├── DeclarationError   declarations that contradict each other; no environment can be built
    ├── CompileError       source that cannot become a checked tree; carries its issues
    ├── ProgramError       a checked tree that cannot become a program (constant folding failed)
    └── EvaluationError    a CEL error at run time; inside generated code it *is* the CEL error
        ├── CostLimitExceeded   the metered variant went over its limit
        └── Panicked            cel-go panics here, which ends the evaluation

An `EvaluationError`'s text is exactly the text cel-go gives (no prefix, no position). `cost` is
filled in where the exception leaves a metered evaluation, not where it is raised: raising must
stay cheap because `&&`, `||`, `all` and `exists` absorb these errors. Where in the source it came
up is found on request (`Program.locate`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from celadon.cel.issues import Issues


class CelError(Exception):
    """Base of everything this room raises on purpose."""


class DeclarationError(CelError):
    """Two declarations of an environment collide."""


class CompileError(CelError):
    """The source does not parse or check; `issues` says why and where."""

    def __init__(self, issues: Issues) -> None:
        super().__init__(issues.display())
        self.issues = issues


class ProgramError(CelError):
    """Planning failed, for instance `int('x')` or a bad constant regular expression."""


class EvaluationError(CelError):
    """A CEL run-time error. `str(error)` is cel-go's text.

    A value of the activation that computes itself when it is read may fail by raising one with an
    `origin` of its own: the error that leaves the evaluation because of it has the same. It is
    None for errors of the expression itself.
    """

    __slots__ = ("cost", "origin")

    def __init__(self, message: str, origin: object = None) -> None:
        super().__init__(message)
        self.cost: int | None = None
        self.origin = origin

    @property
    def message(self) -> str:
        """cel-go's text, without prefix or position."""
        return str(self.args[0])


class CostLimitExceeded(EvaluationError):
    """cel-go: `operation cancelled: actual cost limit exceeded`. Never absorbed by `&&` or `||`."""

    __slots__ = ()

    def __init__(self) -> None:
        super().__init__("operation cancelled: actual cost limit exceeded")


class Panicked(EvaluationError):
    """Where cel-go panics: `internal error: ...`. Never absorbed by `&&` or `||`."""

    __slots__ = ()

    def __init__(self, message: str) -> None:
        super().__init__(f"internal error: {message}")


def unhashable(go_name: str) -> Panicked:
    """Go cannot look up a value of that class, nor make it a key."""
    return Panicked(f"runtime error: hash of unhashable type {go_name}")


def no_such_overload(detail: str = "") -> EvaluationError:
    """`no such overload` or `no such overload: <detail>`."""
    return EvaluationError(f"no such overload: {detail}" if detail else "no such overload")
