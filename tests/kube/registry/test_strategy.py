"""What is special about writes of a kind: which updates are taken, whose rules say so, access to
devices."""

from __future__ import annotations

from typing import Any

import pytest

from celadon.kube.authorization import Answer, Attributes, Ruling, User
from celadon.kube.crd import custom_kinds
from celadon.kube.fieldpath import FieldError, FieldPath, forbidden
from celadon.kube.names import GroupKind, GroupVersionKind
from celadon.kube.registry.decoded_object import Target
from celadon.kube.registry.strategy import (
    CLAIM,
    POD_CERTIFICATE,
    TEMPLATE,
    Strategy,
    Surroundings,
    access_asked_for,
    access_given,
    built_in_strategy,
    repeated_owner_warnings,
    right_to_sign,
    strategy_of,
    write_errors,
    write_warnings,
)
from celadon.kube.releases import answering_as
from celadon.kube.resources.api_resources import ObjectIndex, custom_resources, known_resources
from tests.kube.registry.targets import target

Json = dict[str, Any]
WHY = (
    "admin access to devices requires the `resource.kubernetes.io/admin-access: true` label on the "
    "containing namespace"
)
LABEL = "resource.kubernetes.io/admin-access"
META = {"name": "c", "namespace": "n"}


def world(**labels: str) -> ObjectIndex:
    meta = {"name": "n", "labels": {LABEL: labels["admin"]} if labels else {}}
    return ObjectIndex([{"apiVersion": "v1", "kind": "Namespace", "metadata": meta}])


def claim(*wishes: bool) -> Json:
    requests = [{"name": "r", "exactly": {"adminAccess": one}} for one in wishes]
    return {"metadata": META, "spec": {"devices": {"requests": requests}}}


def given(access: bool) -> Json:
    devices = {"results": [{"adminAccess": access}]}
    return {"metadata": META, "status": {"allocation": {"devices": devices}}}


def test_the_first_request_is_named() -> None:
    (error,) = access_asked_for(CLAIM, claim(False, True, True), world())
    assert str(error) == f"spec.devices.requests[1].adminAccess: Forbidden: {WHY}"
    template = {"metadata": META, "spec": claim(True)}
    (error,) = access_asked_for(TEMPLATE, template, world())
    assert error.field == "spec.devices.requests[0].adminAccess"


def test_requests_of_older_versions_say_it_themselves() -> None:
    requests = [{"name": "r", "adminAccess": True}]
    older = {"metadata": META, "spec": {"devices": {"requests": requests}}}
    (error,) = access_asked_for(CLAIM, older, world())
    assert error.field == "spec.devices.requests[0].adminAccess"


def test_the_label_by_release() -> None:
    with answering_as("1.32"):
        assert access_asked_for(CLAIM, claim(True), world()) == []
    with answering_as("1.33"):
        (error,) = access_asked_for(CLAIM, claim(True), world(admin="true"))
        assert "`resource.k8s.io/admin-access: true`" in error.detail


def test_labelled_and_unknown_namespaces() -> None:
    assert access_asked_for(CLAIM, claim(True), world(admin="true")) == []
    assert access_asked_for(CLAIM, claim(True), ObjectIndex()) == []
    assert len(access_asked_for(CLAIM, claim(True), world(admin="yes"))) == 1


def test_what_was_given_may_stay() -> None:
    (error,) = access_given(CLAIM, given(True), {"metadata": META}, world())
    assert error.field == "status.allocation.devices.results[0].adminAccess"
    assert access_given(CLAIM, given(True), given(True), world()) == []


def test_metadata_is_checked_of_updates_whose_kind_has_no_rules() -> None:
    old = {"metadata": {"name": "a", "uid": "u", "resourceVersion": "1"}}
    new = {"metadata": {**old["metadata"], "uid": "v"}}
    stored = GroupVersionKind("apiextensions.k8s.io", "v1", "CustomResourceDefinition")
    (error,) = built_in_strategy(stored).update(new, old, Surroundings())
    assert str(error) == 'metadata.uid: Invalid value: "v": field is immutable'
    only_asked = GroupVersionKind("authentication.k8s.io", "v1", "TokenReview")
    assert built_in_strategy(only_asked).update(new, old, Surroundings()) == []


