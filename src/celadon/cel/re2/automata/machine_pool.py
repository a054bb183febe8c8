"""Machines that remember, shared by callers that may run at the same time.

An automaton grows while it runs, so two threads must not run it at once. Each run takes one from
the spares, or a new one when there is none, and puts it back when it is done; one that failed in
between is not put back. Taking and putting are single operations of a list.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, TypeVar

T = TypeVar("T")


class Spares(Generic[T]):
    """Machines that nobody is using; more are made when there are none."""

    def __init__(self, make: Callable[[], T]) -> None:
        self._make = make
        self._spares: list[T] = []

    def take(self) -> T:
        try:
            return self._spares.pop()
        except IndexError:
            return self._make()

    def put(self, machine: T) -> None:
        self._spares.append(machine)
