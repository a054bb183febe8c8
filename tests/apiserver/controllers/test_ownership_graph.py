"""What changes of owners and of what they own ask for."""

from __future__ import annotations

from typing import Any

from celadon.apiserver.controllers.garbage_collection import (
    Owned,
    OwnershipGraph,
    is_blocking,
    propagation,
)


def obj(uid: str, *owners: str, finalizer: str = "", block: bool = False) -> dict[str, Any]:
    meta: dict[str, Any] = {"uid": uid}
    if owners:
        meta["ownerReferences"] = [{"uid": one, "blockOwnerDeletion": block} for one in owners]
    if finalizer:
        meta |= {"finalizers": [finalizer], "deletionTimestamp": "t"}
    return {"metadata": meta}


def graph(**objects: dict[str, Any]) -> OwnershipGraph:
    made = OwnershipGraph()
    for key, one in objects.items():
        list(made.note(key, None, one))
    return made


def test_an_object_with_owners_is_looked_at() -> None:
    assert list(OwnershipGraph().note("d", None, obj("2", "1"))) == ["d"]
    assert list(OwnershipGraph().note("o", None, obj("1"))) == []


def test_what_was_owned_is_looked_at_when_the_owner_is_gone() -> None:
    found = graph(d=obj("2", "1"), o=obj("1"), e=obj("3", "1"))
    assert list(found.note("o", obj("1"), None)) == ["d", "e"]


def test_an_owner_of_another_uid_is_another_owner() -> None:
    found = graph(o=obj("1"), d=obj("2", "1"))
    assert list(found.note("o", obj("1"), obj("9"))) == ["d"]


def test_owners_are_looked_at_when_what_they_own_changes() -> None:
    found = graph(o=obj("1"), p=obj("3"), d=obj("2", "1", "3"))
    assert list(found.note("d", obj("2", "1", "3"), obj("2", "3"))) == ["d", "o", "p"]
    assert found.dependents("1") == []
    assert list(found.note("d", obj("2", "3"), None)) == ["p"]
    assert found.dependents("3") == []


def test_an_owner_that_waits_has_its_dependents_looked_at() -> None:
    found = graph(o=obj("1"), d=obj("2", "1"))
    waiting = obj("1", finalizer="foregroundDeletion")
    assert list(found.note("o", obj("1"), waiting)) == ["d", "o"]
    orphaning = obj("1", finalizer="orphan")
    assert list(found.note("o", obj("1"), orphaning)) == ["o"]


def test_only_some_references_block_their_owner() -> None:
    assert is_blocking(obj("2", "1", block=True), "1")
    assert not is_blocking(obj("2", "1"), "1")
    assert not is_blocking(obj("2", "3", block=True), "1")


def test_deletions_go_on_as_they_began() -> None:
    reference = {"uid": "1"}
    assert propagation(obj("2"), owns=True, owned=Owned(dangling=[reference])) == "Background"
    assert propagation(obj("2"), owns=True, owned=Owned(waiting=[reference])) == "Foreground"
    assert propagation(obj("2"), owns=False, owned=Owned(waiting=[reference])) == "Background"
    kept = {"metadata": {"uid": "2", "finalizers": ["orphan"]}}
    assert propagation(kept, owns=False, owned=Owned(dangling=[reference])) == "Orphan"
    kept = {"metadata": {"uid": "2", "finalizers": ["foregroundDeletion"]}}
    assert propagation(kept, owns=False, owned=Owned(dangling=[reference])) == "Foreground"