# --- which updates are taken ---

NAMED_VERSION = {
    *("apiextensions.k8s.io/CustomResourceDefinition", "apiregistration.k8s.io/APIService"),
    *("certificates.k8s.io/ClusterTrustBundle", "certificates.k8s.io/PodCertificateRequest"),
    *("coordination.k8s.io/Lease", "coordination.k8s.io/LeaseCandidate"),
    *("internal.apiserver.k8s.io/StorageVersion", "node.k8s.io/RuntimeClass"),
    *("policy/PodDisruptionBudget", "resource.k8s.io/ResourcePoolStatusRequest"),
    *("storage.k8s.io/CSIDriver", "storage.k8s.io/CSINode", "storage.k8s.io/CSIStorageCapacity"),
    *("storage.k8s.io/VolumeAttachment", "storagemigration.k8s.io/StorageVersionMigration"),
}
"""Kinds whose `AllowUnconditionalUpdate` is false in the strategies of `pkg/registry`, of
k8s.io/kube-aggregator and k8s.io/apiextensions-apiserver."""
MADE_BY_PUT = {
    *("/Endpoints", "/Event", "events.k8s.io/Event", "/LimitRange", "/Service"),
    *("coordination.k8s.io/Lease", "coordination.k8s.io/LeaseCandidate"),
    *("node.k8s.io/RuntimeClass", "rbac.authorization.k8s.io/Role"),
    *("rbac.authorization.k8s.io/RoleBinding", "rbac.authorization.k8s.io/ClusterRole"),
    "rbac.authorization.k8s.io/ClusterRoleBinding",
}
"""Kinds whose `AllowCreateOnUpdate` is true there."""
OWN_STRATEGIES = "admissionregistration.k8s.io"


def test_which_kinds_want_a_version_or_are_made_by_an_update() -> None:
    kinds = {
        f"{one.gvk.group}/{one.gvk.kind}": strategy_of(Target(one, "", "a"))
        for one in known_resources(all_versions=True)
        if "update" in one.verbs and one.gvk.group != OWN_STRATEGIES
    }
    assert {name for name, one in kinds.items() if one.needs_version} == NAMED_VERSION
    assert {name for name, one in kinds.items() if one.created_by_update} == MADE_BY_PUT


# --- whose rules say what is wrong ---


def saying(word: str) -> list[FieldError]:
    return [forbidden(FieldPath(word), "no")]


SPECIAL = Strategy(
    create=lambda obj, _: saying("create"),
    update=lambda obj, old, _: saying("update"),
    status=lambda obj, old, _: saying("status"),
    needs_version=False,
    warnings=lambda obj: ["special"],
)
BUDGETS = target("policy/v1/poddisruptionbudgets", "a")


DEPLOYMENTS = "apps/v1/deployments"
ASKED: list[tuple[str, str, Json | None, list[str]]] = [
    (DEPLOYMENTS, "", None, ["create"]),
    (DEPLOYMENTS, "", {}, ["update"]),
    (DEPLOYMENTS, "status", {}, ["status"]),
    (DEPLOYMENTS, "status", None, ["create"]),
    (DEPLOYMENTS, "scale", {}, ["create"]),
    ("v1/namespaces", "finalize", {}, []),
]


@pytest.mark.parametrize(("resource", "subresource", "old", "asked"), ASKED)
def test_each_write_asks_its_own_rules(
    resource: str, subresource: str, old: Json | None, asked: list[str]
) -> None:
    place = target(resource, "a", subresource)
    found = write_errors(place, {}, old, Surroundings(), {place.group_kind: SPECIAL})
    assert [
        error.field for error in found if error.field in {"create", "update", "status"}
    ] == asked


