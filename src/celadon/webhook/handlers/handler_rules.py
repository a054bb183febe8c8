"""Which requests a handler is for: what a webhook says in its configuration, checked when the
handler is defined.

    targets("deployments.apps", "pods/exec")     built-in kinds: the version is known
    targets("widgets.v1.example.com")            others: RESOURCE.VERSION.GROUP, as for kubectl
    targets("*", groups=["apps"], versions=["*"])

A handler sees one version of a kind unless it asks for several: with `matchPolicy: Equivalent` the
API server converts what comes in another.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field
from typing import Any, Final

from celadon.kube.catalogue import api_groups, known_resources
from celadon.patterns import late_pattern
from celadon.records import dataclass

WRITES: Final = ("CREATE", "UPDATE")
_VERSION: Final = late_pattern(r"v[1-9][0-9]*((alpha|beta)[1-9][0-9]*)?")
_ANY: Final = ("*",)


@dataclass(frozen=True, slots=True)
class Targets:
    """What of a webhook's configuration is about requests. Selectors are LabelSelectors as in the
    API; `match_conditions` are CEL expressions by name."""

    rules: tuple[Mapping[str, Any], ...]
    namespace_selector: Mapping[str, Any] = field(default_factory=dict)
    object_selector: Mapping[str, Any] = field(default_factory=dict)
    match_conditions: Mapping[str, str] = field(default_factory=dict)
    match_policy: str = "Equivalent"


def rules_of(
    resources: Sequence[str],
    operations: Iterable[str] = WRITES,
    groups: Sequence[str] = (),
    versions: Sequence[str] = (),
    scope: str = "*",
) -> tuple[Mapping[str, Any], ...]:
    """A rule for all resources of one group and version. ValueError for a resource of which the
    group and the version are not known."""
    if not resources:
        raise ValueError("say which resources, e.g. 'deployments.apps'")
    wanted = [one.upper() for one in operations]
    together: dict[tuple[tuple[str, ...], tuple[str, ...]], list[str]] = {}
    for text in resources:
        where, name = _place(text, tuple(groups), tuple(versions))
        together.setdefault(where, []).append(name)
    return tuple(
        {
            "operations": wanted,
            "apiGroups": list(group),
            "apiVersions": list(version),
            "resources": names,
            "scope": scope,
        }
        for (group, version), names in together.items()
    )


def _place(
    text: str, groups: tuple[str, ...], versions: tuple[str, ...]
) -> tuple[tuple[tuple[str, ...], tuple[str, ...]], str]:
    """Groups and versions, and the resource with its subresource."""
    full, slash, subresource = text.partition("/")
    name, _, rest = full.partition(".")
    name += slash + subresource
    if groups:
        if rest:
            raise ValueError(f"`{text}` names a group, and so does `groups`")
        return (groups, versions or _ANY), name
    version, _, group = rest.partition(".")
    if _VERSION.fullmatch(version):
        return ((group,), (version,)), name
    known = versions or _known_version(name.partition("/")[0], rest)
    if not known:
        raise ValueError(_unknown(text, name, rest, slash + subresource))
    return ((rest,), known), name


def _unknown(text: str, name: str, group: str, below: str) -> str:
    if not group:
        return f"no resource `{text}`: say its group, e.g. '{text}.example.com', or `groups`"
    plain = name.partition("/")[0]
    return f"no version of `{text}` is known: write '{plain}.v1.{group}{below}', or `versions`"


@functools.cache
def _preferred() -> Mapping[str, str]:
    """The version of each group that discovery shows first."""
    return {group.name: group.preferred for group in api_groups()}


@functools.lru_cache(maxsize=1024)
def _known_version(name: str, group: str) -> tuple[str, ...]:
    """The version of a built-in resource that clients use; empty if it is not known."""
    found = [
        resource.gvr.version
        for resource in known_resources()
        if resource.gvr.group == group and resource.gvr.resource == name
    ]
    preferred = _preferred().get(group, "v1")
    if preferred in found:
        return (preferred,)
    return tuple(found[:1])
