"""Objects that are created before the first request."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from celadon.apiserver.http.server_process import create_objects
from celadon.apiserver.http.server_settings import StartError
from celadon.testing import HandlerAccess

WIDGET = {
    "apiVersion": "example.com/v1",
    "kind": "Widget",
    "metadata": {"name": "w", "namespace": "made"},
}
NAMESPACE = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "made"}}


def definition() -> dict[str, Any]:
    schema = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    version = {"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": schema}}
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": "widgets.example.com"},
        "spec": {
            "group": "example.com",
            "scope": "Namespaced",
            "names": {"plural": "widgets", "kind": "Widget"},
            "versions": [version],
        },
    }


async def created(*objects: dict[str, Any], asked: str) -> Any:
    async with HandlerAccess() as api:
        placed = ((f"m.yaml:{line}", one) for line, one in enumerate(objects, 1))
        await create_objects(api.server, placed, api.admin_token)
        return await api.request("GET", asked)


def test_what_others_need_comes_first() -> None:
    path = "/apis/example.com/v1/namespaces/made/widgets/w"
    found = asyncio.run(created(WIDGET, definition(), NAMESPACE, asked=path))
    assert found["metadata"]["generation"] == 1


def test_what_is_there_stays() -> None:
    found = asyncio.run(created(NAMESPACE, NAMESPACE, asked="/api/v1/namespaces/made"))
    assert found["metadata"]["name"] == "made"


@pytest.mark.parametrize(
    ("obj", "complaint"),
    [
        (WIDGET, "m.yaml:1: no kind Widget in example.com/v1"),
        (
            {**NAMESPACE, "metadata": {"name": "A"}},
            'm.yaml:1: Namespace "A" is invalid: metadata.name: Invalid value: "A": ',
        ),
    ],
)
def test_what_is_refused_is_named_with_its_place(obj: dict[str, Any], complaint: str) -> None:
    with pytest.raises(StartError) as error:
        asyncio.run(created(obj, asked="/version"))
    assert str(error.value).startswith(complaint)