def test_a_strategy_of_another_room_comes_before_that_of_the_table() -> None:
    assert strategy_of(BUDGETS, {BUDGETS.group_kind: SPECIAL}) is SPECIAL
    assert strategy_of(BUDGETS, {CLAIM: SPECIAL}).needs_version


def test_built_in_kinds_are_asked_for_each_kind_of_write() -> None:
    strategy = built_in_strategy(GroupVersionKind("", "v1", "ConfigMap"))
    named = {"metadata": {"name": "a", "namespace": "n"}}
    (error,) = strategy.create({**named, "data": {"-/": "x"}}, Surroundings())
    assert error.field == "data[-/]"
    frozen = {**named, "immutable": True}
    errors = strategy.update({**named, "data": {"a": "b"}}, frozen, Surroundings())
    assert {error.field for error in errors} == {"immutable", "data"}
    claims = built_in_strategy(GroupVersionKind("resource.k8s.io", "v1", "ResourceClaim"))
    fields = [one.field for one in claims.create(claim(True), Surroundings(lookups=world()))]
    assert fields[0] == "spec.devices.requests[0].adminAccess"
    found = claims.status(given(True), {"metadata": META}, Surroundings(lookups=world()))
    assert found[0].field == "status.allocation.devices.results[0].adminAccess"
    assert len(found) > 1


def test_metadata_is_checked_of_new_objects_whose_kind_has_no_rules() -> None:
    stored = GroupVersionKind("apiextensions.k8s.io", "v1", "CustomResourceDefinition")
    (error,) = built_in_strategy(stored).create({"metadata": {"name": "a/b"}}, Surroundings())
    assert error.field == "metadata.name"
    only_asked = GroupVersionKind("authentication.k8s.io", "v1", "TokenReview")
    assert built_in_strategy(only_asked).create({"metadata": {"name": "a/b"}}, Surroundings()) == []


def test_definitions_have_rules_of_their_own() -> None:
    place = target("apiextensions.k8s.io/v1/customresourcedefinitions", "a")
    strategy = strategy_of(place)
    old = {"metadata": {"name": "a", "uid": "u", "resourceVersion": "1"}, "spec": {"group": "g"}}
    new = {**old, "metadata": {**old["metadata"], "uid": "v"}}
    for errors in (
        strategy.create(new, Surroundings()),
        strategy.update(new, old, Surroundings()),
    ):
        assert "spec.versions" in {error.field for error in errors}
    assert [one.field for one in strategy.status(new, old, Surroundings())][:1] == ["metadata.uid"]


def widgets() -> Target:
    schema = {
        "type": "object",
        "properties": {
            part: {"type": "object", "properties": {"n": {"type": "integer", "maximum": 3}}}
            for part in ("spec", "status")
        },
    }
    version = {
        "name": "v1",
        "served": True,
        "storage": True,
        "subresources": {"status": {}},
        "schema": {"openAPIV3Schema": schema},
    }
    names = {"plural": "widgets", "kind": "Widget"}
    definition = {
        "spec": {"group": "g.io", "scope": "Namespaced", "names": names, "versions": [version]}
    }
    (resource,) = custom_resources(definition)
    return Target(resource, "n", "a", "", custom_kinds(definition)[resource.gvk])


def test_custom_kinds_are_validated_by_their_schemas() -> None:
    strategy, meta = strategy_of(widgets()), {"name": "a", "namespace": "n", "resourceVersion": "1"}
    assert strategy.needs_version
    head = {"apiVersion": "g.io/v1", "kind": "Widget"}
    old = {**head, "metadata": {**meta, "uid": "u"}, "spec": {"n": 1}, "status": {"n": 1}}
    for part in ("spec", "status"):
        new = {**old, "metadata": {**meta, "uid": "v"}, part: {"n": 4}}
        assert f"{part}.n" in {one.field for one in strategy.create(new, Surroundings())}
        for rules in (strategy.update, strategy.status):
            fields = [one.field for one in rules(new, old, Surroundings())]
            assert fields[0] == "metadata.uid"
            looked_at = part == "status" or rules is strategy.update
            assert (f"{part}.n" in fields) is looked_at
    wrong = {**old, "spec": {"n": 4}}
    assert strategy.update(wrong, wrong, Surroundings()) == []


