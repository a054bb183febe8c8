"""Which fields an endpoint can give to a manager: those it can write.

An update to the object leaves the status, one to the status leaves the rest, and nobody gets to own
what he cannot change. What each kind keeps is known from the rules of its updates. As
`GetResetFields` of the strategies of k8s.io/kubernetes `pkg/registry`.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable
from dataclasses import field
from typing import Final

from celadon.kube.apply.field_elements import FIELD
from celadon.kube.apply.field_sets import FieldSet, field_set
from celadon.kube.apply.typed.comparisons import Comparison
from celadon.kube.defaulting.defaulting_rules import update_rules
from celadon.kube.names import GroupVersionKind
from celadon.kube.registry.target import Target
from celadon.kube.registry.update import EVERYTHING, PARTS
from celadon.records import dataclass

ITEMS: Final = "[*]"
"""In a path: all items of the list before it."""

_WIPED_METADATA: Final = "metadata.annotations"
"""A status that resets this resets all metadata."""


@dataclass(frozen=True, slots=True)
class Writable:
    """`reset` are trees of fields that are not given to anybody; with `only`, nothing else is."""

    reset: FieldSet = field(default_factory=FieldSet)
    only: tuple[tuple[str, ...], ...] = ()

    def of(self, fields: FieldSet) -> FieldSet:
        """What remains of a set."""
        if self.only:
            fields = _matching(fields, self.only)
        return fields.without_trees(self.reset)

    def of_comparison(self, found: Comparison) -> Comparison:
        """What remains of a comparison."""
        made = Comparison()
        made.added = self.of(found.added)
        made.modified = self.of(found.modified)
        made.removed = self.of(found.removed)
        return made


def _matching(fields: FieldSet, paths: tuple[tuple[str, ...], ...]) -> FieldSet:
    """What is at or below the paths; `ITEMS` is any element."""
    made = FieldSet()
    for element in fields.members | fields.children.keys():
        below = [rest for first, *rest in paths if first in (element, ITEMS)]
        if not below:
            continue
        children = fields.children.get(element)
        if not all(below):  # a path ends here: everything below counts
            if element in fields.members:
                made.members.add(element)
            if children is not None:
                made.children[element] = children
        elif children is not None:
            made.put(element, _matching(children, tuple(map(tuple, below))))
    return made


def writable(target: Target) -> Writable:
    """What the endpoint can write."""
    custom = target.custom
    if target.resource.custom or custom is not None:
        if target.subresource == "status":
            return Writable(only=((FIELD + "status",),))
        if custom is not None and custom.has_status and not target.subresource:
            return Writable(field_set((FIELD + "status",)))
        return Writable()
    return _built_in(target.resource.gvk, target.subresource)


@functools.lru_cache(maxsize=1024)
def _built_in(gvk: GroupVersionKind, subresource: str) -> Writable:
    rules = update_rules(gvk)
    if not subresource:
        kept = rules.get("keep", ())
        return Writable(_resets(path for path in kept if "." not in path))
    if subresource == "status":
        kept = rules.get("statusKeep", ())
        whole = ("metadata",) if _WIPED_METADATA in kept else ()
        return Writable(_resets((*kept, *whole)))
    parts = PARTS.get((gvk.kind, subresource), EVERYTHING)
    if parts.only is not None:
        return Writable(only=tuple(_split(path) for path in parts.only))
    return Writable(_resets(parts.kept))


def _resets(paths: Iterable[str]) -> FieldSet:
    return field_set(*map(_split, paths))


def _split(path: str) -> tuple[str, ...]:
    found: list[str] = []
    for name in path.split("."):
        found.append(FIELD + name.removesuffix(ITEMS))
        if name.endswith(ITEMS):
            found.append(ITEMS)
    return tuple(found)
