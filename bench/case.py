"""What a case is: one expression, and the function a careful person would write for it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

JsonObject = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Case:
    """`by_hand` takes the values of `variables`, in that order. It returns what `expression`
    returns, and raises where that fails; its name is the case's. `kind` names the objects."""

    by_hand: Callable[..., Any]
    expression: str
    kind: str
    variables: tuple[str, ...] = ("object",)

    @property
    def name(self) -> str:
        return self.by_hand.__name__.replace("_", "-")
