"""Which state of an object a write is about."""

from __future__ import annotations

from typing import Any

import pytest

from celadon.kube.status import StatusError
from celadon.kube.writes.preconditions import (
    require_deletable,
    require_state,
    require_uid,
    require_unversioned,
    storage_key,
)
from celadon.kube.writes.write_strategies import strategy_of
from tests.kube.writes.targets import target

MAPS = target("v1/configmaps", "a")
LEASES = target("coordination.k8s.io/v1/leases", "a")
OLD = {"metadata": {"name": "a", "uid": "u", "resourceVersion": "7"}}
REFUSED: list[tuple[dict[str, Any], bool, int, str]] = [
    ({"resourceVersion": "8"}, False, 409, "the object has been modified; please apply"),
    ({}, True, 422, 'leases.coordination.k8s.io "a" is invalid: metadata.resourceVersion: Invalid '
     "value: 0: must be specified for an update"),
]  # fmt: skip


@pytest.mark.parametrize(("meta", "needs_version", "code", "text"), REFUSED)
def test_refused_updates(meta: dict[str, Any], needs_version: bool, code: int, text: str) -> None:
    with pytest.raises(StatusError) as caught:
        require_state({"metadata": meta}, OLD, LEASES, needs_version=needs_version)
    assert caught.value.code == code
    assert text in str(caught.value)


@pytest.mark.parametrize("meta", [{}, {"resourceVersion": "7", "uid": "u"}])
def test_accepted_updates(meta: dict[str, Any]) -> None:
    require_state({"metadata": meta}, OLD, MAPS, needs_version=False)


def test_a_uid_that_the_client_did_not_say_is_for_validation() -> None:
    made = {"metadata": {"uid": "x", "resourceVersion": "7"}}
    require_state(made, OLD, MAPS, needs_version=True)


@pytest.mark.parametrize(
    ("old", "dry_run", "key", "found"),
    [
        (OLD, False, "/registry/configmaps/ns/a", "u"),
        (None, False, "/registry/configmaps/ns/a", ""),
        (None, True, "/configmaps/ns/a", ""),
    ],
)
def test_an_object_that_the_client_takes_for_another(
    old: Any, dry_run: bool, key: str, found: str
) -> None:
    require_uid("", old, MAPS)
    require_uid(found, old, MAPS)
    with pytest.raises(StatusError) as caught:
        require_uid("x", old, MAPS, dry_run=dry_run)
    assert caught.value.code == 409
    assert str(caught.value) == (
        'Operation cannot be fulfilled on configmaps "a": StorageError: invalid object, Code: 4, '
        f"Key: {key}, ResourceVersion: 0, AdditionalErrorMsg: Precondition failed: UID in "
        f"precondition: x, UID in object meta: {found}"
    )


def test_new_objects_have_no_version() -> None:
    require_unversioned({"metadata": {}}, dry_run=False)
    require_unversioned(OLD, dry_run=True)
    with pytest.raises(StatusError, match="resourceVersion should not be set") as caught:
        require_unversioned(OLD, dry_run=False)
    assert (caught.value.code, caught.value.reason) == (500, "")


def test_deletions() -> None:
    require_deletable({}, OLD, MAPS)
    require_deletable({"uid": "u", "resourceVersion": "7"}, OLD, MAPS)
    with pytest.raises(StatusError, match=r'on ConfigMap "a": the UID in the precondition \(x\)'):
        require_deletable({"uid": "x"}, OLD, MAPS)
    with pytest.raises(StatusError, match=r"in record \(7\). The object might have been modified"):
        require_deletable({"resourceVersion": "6"}, OLD, MAPS)


def test_keys() -> None:
    assert storage_key(MAPS) == "/registry/configmaps/ns/a"
    assert storage_key(target("v1/nodes", "n")) == "/registry/minions/n"
    assert storage_key(target("v1/services", "a")) == "/registry/services/specs/ns/a"
    ingress = target("networking.k8s.io/v1/ingresses", "a")
    assert storage_key(ingress, dry_run=True) == "/ingress/ns/a"
    definition = target("apiextensions.k8s.io/v1/customresourcedefinitions", "a.b")
    prefix = "/registry/apiextensions.k8s.io/customresourcedefinitions/"
    assert storage_key(definition) == f"{prefix}a.b"


@pytest.mark.parametrize(
    ("version", "refused"), [("7", True), ("007", True), ("x", False), ("00", False)]
)
def test_what_is_no_version_goes_unnoticed_in_a_new_object(version: str, refused: bool) -> None:
    made = {"metadata": {"name": "a", "resourceVersion": version}}
    if refused:
        with pytest.raises(StatusError, match="should not be set on objects to be created"):
            require_unversioned(made, dry_run=False)
    else:
        require_unversioned(made, dry_run=False)


def test_a_version_has_to_be_a_number() -> None:
    made = {"metadata": {"name": "a", "resourceVersion": "abc"}}
    old = {"metadata": {"name": "a", "resourceVersion": "7"}}
    with pytest.raises(StatusError) as refused:
        require_state(made, old, target("v1/configmaps", "a"), needs_version=False)
    assert refused.value.code == 500
    assert str(refused.value) == 'strconv.ParseUint: parsing "abc": invalid syntax'


def test_candidates_for_leases_are_changed_in_a_named_version() -> None:
    candidates = target("coordination.k8s.io/v1beta1/leasecandidates", "a")
    assert strategy_of(candidates).needs_version
