"""What policies that change objects must leave alone.

Each request of the tables says which fields of its object must keep what they hold (more may be
added) and which must stay as they are. Paths are like `spec/containers/*/command`; `*` stands for
every item of a list.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from celadon.cli.bootstrapping.step_tables import Sending
from celadon.kube import JsonObject


class Harm(NamedTuple):
    """A field that is not what its component needs: the path with dots, before and after."""

    field: str
    before: object
    after: object


def harm(sending: Sending, before: JsonObject, after: JsonObject) -> Harm | None:
    """The first field that was changed and should not have been."""
    for path in sending.unchanged:
        for found in _pairs(path.split("/"), before, after, ()):
            if found.before != found.after:
                return found
    for path in sending.keeps:
        for found in _pairs(path.split("/"), before, after, ()):
            if not _holds(found.after, found.before):
                return found
    return None


def _pairs(
    steps: Sequence[str], before: object, after: object, done: tuple[str, ...]
) -> Iterator[Harm]:
    """What stands at a path in two objects; None where nothing does."""
    if not steps:
        yield Harm(".".join(done), before, after)
        return
    first, *rest = steps
    if first == "*":
        for index, one in enumerate(before if isinstance(before, list) else ()):
            other = after[index] if isinstance(after, list) and index < len(after) else None
            yield from _pairs(rest, one, other, (*done, str(index)))
        return
    yield from _pairs(rest, _member(before, first), _member(after, first), (*done, first))


def _member(value: object, name: str) -> object:
    return value.get(name) if isinstance(value, dict) else None


def _holds(whole: object, part: object) -> bool:
    """Whether all of a part is in a whole: members of maps, items of lists."""
    if part is None:
        return True
    if isinstance(part, dict):
        return isinstance(whole, dict) and all(
            key in whole and _holds(whole[key], one) for key, one in part.items()
        )
    if isinstance(part, list):
        return isinstance(whole, list) and all(
            any(_holds(other, one) for other in whole) for one in part
        )
    return bool(whole == part)