# --- warnings ---


def test_warnings_of_strategies() -> None:
    kinds = {BUDGETS.group_kind: SPECIAL}
    named = {"metadata": {"name": "a", "namespace": "n"}}
    assert write_warnings(named, BUDGETS, kinds) == ["special"]
    assert write_warnings(named, BUDGETS) == []


def test_owners_that_are_named_twice() -> None:
    owner = {"apiVersion": "v1", "kind": "Pod", "name": "p", "uid": "u"}
    other = {**owner, "name": "q", "uid": "w"}
    assert repeated_owner_warnings({"metadata": {}}) == []
    assert repeated_owner_warnings({"metadata": {"ownerReferences": [owner, other]}}) == []
    twice = {"metadata": {"ownerReferences": [owner, other, owner, other]}}
    rest = (
        "; API server dedups owner references in 1.20+, and may reject such requests as early as "
        "1.24; please fix your requests; duplicate UID(s) observed: u, w"
    )
    start = ".metadata.ownerReferences contains duplicate entries"
    assert repeated_owner_warnings(twice) == [start + rest]
    after = f"{start} after mutating admission happens{rest}"
    assert repeated_owner_warnings(twice, mutated=True) == [after]


# --- signers ---

SIGNER = "example.com/a"
UNSIGNED = {"spec": {"signerName": SIGNER}}
SIGNED = {**UNSIGNED, "status": {"certificateChain": "x"}}
NO_RIGHT = (
    'spec.signerName: Forbidden: User "u" is not permitted to "sign" for signer "example.com/a"'
)
SIGNING: list[tuple[GroupKind, Json, Json, str | None, list[str]]] = [
    (POD_CERTIFICATE, SIGNED, UNSIGNED, "nobody", [NO_RIGHT]),
    (POD_CERTIFICATE, SIGNED, UNSIGNED, SIGNER, []),
    (POD_CERTIFICATE, SIGNED, UNSIGNED, "example.com/*", []),
    (POD_CERTIFICATE, SIGNED, UNSIGNED, "example.com/b", [NO_RIGHT]),
    (POD_CERTIFICATE, SIGNED, SIGNED, "nobody", []),
    (POD_CERTIFICATE, SIGNED, UNSIGNED, None, []),
    (CLAIM, SIGNED, UNSIGNED, "nobody", []),
    (POD_CERTIFICATE, SIGNED, {}, "nobody", [NO_RIGHT.replace(SIGNER, "")]),
]


@pytest.mark.parametrize(("kind", "obj", "old", "allowed", "errors"), SIGNING)
def test_who_may_sign(
    kind: GroupKind, obj: Json, old: Json, allowed: str | None, errors: list[str]
) -> None:
    """The right is to `sign` the signer, or all of its domain; nobody is asked about a status that
    stays."""
    user, asked = User("u"), []

    def authorize(attributes: Attributes) -> Answer:
        asked.append(attributes)
        return (Ruling.ALLOW if attributes.name == allowed else Ruling.DENY), "", None

    surroundings = Surroundings(user=user, authorize=None if allowed is None else authorize)
    assert [str(error) for error in right_to_sign(kind, obj, old, surroundings)] == errors
    if errors == [NO_RIGHT]:
        assert asked == [
            Attributes(
                user,
                "sign",
                resource_request=True,
                group="certificates.k8s.io",
                version="*",
                resource="signers",
                name=name,
            )
            for name in (SIGNER, "example.com/*")
        ]
