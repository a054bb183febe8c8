"""Alterations that are proved to make no difference, with the reason in a line.

What is proved holds for any request to the clusters of the tests, not only for those of a search.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from celadon.cli.checking.given_cluster import Cluster
from celadon.cli.policy_tests.altering.alterations import Alteration
from celadon.cli.policy_tests.altering.canonical_expressions import is_same
from celadon.cli.policy_tests.telling_apart.altered_benches import is_same_object
from celadon.cli.policy_tests.telling_apart.policy_stages import Stage
from celadon.kube.catalogue import Catalog

_LOGIC: Final = "both come to the same for any values"
_OBJECT: Final = "the API server makes the same of both"
_ALONE: Final = "nothing else in the tests changes objects, so no policy is asked again"


def proof(alteration: Alteration, stages: Sequence[Stage]) -> str:
    """Why it makes no difference on any stage; empty if that is not proved."""
    if alteration.expression is not None:
        text = str(alteration.document.value_at(alteration.path))
        return _LOGIC if is_same(text, alteration.expression.text) else ""
    settings = [stage.bench.setting(case) for stage in stages for case in stage.cases]
    if is_same_object(alteration, settings[0].sets):
        return _OBJECT
    match alteration.path:
        case ("spec", "reinvocationPolicy"):
            others = (len(one.sets.mutating.policies) > 1 for one in settings)
            return "" if any(others) else _ALONE
        case ("spec", *_, "matchPolicy"):
            return _of_versions(alteration, settings)
        case _:
            return ""


def _of_versions(alteration: Alteration, settings: Sequence[Cluster]) -> str:
    """The policy of matching is about objects that are sent in another version, or another group,
    than rules name."""
    found: Any = alteration.document.value_at(alteration.path[:-1])
    constraints: Mapping[str, Any] = found or {}
    rules = [
        *(constraints.get("resourceRules") or ()),
        *(constraints.get("excludeResourceRules") or ()),
    ]
    catalogs = {id(one.world.catalog): one.world.catalog for one in settings}.values()
    named = [list(_named(rules, one)) for one in catalogs]
    if any(several for found in named for _, several in found):
        return ""
    names = sorted({name for found in named for name, _ in found})
    if not names:
        return ""
    shown = ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")
    return f"of {shown} one version is served"


def _named(rules: Sequence[Mapping[str, Any]], catalog: Catalog) -> Iterator[tuple[str, bool]]:
    """Resources that rules name, and whether they are served in several versions."""
    for one in catalog:
        if any(_names(rule, one.gvr.group, one.gvr.version, one.gvr.resource) for rule in rules):
            yield str(one.gvr.group_resource), bool(catalog.equivalents(one.gvr))


def _names(rule: Mapping[str, Any], group: str, version: str, resource: str) -> bool:
    resources = {one.partition("/")[0] for one in rule.get("resources") or ()}
    return all(
        {value, "*"} & given
        for value, given in (
            (group, set(rule.get("apiGroups") or ())),
            (version, set(rule.get("apiVersions") or ())),
            (resource, resources),
        )
    )
