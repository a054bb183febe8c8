"""What is not told."""

from __future__ import annotations

import base64
from typing import Any

from celadon.kube import GroupVersionKind
from celadon.webhook.service.decision_log import redacted, redacted_object, secret_texts
from tests.admission.building import request

SECRET = GroupVersionKind("", "v1", "Secret")


def encoded(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


def secret(**members: Any) -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s"}, **members}


def test_values_as_they_stand_and_decoded() -> None:
    obj = secret(data={"a": encoded("hunter2"), "b": "!"}, stringData={"c": "swordfish", "d": "no"})
    old = secret(data={"a": encoded("hunter1")})
    found = secret_texts(request(obj, kind=SECRET, old_object=old))
    assert set(found) == {
        *("hunter2", encoded("hunter2"), "swordfish", "hunter1", encoded("hunter1")),
    }
    assert redacted("is hunter2, was hunter1", found) == "is [redacted], was [redacted]"


def test_values_inside_of_others() -> None:
    found = secret_texts(request(secret(stringData={"a": "pass", "b": "password"}), kind=SECRET))
    assert redacted("a password", found) == "a [redacted]"


def test_values_without_the_space_around_them() -> None:
    """`echo hunter2 | base64` has an end of line, which policies may trim."""
    found = secret_texts(request(secret(data={"a": encoded("hunter2\n")}), kind=SECRET))
    assert redacted("is hunter2", found) == "is [redacted]"


def test_broken_secrets() -> None:
    for members in ({"data": 7}, {"data": {"a": 7}}, {"data": {"a": "/w=="}}):
        list(secret_texts(request(secret(**members), kind=SECRET)))


def test_other_kinds_have_none() -> None:
    assert list(secret_texts(request(secret(data={"a": "abcdefgh"})))) == []
    custom = GroupVersionKind("example.com", "v1", "Secret")
    assert list(secret_texts(request(secret(data={"a": "abcdefgh"}), kind=custom))) == []


def test_objects_lose_their_values() -> None:
    annotations = {"kubectl.kubernetes.io/last-applied-configuration": "{...}", "kept": "yes"}
    obj = secret(data={"a": "x"}, stringData={"b": "y"}, type="Opaque")
    obj["metadata"]["annotations"] = annotations
    assert redacted_object(obj, secret=True) == {
        "apiVersion": "v1",
        "kind": "Secret",
        "type": "Opaque",
        "metadata": {"name": "s", "annotations": {"kept": "yes"}},
        "data": {"a": "[redacted]"},
        "stringData": {"b": "[redacted]"},
    }
    assert redacted_object(secret(data="x"), secret=True)["data"] == "[redacted]"  # type: ignore[index]  # it is one
    assert redacted_object(None, secret=True) is None
    assert redacted_object({"data": {"a": "x"}}, secret=False)["data"] == {"a": "x"}  # type: ignore[index]
