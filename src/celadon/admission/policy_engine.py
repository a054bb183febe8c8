"""What the engines of both types of policies have in common."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Protocol, Self


class PolicyEngine(Protocol):
    """An engine of policies of one type; those, and their bindings, are what was decoded from
    documents of its kinds."""

    def replaced(self, policies: Iterable[Any], bindings: Iterable[Any]) -> Self:
        """With others in place of those that are objects; what stays is not compiled again."""

    def with_static(self, policies: Iterable[Any], bindings: Iterable[Any]) -> Self:
        """With others in place of those from files of the server."""

    def prepare(self) -> Self:
        """The same, with nothing left to be compiled while requests are decided."""
