"""CRDs that a real API server refused."""

from __future__ import annotations

import json
from typing import Any

import pytest

from celadon.kube.crd.definition_validation import (
    definition_errors,
    definition_status_errors,
    definition_update_errors,
)
from celadon.kube.defaulting.defaulting_context import DefaultingContext
from celadon.kube.names import GroupKind, GroupVersionKind
from celadon.kube.registry.create import admit_form
from celadon.kube.releases import answering_as
from celadon.kube.status import invalid
from tests.paths import shared

Json = dict[str, Any]
KIND = GroupVersionKind("apiextensions.k8s.io", "v1", "CustomResourceDefinition")
SCENARIOS = ("crd-invalid-name", "crd-invalid-versions", "crd-create-minimal")


def steps() -> list[Any]:
    """Every recorded CRD that was written."""
    found: list[Any] = []
    for name in SCENARIOS:
        try:
            recorded = json.loads(shared("conformance", "api", f"{name}.json").read_text())
        except pytest.skip.Exception:
            return []
        for number, step in enumerate(recorded["steps"]):
            if step["method"] == "POST" and step["want"]["code"] in (201, 422):
                found.append(pytest.param(step["body"], step["want"], id=f"{name} {number}"))
    return found


def errors_of(body: Json) -> list[Any]:
    context = DefaultingContext(now="2024-01-01T00:00:00Z", uid="u", suffix="xxxxx")
    return definition_errors(admit_form(body, KIND, context))


@pytest.mark.parametrize(("body", "want"), steps())
def test_recorded(body: Json, want: Json) -> None:
    errors = errors_of(body)
    if want["code"] == 201:
        assert errors == []
    else:
        kind = GroupKind(KIND.group, KIND.kind)
        assert invalid(kind, body["metadata"]["name"], errors).status.to_json() == want["body"]


def definition(*schemas: Json, **names: Any) -> Json:
    versions = [
        {"name": f"v{i}", "served": True, "storage": i == 1, "schema": {"openAPIV3Schema": one}}
        for i, one in enumerate(schemas, 1)
    ]
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": "gizmos.example.com"},
        "spec": {
            "group": "example.com",
            "scope": "Namespaced",
            "names": {"plural": "gizmos", "kind": "Gizmo", **names},
            "versions": versions,
        },
    }


OBJECT: Json = {"type": "object"}
AT = "spec.validation.openAPIV3Schema"
REFUSED: list[tuple[Json, list[str]]] = [
    (definition({"properties": {}}), [f"{AT}.type: Required value: must not be empty at the root"]),
    (
        definition({"type": "array", "items": OBJECT}),
        [f'{AT}.type: Invalid value: "array": must be object at the root'],
    ),
    (
        definition({**OBJECT, "properties": {"a": {"type": "array", "items": {"pattern": "x"}}}}),
        [
            f"{AT}.properties[a].items.type: Required value: must not be empty for specified array "
            "items"
        ],
    ),
    (
        definition(OBJECT, {**OBJECT, "properties": {"a": {"pattern": "x"}}}),
        [
            "spec.versions[1].schema.openAPIV3Schema.properties[a].type: Required value: must not "
            "be empty for specified object fields"
        ],
    ),
    (
        definition({**OBJECT, "properties": {"a": {"x-kubernetes-embedded-resource": True}}}),
        [
            f"{AT}.properties[a].properties: Required value: must not be empty if "
            "x-kubernetes-embedded-resource is true without x-kubernetes-preserve-unknown-fields",
            f"{AT}.properties[a].type: Required value: must be object if "
            "x-kubernetes-embedded-resource is true",
        ],
    ),
    (
        definition(OBJECT, kind="Gizmo", listKind="Gizmo"),
        ['spec.names.listKind: Invalid value: "Gizmo": kind and listKind may not be the same'],
    ),
]


@pytest.mark.parametrize(("body", "errors"), REFUSED)
def test_refused(body: Json, errors: list[str]) -> None:
    assert [str(one) for one in errors_of(body)] == errors


def test_names_one_by_one() -> None:
    [error] = errors_of(definition(OBJECT, shortNames=["g", "G"]))
    assert error.field == "spec.names.shortNames[1]"


def update_errors(new: Json, old: Json) -> list[str]:
    return [str(one) for one in definition_update_errors(admitted(new), admitted(old))]


def admitted(body: Json) -> Json:
    context = DefaultingContext(now="2024-01-01T00:00:00Z", uid="u", suffix="xxxxx")
    made: Json = admit_form(body, KIND, context)
    made["metadata"]["resourceVersion"] = "1"
    return made


