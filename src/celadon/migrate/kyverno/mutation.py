"""What a rule of Kyverno changes: patches, and patches of every element of lists."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from celadon.kube import JsonObject
from celadon.migrate.cel_text import ALWAYS, conjunction
from celadon.migrate.kyverno.conditions import conditions
from celadon.migrate.kyverno.json_patches import PatchedElement, json_patch, operations_of
from celadon.migrate.kyverno.merge_patches import Element, MergePatch, merge_patch
from celadon.migrate.kyverno.queries import Branch, Located, Names, elements, read
from celadon.migrate.losses import NotTranslated
from celadon.migrate.shapes import Place

MUTATE_FIELDS: Final = frozenset({"patchStrategicMerge", "patchesJson6902", "foreach"})
_FOREACH: Final = frozenset(
    {"list", "patchStrategicMerge", "patchesJson6902", "preconditions", "order"}
)


def mutation(place: Place, mutate: JsonObject, names: Names) -> MergePatch:
    """Return what a rule does to an object. Raises NotTranslated."""
    if "foreach" in mutate:
        every = [one for entry in mutate["foreach"] for one in _for_each(place, entry, names)]
        found = dict.fromkeys(text for one in every for text in one.mutations)
        made = MergePatch(tuple(found), conjunction(one.condition for one in every))
    elif "patchesJson6902" in mutate:
        given = operations_of(mutate["patchesJson6902"])
        made = MergePatch(json_patch(place, given, names), ALWAYS)
    else:
        made = merge_patch(place, mutate.get("patchStrategicMerge") or {}, names)
    if not made.mutations:
        raise NotTranslated("a patch that changes nothing")
    return made


def _for_each(place: Place, entry: JsonObject, names: Names) -> list[MergePatch]:
    unknown = set(entry) - _FOREACH
    if unknown:
        raise NotTranslated(f"`{min(unknown)}` in foreach")
    branches = elements(read(str(entry["list"]), names))
    if "patchesJson6902" in entry:
        branches = [one for one in branches if _is_patched(entry["patchesJson6902"], one)]
        if not branches:
            raise NotTranslated("a JSON patch of no list that is gone through")
    return [_of_element(place, entry, names, one) for one in branches]


def _is_patched(operations: object, branch: Branch) -> bool:
    """Return whether JSON patches are for elements of a list: all paths lead into it."""
    start = f"/{branch.sources[0].place.path.replace('.', '/')}/"
    return all(str(one.get("path")).startswith(start) for one in operations_of(operations))


def _of_element(place: Place, entry: JsonObject, names: Names, branch: Branch) -> MergePatch:
    if len(branch.sources) != 1:
        raise NotTranslated("a patch of elements of lists in each other")
    (source,) = branch.sources
    assert isinstance(branch.value, Located)
    if branch.value.place.path != f"{source.place.path}[*]":
        raise NotTranslated("a patch of a part of an element")
    item = replace(branch.value.place.there(), taken=frozenset({source.variable}))
    inside = Names({**names.members, "element": Located(item)})
    only = source.only
    if entry.get("preconditions"):
        only = conjunction([only, conditions(entry["preconditions"], inside)])
    if "patchesJson6902" in entry:
        element = PatchedElement(source.place, source.variable, only)
        given = operations_of(entry["patchesJson6902"])
        return MergePatch(json_patch(place, given, inside, element), ALWAYS)
    if not source.place.is_never_empty and len(entry["patchStrategicMerge"]) > 1:
        raise NotTranslated("a patch for a list that may be empty, and of what is outside of it")
    patch = entry["patchStrategicMerge"]
    return merge_patch(place, patch, inside, Element(source.place.path, only))
