"""Tests that come with Kyverno's policies (`kyverno-test.yaml`), run against the translation.

A result names a rule and objects, and says `pass`, `fail` or `skip`. The translation says the same
where its policies admit, deny, or do not match. Objects are judged as they are written: Kyverno's
command line adds no defaults either.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

from celadon.admission import (
    Action,
    Engine,
    ObjectWorld,
    Operation,
    Request,
    decode_binding,
    decode_policy,
    default_options,
)
from celadon.kube import (
    GroupVersionKind,
    GroupVersionResource,
    Json,
    JsonObject,
    User,
    metadata,
)
from celadon.kube.json_types import Needed, Shape
from celadon.kube.resources import Catalog
from celadon.kube.schemas import DecodeError, round_trip
from celadon.migrate.kyverno.matching import guessed_plural
from celadon.migrate.translations import binding_document

SUITE_SHAPE: Final[Shape] = {
    "policies": [str],
    "resources": [str],
    "variables": str,
    "userinfo": str,
    "values": {},
    "results": Needed(
        [
            {
                "policy": str,
                "rule": str,
                "kind": str,
                "resource": str,
                "resources": [str],
                "result": str,
                "status": str,
            }
        ]
    ),
}
"""What a `kyverno-test.yaml` must look like."""

VALUES_SHAPE: Final[Shape] = {
    "globalValues": {},
    "policies": [{"name": str, "resources": [{"name": str, "values": {}}]}],
    "namespaceSelector": [{"name": str, "labels": {str: str}}],
}
"""What the values that a test gives must look like."""

USER_SHAPE: Final[Shape] = {
    "userInfo": {"username": str, "groups": [str]},
    "clusterRoles": [str],
}


"""What the user that a test names must look like."""


@dataclass(frozen=True, slots=True)
class Case:
    """What a rule is to say of an object."""

    policy: str
    rule: str
    object: JsonObject
    expected: str
    """`pass`, `fail`, `skip` or another word of Kyverno."""
    operation: Operation = Operation.CREATE
    user: User = field(default_factory=lambda: User("kubernetes-admin"))
    namespaces: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    """Labels by namespace."""
    values: Mapping[str, Json] = field(default_factory=dict)
    """Variables that the test gives instead of looking them up."""


def read_suite(
    suite: JsonObject, resources: Sequence[JsonObject], values: JsonObject, user: JsonObject
) -> list[Case]:
    """Return the cases of a test for policies of Kyverno. What is given fits the shapes above."""
    given = user.get("userInfo") or {}
    requester = User(given.get("username") or "kubernetes-admin", tuple(given.get("groups") or ()))
    namespaces = {
        str(one.get("name")): one.get("labels") or {}
        for one in values.get("namespaceSelector") or ()
    }
    for one in resources:
        if (one.get("apiVersion"), one.get("kind")) == ("v1", "Namespace"):
            namespaces.setdefault(metadata.name(one), metadata.labels(one))
    return [
        Case(
            policy,
            rule,
            one,
            str(result.get("result", result.get("status", ""))),
            _operation(known),
            requester,
            namespaces,
            known,
        )
        for result in suite["results"]
        if not any(result.get(name) for name in _OTHER_KINDS)
        for policy, rule in [_names(result)]
        for one in _resources(result, resources)
        for known in [_values(values, policy, metadata.name(one))]
    ]


_OTHER_KINDS: Final = (
    "isValidatingAdmissionPolicy",
    "isMutatingAdmissionPolicy",
    "isMutatingPolicy",
    "isGeneratingPolicy",
    "isDeletingPolicy",
    "isImageValidatingPolicy",
)


def _names(result: JsonObject) -> tuple[str, str]:
    """Return the policy and the rule that a result is of; those for controllers are the rule's."""
    rule = str(result.get("rule", ""))
    for prefix in ("autogen-cronjob-", "autogen-"):
        rule = rule.removeprefix(prefix)
    return str(result.get("policy", "")).rpartition("/")[2], rule


def _resources(result: JsonObject, resources: Sequence[JsonObject]) -> Iterator[JsonObject]:
    names = [
        *(result.get("resources") or ()),
        *([result["resource"]] if "resource" in result else ()),
    ]
    for name in names:
        namespace, _, last = str(name).rpartition("/")
        for one in resources:
            if (
                metadata.name(one) == last
                and result.get("kind") in (None, "", one.get("kind"))
                and namespace in ("", metadata.namespace(one) or "default")
            ):
                yield one


def _values(values: JsonObject, policy: str, name: str) -> JsonObject:
    found: dict[str, Any] = dict(values.get("globalValues") or {})
    for one in values.get("policies") or ():
        if one.get("name") == policy:
            for resource in one.get("resources") or ():
                if resource.get("name") == name:
                    found |= resource.get("values") or {}
    return found


def _operation(values: Mapping[str, Json]) -> Operation:
    name = str(values.get("request.operation"))
    return Operation[name] if name in Operation.__members__ else Operation.CREATE


# --- Judging -----------------------------------------------------------------


def judged_by(case: Case, policies: Sequence[JsonObject], catalog: Catalog) -> tuple[str, str]:
    """Return what policies say of a case, `pass`, `fail` or `skip`, and their message."""
    request, world = _request(case, catalog)
    admitted = False
    for document in policies:
        decisions = _engine(document).explain(request, world).decisions
        for one in decisions:
            if one.action is Action.DENY:
                return "fail", one.message
        admitted = admitted or bool(decisions)
    return ("pass" if admitted else "skip"), ""


def _engine(document: JsonObject) -> Engine:
    policy = decode_policy(document).value
    binding = decode_binding(binding_document(document, ["Deny"])).value
    return Engine([policy], [binding])


def _request(case: Case, catalog: Catalog) -> tuple[Request, ObjectWorld]:
    obj = dict(case.object)
    group, _, version = str(obj.get("apiVersion", "")).rpartition("/")
    gvk = GroupVersionKind(group, version, str(obj.get("kind", "")))
    known = catalog.by_gvk(gvk)
    gvr = known.gvr if known else GroupVersionResource(group, version, guessed_plural(gvk.kind))
    name, namespace = metadata.name(obj), metadata.namespace(obj)
    if known is None or known.namespaced:
        namespace = namespace or "default"
        obj["metadata"] = {**(obj.get("metadata") or {}), "namespace": namespace}
    elif gvk == GroupVersionKind("", "v1", "Namespace"):
        namespace = name
    judged = _as_written(obj, gvk)
    request = Request(
        case.operation,
        gvk,
        gvr,
        name=name,
        namespace=namespace,
        object=None if case.operation is Operation.DELETE else judged,
        old_object=None if case.operation is Operation.CREATE else judged,
        user=_user(case),
        options=default_options(case.operation),
    )
    labels = {namespace or "default": {}, **case.namespaces}
    return request, ObjectWorld([_namespace(*one) for one in labels.items()])


def _as_written(obj: JsonObject, gvk: GroupVersionKind) -> JsonObject:
    try:
        return round_trip(obj, gvk) or obj
    except DecodeError:
        return obj


def _user(case: Case) -> User:
    account = case.values.get("serviceAccountName")
    if account is None:
        return case.user
    namespace = case.values.get("serviceAccountNamespace") or "default"
    return replace(case.user, name=f"system:serviceaccount:{namespace}:{account}")


def _namespace(name: str, labels: Mapping[str, str]) -> JsonObject:
    labels = {"kubernetes.io/metadata.name": name, **labels}
    return {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name, "labels": labels}}