COSTLY: Json = {
    "type": "string",
    "x-kubernetes-validations": [{"rule": "self.contains('abcdefghij')"}],
}


def test_updates_are_validated() -> None:
    refused = {**OBJECT, "properties": {"a": {"pattern": "x"}}}
    assert update_errors(definition(refused), definition(OBJECT)) == [
        f"{AT}.properties[a].type: Required value: must not be empty for specified object fields"
    ]


@pytest.mark.parametrize(
    "schema",
    [
        {**OBJECT, "properties": {"a": {"type": "foo"}}},
        {
            **OBJECT,
            "properties": {
                "a": {
                    "type": "array",
                    "x-kubernetes-list-type": "set",
                    "items": {"type": "object", "nullable": True},
                }
            },
        },
        {**OBJECT, "properties": {"a": {"type": "object", "default": {"z": 1}}}},
        {
            **OBJECT,
            "properties": {"a": {"type": "array", "maxItems": 40, "items": COSTLY}},
        },
    ],
)
def test_what_is_wrong_already_may_stay(schema: Json) -> None:
    new, old = definition(schema, listKind="Others"), definition(schema)
    assert definition_errors(admitted(new))
    assert update_errors(new, old) == []


def test_what_says_where_objects_are_stored_stays() -> None:
    old, new = definition(OBJECT), definition(OBJECT, kind="Other")
    new["spec"]["scope"] = "Cluster"
    assert update_errors(new, old) == []
    old["status"] = {"conditions": [{"type": "Established", "status": "True"}]}
    before = {**admitted(old), "status": old["status"]}
    assert [str(one) for one in definition_update_errors(admitted(new), before)] == [
        'spec.scope: Invalid value: "Cluster": field is immutable',
        'spec.names.kind: Invalid value: "Other": field is immutable',
    ]


@pytest.mark.parametrize(("at", "field"), [(("spec",), "group"), (("spec", "names"), "plural")])
def test_the_folder_of_the_objects_stays_from_the_beginning(
    at: tuple[str, ...], field: str
) -> None:
    before, now = admitted(definition(OBJECT)), admitted(definition(OBJECT))
    part: Any = now
    for step in at:
        part = part[step]
    part[field] = "others"
    path = ".".join((*at, field))
    assert f'{path}: Invalid value: "others": field is immutable' in [
        str(one) for one in definition_update_errors(now, before)
    ]


def test_stored_versions_stay() -> None:
    obj = admitted(definition(OBJECT))
    obj["status"]["storedVersions"] = ["v0", "v1"]
    [error] = definition_errors(obj)
    assert str(error).startswith(
        'status.storedVersions[0]: Invalid value: "v0": missing from spec.versions; v0 was '
        "previously a storage version"
    )


@pytest.mark.parametrize(
    ("release", "detail"),
    [("1.32", "must appear in spec.versions"), ("1.33", "missing from spec.versions; v0 was")],
)
def test_stored_versions_that_are_gone_by_release(release: str, detail: str) -> None:
    with answering_as(release):
        obj = admitted(definition(OBJECT))
        obj["status"]["storedVersions"] = ["v0", "v1"]
        [error] = definition_errors(obj)
        assert error.detail.startswith(detail)


def test_names_that_were_accepted() -> None:
    obj = {"status": {"acceptedNames": {"plural": "A", "kind": "b"}}}
    [error] = definition_status_errors(obj)
    assert error.field == "status.acceptedNames.plural"


def test_schemas_that_cannot_be_read_are_only_then_complained_of() -> None:
    assert [str(one) for one in errors_of(definition({**OBJECT, "$schema": "x"}))] == [
        f"{AT}: Invalid value: \"\": OpenAPIV3Schema 'schema' is not supported"
    ]


def test_a_root_beside_a_status() -> None:
    body = definition({"type": "array", "items": OBJECT})
    body["spec"]["versions"][0]["subresources"] = {"status": {}}
    assert [str(one) for one in errors_of(body)] == [
        f'{AT}.type: Invalid value: "array": only "object" is allowed as the type at the root of '
        "the schema if the status subresource is enabled",
        f'{AT}.type: Invalid value: "array": must be object at the root',
    ]
    body["spec"]["versions"][0]["schema"]["openAPIV3Schema"] = {**OBJECT, "maxProperties": 3}
    [error] = errors_of(body)
    assert error.detail.startswith(
        "only [Description Type Format Title Maximum ExclusiveMaximum Minimum ExclusiveMinimum "
        "MaxLength MinLength Pattern MaxItems MinItems UniqueItems MultipleOf Required Items "
        "Properties ExternalDocs Example XPreserveUnknownFields XValidations] "
    )
    assert error.value.value["MaxProperties"] == 3
