"""Whether a create leaves alone what defaulting looks at.

A server reads back what it has stored and defaults it again. For most kinds that changes nothing,
since a create only resets the status and counts the first generation; then it need not be done.
Here this is read off the rules of a kind. Rules that take fields away which are not enabled say so
themselves when they do (`Run.is_disturbed`).
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Iterator
from typing import Any, Final

from celadon.kube.defaulting.defaulting_rules import ON_OBJECTS, listed_rules, placed_rules
from celadon.kube.defaulting.field_functions import DROP_STOP_SIGNAL, Rule
from celadon.kube.names import GroupVersionKind

STATUS: Final = "status"
GENERATION: Final = "metadata.generation"
_REPEATED: Final = ("default", "convert")
"""The phases that a stored object goes through again."""


@functools.lru_cache(maxsize=256)
def outlasts_creation(gvk: GroupVersionKind, gates: frozenset[str]) -> bool:
    """Whether defaulting a new object of the kind again finds nothing to do."""
    repeated = (one for phase in _REPEATED for one in placed_rules(listed_rules(gvk, phase), gates))
    if any(_may_see_changes(path, rule) for path, rule in repeated):
        return False
    created = placed_rules(listed_rules(gvk, "create"), gates)
    return all(_is_harmless(path, rule) for path, rule in created)


def _is_below(path: str, top: str) -> bool:
    return path == top or path.startswith(f"{top}.")


def _may_see_changes(path: str, rule: Rule) -> bool:
    """Whether it is about the status or the generation, or a function of the whole object, or
    looks at them from elsewhere."""
    if not path and rule.get("fn") in ON_OBJECTS:
        return True
    looked_at = (path, *_roots(rule.get("when", {})), *_roots(_sources(rule)))
    return any(_is_below(one, STATUS) or _is_below(one, GENERATION) for one in looked_at)


def _sources(rule: Rule) -> Iterator[Any]:
    return (rule[key] for key in ("copyFrom", "from") if key in rule)


def _roots(paths: Iterable[str]) -> Iterator[str]:
    """Those that begin at the root of the object."""
    return (path[2:] for path in paths if path.startswith("$."))


def _is_harmless(path: str, rule: Rule) -> bool:
    if "delete" in rule or rule.get("fn") == DROP_STOP_SIGNAL:
        return True
    return _is_below(path, STATUS) or path == GENERATION
