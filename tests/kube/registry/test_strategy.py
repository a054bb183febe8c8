"""What is special about writes of a kind: administrators' access to devices."""

from __future__ import annotations

from typing import Any

from celadon.kube.names import GroupVersionKind
from celadon.kube.registry.strategy import (
    CLAIM,
    TEMPLATE,
    Surroundings,
    access_asked_for,
    access_given,
    built_in_strategy,
)
from celadon.kube.releases import answering_as
from celadon.kube.resources.api_resources import ObjectIndex

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
