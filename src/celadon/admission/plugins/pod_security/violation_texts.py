"""What a check of the Pod Security Standards finds, and the words that all of them share."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from celadon.kube import JsonObject
from celadon.records import dataclass


@dataclass(frozen=True, slots=True)
class Violation:
    """`reason` is the same for every pod, `detail` says where in this one; it may be empty."""

    reason: str
    detail: str = ""

    def __str__(self) -> str:
        return f"{self.reason} ({self.detail})" if self.detail else self.reason


Check = Callable[[JsonObject, JsonObject], Violation | None]
"""Of the metadata and the spec of a pod."""


def one_or_more(word: str, count: int) -> str:
    """`container` or `containers`."""
    return word if count == 1 else f"{word}s"


def quoted(items: Iterable[str]) -> str:
    """`"a", "b"`: as they are, nothing in them is escaped."""
    return ", ".join(f'"{item}"' for item in items)


def named(names: Sequence[str], word: str = "container") -> str:
    """`containers "a", "b"`."""
    return f"{one_or_more(word, len(names))} {quoted(names)}"


def setters(names: Sequence[str], *, pod: bool) -> str:
    """`pod and container "a"`: who has set something; empty if nobody has."""
    who = ["pod"] if pod else []
    if names:
        who.append(named(names))
    return " and ".join(who)


def context_of(owner: JsonObject) -> JsonObject:
    """The security context of a pod or a container; empty if it has none."""
    return owner.get("securityContext") or {}
