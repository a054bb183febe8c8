"""optional values: `Optional(value)` is present, `NONE` is absent."""

from __future__ import annotations

from typing import Any, Final

from celadon.cel.errors import EvaluationError


class Optional:
    """An optional value. A present null is `Optional(None)`; absence is the one object `NONE`."""

    __slots__ = ("value",)

    def __init__(self, value: object) -> None:
        self.value = value

    def __repr__(self) -> str:
        return "NONE" if self is NONE else f"Optional({self.value!r})"

    def get(self) -> Any:
        """The value. Raises EvaluationError if there is none."""
        if self is NONE:
            raise EvaluationError("optional.none() dereference")
        return self.value


NONE: Final[Optional] = Optional(None)
"""The optional without a value, the only one; compare with `is`."""
