"""Recorded answers of a real server: what it made of an object, or why it refused it.

The recording server ran with the default plugins. It is a distribution's build, whose token volumes
hold one source more than upstream's.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import replace
from http import HTTPStatus
from pathlib import Path
from typing import Any

import pytest

from celadon.admission.plugins.limit_ranger import exceeded_limits
from celadon.kube import metadata, status
from celadon.kube.defaulting.defaulting_context import DefaultingContext
from celadon.kube.defaulting.plugin_defaults import LIMIT_RANGES
from celadon.kube.names import GroupVersionResource
from celadon.kube.registry.create import admit_form
from celadon.kube.registry.decoded_object import stored_form
from celadon.kube.resources.api_resources import ObjectIndex, Resource, known_resources
from celadon.kube.validation.built_in_validations import validate_create
from tests.paths import recordings

VOLATILE = {
    "uid",
    "resourceVersion",
    "creationTimestamp",
    "managedFields",
    "deletionTimestamp",
    "selfLink",
}
VOLATILE_EVERYWHERE = {"lastTransitionTime"}
CONTEXT = DefaultingContext(
    now="2026-01-01T00:00:00Z",
    uid="11111111-2222-3333-4444-555555555555",
    extra_token_sources=(
        {
            "configMap": {
                "name": "openshift-service-ca.crt",
                "items": [{"key": "service-ca.crt", "path": "service-ca.crt"}],
            }
        },
    ),
)
DEFAULT_ACCOUNT = {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "default"}}


def endpoint(path: str) -> tuple[Resource, str]:
    """The resource and the namespace of a collection's URL."""
    parts = path.partition("?")[0].strip("/").split("/")
    core = parts[0] == "api"
    group, version = ("" if core else parts[1]), parts[1 if core else 2]
    rest = parts[2 if core else 3 :]
    namespace = ""
    if len(rest) > 2 and rest[0] == "namespaces":
        namespace, rest = rest[1], rest[2:]
    catalog = known_resources(all_versions=True)
    resource = catalog.by_gvr(GroupVersionResource(group, version, rest[0]))
    assert resource is not None, path
    return resource, namespace


def with_setup(context: DefaultingContext, setup: list[dict[str, Any]]) -> DefaultingContext:
    """With what is stored by then; every namespace has its default account."""
    bodies = [item.get("body", item) for item in setup]
    spaces = dict.fromkeys(metadata.namespace(body) or "default" for body in bodies)
    accounts = [
        {**DEFAULT_ACCOUNT, "metadata": {"name": "default", "namespace": n}} for n in spaces
    ]
    stored = [admit_form(body, metadata.gvk(body), context) for body in bodies]
    return replace(context, cluster=ObjectIndex([*accounts, *stored]))


def comparable(value: Any, masks: list[str]) -> Any:
    if isinstance(value, dict):
        return {
            key: comparable(
                {k: v for k, v in item.items() if k not in VOLATILE}
                if key == "metadata" and isinstance(item, dict)
                else item,
                masks,
            )
            for key, item in value.items()
            if key not in VOLATILE_EVERYWHERE
        }
    if isinstance(value, list):
        return [comparable(item, masks) for item in value]
    if isinstance(value, str):
        for mask in masks:
            value = re.sub(mask, "<masked>", value)
    return value


def steps(path: Path, *codes: HTTPStatus) -> Iterator[tuple[dict[str, Any], DefaultingContext]]:
    """The creations that were answered so, each with what it finds in the cluster."""
    scenario = json.loads(path.read_text())
    context = with_setup(CONTEXT, scenario["setup"])
    for step in scenario["steps"]:
        if step["method"] == "POST" and step["want"]["code"] in codes:
            yield step, context


@pytest.mark.parametrize("path", recordings("defaulting"))
def test_recorded(path: Path) -> None:
    for step, context in steps(path, HTTPStatus.CREATED):
        agrees(step, context)


@pytest.mark.parametrize("path", recordings("defaulting"))
def test_recorded_refusals(path: Path) -> None:
    for step, context in steps(path, HTTPStatus.FORBIDDEN, HTTPStatus.UNPROCESSABLE_ENTITY):
        masks = [*step.get("mask", []), CONTEXT.uid]
        answer = refusal(step, context)
        assert comparable(answer, masks) == comparable(step["want"]["body"], masks)


@pytest.mark.parametrize("path", recordings("defaulting"))
def test_what_was_accepted_is_valid(path: Path) -> None:
    for step, context in steps(path, HTTPStatus.CREATED):
        resource, namespace = endpoint(step["path"])
        admitted = admit_form(step["body"], resource.gvk, context, namespace=namespace)
        assert exceeded_limits(admitted, context.cluster.list(LIMIT_RANGES, namespace)) == ""
        assert validate_create(admitted, resource.gvk) == []


def refusal(step: dict[str, Any], context: DefaultingContext) -> dict[str, Any]:
    """What the server answers instead of the object."""
    resource, namespace = endpoint(step["path"])
    try:
        admitted = admit_form(step["body"], resource.gvk, context, namespace=namespace)
    except status.StatusError as error:
        return error.status.to_json()
    name = admitted["metadata"].get("name", "")
    why = exceeded_limits(admitted, context.cluster.list(LIMIT_RANGES, namespace))
    if why:
        return status.forbidden(resource.gvr.group_resource, name, why).status.to_json()
    errors = validate_create(admitted, resource.gvk)
    return status.invalid(resource.gvk.group_kind, name, errors).status.to_json()


def agrees(step: dict[str, Any], context: DefaultingContext) -> None:
    before = json.dumps(step["body"])
    resource, namespace = endpoint(step["path"])
    admitted = admit_form(step["body"], resource.gvk, context, namespace=namespace)
    answer = stored_form(admitted, resource.gvk, context)
    masks = step.get("mask", [])
    assert comparable(answer, masks) == comparable(step["want"]["body"], masks)
    assert json.dumps(step["body"]) == before
