"""What a review or an audit event says of the request that it was written for."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from celadon.admission import ADMIN, Operation
from celadon.cli.check.document_requests import Question
from celadon.cli.check.recorded_requests import RecordedRequest, recorded_request
from celadon.cli.exit_codes import WrongUseError
from celadon.kube import User
from tests.cli.files import Json, config_map, write

NEW, OLD = config_map(x="new"), config_map(x="old")
SAID: Json = {"username": "ann", "uid": "7", "groups": ["a", "b"], "extra": {"k": ["v", "w"]}}
ANN = User("ann", ("a", "b"), "7", {"k": ("v", "w")})
STATUS: Json = {"apiVersion": "v1", "kind": "Status", "metadata": {}}


def review(**request: Any) -> Json:
    return {"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "request": request}


def event(**members: Any) -> Json:
    return {"apiVersion": "audit.k8s.io/v1", "kind": "Event", **members}


def read(folder: Path, *documents: Json) -> RecordedRequest:
    return recorded_request(write(folder / "record.yaml", *documents))


def question(operation: Operation = Operation.CREATE, **more: Any) -> Question:
    asked: dict[str, Any] = {"namespace": "default", "user": ADMIN, **more}
    return Question(operation=operation, field_validation="Ignore", **asked)


@pytest.mark.parametrize(
    ("document", "asked", "new", "old", "defaulted"),
    [
        (review(operation="CREATE", object=NEW), question(), NEW, None, True),
        (
            review(
                operation="UPDATE",
                object=NEW,
                oldObject=OLD,
                userInfo=SAID,
                namespace="shop",
                subResource="status",
                dryRun=True,
            ),
            question(
                Operation.UPDATE, user=ANN, namespace="shop", subresource="status", dry_run=True
            ),
            NEW,
            OLD,
            True,
        ),
        (review(operation="CREATE", object=NEW, dryRun="yes"), question(), NEW, None, True),
        (
            review(operation="DELETE", object=None, oldObject=OLD),
            question(Operation.DELETE),
            OLD,
            None,
            True,
        ),
        (review(operation="CONNECT", object=NEW), question(Operation.CONNECT), NEW, None, True),
        (event(verb="create", requestObject=NEW), question(), NEW, None, False),
        (
            event(
                verb="update",
                requestObject=NEW,
                responseObject=OLD,
                objectRef={"namespace": "shop", "subresource": "scale"},
                user=SAID,
            ),
            question(Operation.UPDATE, user=ANN, namespace="shop", subresource="scale"),
            NEW,
            None,
            False,
        ),
        (
            event(verb="patch", requestObject=[{"op": "add"}], responseObject=NEW),
            question(Operation.UPDATE),
            NEW,
            None,
            True,
        ),
        (event(verb="patch", responseObject=STATUS), question(Operation.UPDATE), None, None, True),
        (event(verb="delete", responseObject=OLD), question(Operation.DELETE), None, None, False),
        (event(verb="create", requestObject={"kind": "Pod"}), question(), None, None, False),
        (
            event(verb="create", user={"username": "root"}, impersonatedUser=SAID),
            question(user=ANN),
            None,
            None,
            False,
        ),
        (event(verb="create", user={}), question(user=User("", (), "", {})), None, None, False),
        (
            event(verb="create", user={"uid": "1"}),
            question(user=User("", (), "1", {})),
            None,
            None,
            False,
        ),
    ],
)
def test_what_was_asked(
    tmp_path: Path,
    document: Json,
    asked: Question,
    new: Json | None,
    old: Json | None,
    defaulted: bool,
) -> None:
    """A review has the object as policies saw it; an event what the client sent."""
    found = read(tmp_path, config_map(), document)
    assert found.question == asked
    assert [None if one is None else one.value for one in (found.object, found.old)] == [new, old]
    assert found.defaulted is defaulted


@pytest.mark.parametrize(
    ("document", "why"),
    [
        (config_map(), "`record.yaml` holds no AdmissionReview and no audit Event"),
        (review(operation="LOOK"), "record.yaml:1: the review has no operation"),
        (review(), "record.yaml:1: the review has no operation"),
        (event(verb="list"), "record.yaml:1: no policy sees the verb `list`"),
        (event(), "record.yaml:1: no policy sees the verb `None`"),
        ({**review(), "request": None}, "record.yaml:1: `request` must be a map, not absent"),
        (
            event(verb="create", user={"groups": "all"}),
            "record.yaml:1: `user.groups` must be a list, not text",
        ),
    ],
)
def test_what_is_no_record(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, document: Json, why: str
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(WrongUseError) as raised:
        read(Path(), document)
    assert str(raised.value) == why


def test_a_file_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(WrongUseError, match="cannot be read"):
        recorded_request(str(tmp_path / "none.yaml"))
