"""What a constraint applies to: its `match` as match constraints and match conditions.

Selectors, kinds, scopes and plain names of namespaces have fields of their own, which a binding can
have. Names with wildcards are match conditions, which only a policy can have. Facts about the
meaning: gatekeeper `pkg/mutation/match/match.go` and `pkg/util/wildcard.go`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from celadon.kube import GroupVersionKind, Json, JsonObject
from celadon.kube.resources import Catalog, guess_resource
from celadon.kube.well_known_values import NAMESPACE_NAME
from celadon.migrate.cel_text import (
    Condition,
    comparison,
    disjunction,
    literal,
    member,
    negation,
    quoted,
    truth,
)
from celadon.migrate.losses import NotTranslated

_ALSO: Final = {
    ("", "Pod"): ("pods/ephemeralcontainers",),
    ("", "Service"): ("services/status",),
}
"""Subresources whose requests carry an object of the kind, and which Gatekeeper's webhook asks for,
too (charts/gatekeeper/values.yaml)."""


_Kinds = tuple[tuple[str, ...], tuple[str, ...]]
"""API groups, and resources that they have."""


@dataclass(frozen=True, slots=True)
class Matching:
    """What a constraint applies to."""

    kinds: tuple[_Kinds, ...]
    scope: str
    namespace_selector: JsonObject | None
    object_selector: JsonObject | None
    conditions: tuple[tuple[str, str], ...]
    """Match conditions, each with its name."""

    def constraints(self, operations: Sequence[str]) -> dict[str, Json]:
        """Return the match constraints of a policy, or the match resources of a binding."""
        found: dict[str, Any] = {
            "resourceRules": [
                {
                    "apiGroups": list(groups),
                    "apiVersions": ["*"],
                    "operations": list(operations),
                    "resources": list(resources),
                    **({"scope": self.scope} if self.scope != "*" else {}),
                }
                for groups, resources in self.kinds
            ]
        }
        if self.namespace_selector:
            found["namespaceSelector"] = self.namespace_selector
        if self.object_selector:
            found["objectSelector"] = self.object_selector
        return found


ANYTHING: Final = Matching(((("*",), ("*",)),), "*", None, None, ())


def matching(match: JsonObject, catalog: Catalog) -> Matching:
    """Return what a constraint applies to. Raises NotTranslated."""
    unknown = sorted(set(match) - _KNOWN)
    if unknown:
        raise NotTranslated(f"`{unknown[0]}` in match")
    if match.get("source") == "Generated":
        raise NotTranslated(
            "a constraint for Pods that are expected of their controllers (`source: Generated`)",
            "Write a policy for the controllers' kinds.",
        )
    entries: Sequence[JsonObject] = match.get("kinds") or ({},)
    kinds = [one for entry in entries for one in _kinds(entry, catalog)]
    scope = match.get("scope")
    expressions, conditions = _namespaces(match)
    if match.get("name"):
        is_named = _one_of("object.metadata.name", [match["name"]])
        conditions = (*conditions, ("has-name", is_named.text))
    selector = match.get("namespaceSelector") or {}
    if expressions:
        own = selector.get("matchExpressions") or ()
        selector = {**selector, "matchExpressions": [*own, *expressions]}
    return Matching(
        _together(kinds),
        scope if scope in ("Cluster", "Namespaced") else "*",
        selector or None,
        match.get("labelSelector") or None,
        conditions,
    )


_KNOWN: Final = {
    "kinds",
    "scope",
    "namespaces",
    "excludedNamespaces",
    "labelSelector",
    "namespaceSelector",
    "name",
    "source",
}


def _kinds(entry: JsonObject, catalog: Catalog) -> Iterator[_Kinds]:
    """Return the resources of an entry by their API groups: groups in which all kinds are known go
    their own way, so that no resource is asked of a group that has none of the name."""
    groups = tuple(entry.get("apiGroups") or ("*",))
    names = tuple(entry.get("kinds") or ("*",))
    if "*" in names:
        yield (("*",) if "*" in groups else groups), ("*",)
        return
    known = {(one.gvk.group, one.gvk.kind) for one in catalog} if "*" not in groups else set()
    served = {group for group, _ in known}
    elsewhere = {name for name in names if any((group, name) in known for group in groups)}
    resources = {
        group: tuple(
            dict.fromkeys(
                one
                for name in names
                if (group, name) in known or group not in served or name not in elsewhere
                for one in _plurals(group, name, catalog)
            )
        )
        for group in (("*",) if "*" in groups else groups)
    }
    for same in dict.fromkeys(resources.values()):
        if same:
            yield tuple(group for group in resources if resources[group] == same), same


def _plurals(group: str, kind: str, catalog: Catalog) -> Iterator[str]:
    found = [one for one in catalog if one.gvk.kind == kind and group in ("*", one.gvk.group)]
    if not found:
        yield guess_resource(GroupVersionKind(group, "", kind)).resource
    for one in found:
        yield one.gvr.resource
        yield from _ALSO.get((one.gvk.group, kind), ())


# --- Names -------------------------------------------------------------------


def _namespaces(match: JsonObject) -> tuple[list[Json], tuple[tuple[str, str], ...]]:
    """Return the requirements of namespaces' labels, and the match conditions, that say in which
    namespaces objects are. Objects outside of namespaces are always meant, as by selectors."""
    wanted: Sequence[str] = match.get("namespaces") or ()
    excluded: Sequence[str] = match.get("excludedNamespaces") or ()
    expressions: list[Json] = []
    conditions = []
    if wanted and not any(map(_is_wild, wanted)):
        expressions.append(_requirement("In", wanted))
    elif wanted:
        has_none = comparison("request.namespace", "==", "''")
        is_wanted = disjunction([has_none, _one_of("request.namespace", wanted)])
        conditions.append(("is-in-namespace", is_wanted.text))
    if excluded and not any(map(_is_wild, excluded)):
        expressions.append(_requirement("NotIn", excluded))
    elif excluded:
        is_excluded = _one_of("request.namespace", excluded)
        conditions.append(("is-in-no-excluded-namespace", negation(is_excluded).text))
    return expressions, tuple(conditions)


def _requirement(operator: str, names: Sequence[str]) -> Mapping[str, Json]:
    return {"key": NAMESPACE_NAME, "operator": operator, "values": list(names)}


def _is_wild(name: str) -> bool:
    return name.startswith("*") or name.endswith("*")


def _one_of(text: str, names: Sequence[str]) -> Condition:
    """Return whether a text is one of some names, or matches one with an asterisk at an end."""
    plain = [one for one in names if not _is_wild(one)]
    wild = [_matches(text, one) for one in names if _is_wild(one)]
    if len(plain) == 1:
        return disjunction([comparison(text, "==", quoted(plain[0])), *wild])
    return disjunction([*([member(text, literal(plain))] if plain else ()), *wild])


def _matches(text: str, name: str) -> Condition:
    if name.startswith("*") and name.endswith("*"):
        return truth(f"{text}.contains({quoted(name.removeprefix('*').removesuffix('*'))})")
    if name.startswith("*"):
        return truth(f"{text}.endsWith({quoted(name.removeprefix('*'))})")
    return truth(f"{text}.startsWith({quoted(name.removesuffix('*'))})")


def _together(kinds: Iterable[_Kinds]) -> tuple[_Kinds, ...]:
    """Return resources with those that are of the same groups."""
    found: dict[tuple[str, ...], dict[str, None]] = {}
    for groups, resources in kinds:
        found.setdefault(groups, {}).update(dict.fromkeys(resources))
    return tuple((groups, tuple(resources)) for groups, resources in found.items())


def union(matches: Sequence[Matching]) -> Matching:
    """Return what applies to all that some constraints with equal conditions apply to: what they
    have in common is kept, and kinds are put together."""
    first = matches[0]
    if all(one == first for one in matches):
        return first
    scopes = {one.scope for one in matches}
    return Matching(
        _together(kind for one in matches for kind in one.kinds),
        first.scope if len(scopes) == 1 else "*",
        _common([one.namespace_selector for one in matches]),
        _common([one.object_selector for one in matches]),
        first.conditions,
    )


def _common(selectors: Sequence[JsonObject | None]) -> JsonObject | None:
    return selectors[0] if all(one == selectors[0] for one in selectors) else None
