"""Requests for a first test that the solver finds, where there is one (`celadon[prove]`).

They have few fields; each validation gets one that it alone refuses, if there is any.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from celadon.cli.check.manifests import PolicySet
from celadon.kube import GroupVersionKind, JsonObject, metadata, parse_api_version
from celadon.kube.json_types import JsonDict
from celadon.kube.well_known_values import NAMESPACE_NAME

if TYPE_CHECKING:
    from celadon.prove import Example


class Solved(NamedTuple):
    """A request: its object, the one it replaces (None for a CREATE), params (None for none), who
    asks (empty: an administrator), and the labels of the Namespace."""

    object: JsonDict
    old: JsonDict | None
    params: JsonDict | None
    user: str
    namespace: Mapping[str, str]


def solved_requests(
    policy_set: PolicySet,
    name: str,
    version: str,
    definitions: Sequence[JsonObject],
    param_kind: GroupVersionKind | None,
) -> Iterator[Solved]:
    """Requests for a validating policy; none without a solver."""
    if importlib.util.find_spec("z3") is None or name not in policy_set.policies:
        return
    from celadon.prove import BoundPolicy, TellingRequests

    bindings = [
        binding
        for binding in policy_set.bindings.values()
        if binding.value.spec.policy_name == name
    ]
    policy = BoundPolicy(
        policy_set.policies[name].document.value, [binding.document.value for binding in bindings]
    )
    for request in TellingRequests(policy, version, definitions).found():
        tried = _tried(request.example, param_kind)
        if tried is not None:
            yield tried


def _tried(example: Example, param_kind: GroupVersionKind | None) -> Solved | None:
    """The same as the search has requests; None for what it does not have: deletions, users of
    groups, several params."""
    if example.manifest is None:
        return None
    request = example.request
    params = [value for value in example.around if _kind(value) == param_kind]
    if len(params) > 1 or (example.is_about_user and request.user.groups):
        return None
    labels = [
        {key: value for key, value in metadata.labels(item).items() if key != NAMESPACE_NAME}
        for item in example.around
        if item["kind"] == "Namespace" and param_kind != _kind(item)
    ]
    return Solved(
        dict(example.manifest),
        None if example.old_manifest is None else dict(example.old_manifest),
        dict(params[0]) if params else None,
        request.user.name if example.is_about_user else "",
        labels[0] if labels else {},
    )


def _kind(value: JsonObject) -> GroupVersionKind:
    group, version = parse_api_version(str(value["apiVersion"]))
    return GroupVersionKind(group, version, str(value["kind"]))
