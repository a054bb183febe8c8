"""What is assumed of objects that are not known: defaulting and validation agree."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import pytest

pytest.importorskip("z3")

from celadon.admission.write_requests import errors_of
from celadon.kube import JsonObject
from celadon.kube.registry import Surroundings, Target, create
from celadon.kube.resources import Resource, known_resources
from celadon.kube.schemas import Schema, resolved, schema_for
from celadon.prove import Answer, Question
from celadon.prove.symbolic_objects import DEMANDED, _least
from tests.prove.definitions.definitions import INTEGER, TEXT, kind_of, listed, obj
from tests.prove.test_policy_questions import policy, replies

Steps = tuple[str | int, ...]

_DEEPEST: Final = 11
_NOT_THERE: Final = {
    ("VolumeAttachment", "NodeSelector.nodeSelectorTerms"),  # an inline volume has none
    ("ResourceSlice", "NodeSelector.nodeSelectorTerms"),  # nor has a device, unless each has
}
_ELSEWHERE: Final[dict[Steps, Steps]] = {
    ("spec", "selector"): ("spec", "template", "metadata", "labels"),
}
"""Where else a field that is missing may be missed."""


def demanded_places(
    schema: Schema, path: Steps = (), seen: frozenset[str] = frozenset()
) -> Iterator[tuple[str, Steps]]:
    """Where a kind has what validation is said to demand, as `Type.field`."""
    schema = resolved(schema)
    if len(path) > _DEEPEST or (schema.name and schema.name in seen):
        return
    name = schema.name.rpartition(".")[2]
    for field in DEMANDED.get(name, ()):
        if field in schema.required:
            yield f"{name}.{field}", (*path, field)
    inside = [(one, below) for one, below in schema.properties.items() if one != "metadata" or path]
    items, values = schema.items, None if inside else schema.additional_properties
    every: list[tuple[str | int, Schema | None]] = [*inside, (0, items), ("k", values)]
    for step, below in every:
        if below is not None:
            yield from demanded_places(below, (*path, step), seen | {schema.name})


def without(schema: Schema, path: Steps) -> Any:
    """The least value that has all but what stands there."""
    schema = resolved(schema)
    step = path[0]
    if step == 0:
        return [without(schema.items or Schema(), path[1:])]
    if step not in schema.properties:
        return {step: without(schema.additional_properties or Schema(), path[1:])}
    found = {
        name: "x" if resolved(schema.properties[name]).type == "string" else {}
        for name in schema.required
        if name != step and resolved(schema.properties[name]).type in ("string", "object")
    }
    return found | (
        {str(step): without(schema.properties[str(step)], path[1:])} if path[1:] else {}
    )


def complaints(resource: Resource, path: Steps) -> list[str]:
    """What validation has against an object without a field, about the field."""
    schema = schema_for(resource.gvk)
    assert schema is not None
    value = without(schema, path)
    value |= {"apiVersion": resource.gvk.api_version, "kind": resource.gvk.kind}
    value["metadata"] = {"name": "a", **({"namespace": "n"} if resource.namespaced else {})}
    form = create.admit_form(value, resource.gvk)
    errors = errors_of(Target(resource, "n"), form, None, Surroundings())
    about = (path, _ELSEWHERE.get(path, path))
    return [str(one) for one in errors if any(one.path.steps[: len(at)] == at for at in about)]


def test_validation_demands_what_is_demanded() -> None:
    found = set()
    for resource in known_resources():
        schema = schema_for(resource.gvk)
        if schema is None or "create" not in resource.verbs or not resource.served:
            continue
        for what, path in demanded_places(schema):
            if (resource.gvk.kind, what) not in _NOT_THERE and path[0] != "status":
                assert complaints(resource, path), (resource.gvk, path)
                found.add(what)
    assert found == {f"{name}.{field}" for name, fields in DEMANDED.items() for field in fields}


NO, YES, BOUNDED, UNKNOWN = Answer.NO, Answer.YES, Answer.BOUNDED, Answer.UNKNOWN


@pytest.mark.parametrize(
    ("expression", "resource", "group", "fails", "refuses"),
    [
        # What a client may leave out Go shows as null.
        ("object.spec.limits.all(l, l.type != 'x')", "limitranges", "", YES, YES),
        ("object.spec.limits != null", "limitranges", "", NO, YES),
        ("object.spec.drivers.all(d, d.name != 'x')", "csinodes", "storage.k8s.io", YES, YES),
        ("object.spec.?podFailurePolicy.?rules.orValue([]) != null", "jobs", "batch", NO, YES),
        ("has(object.data)", "controllerrevisions", "apps", NO, NO),
        ("object.data != null", "controllerrevisions", "apps", UNKNOWN, UNKNOWN),
        # ... if validation lets it.
        ("object.spec.containers[0].name != 'x'", "pods", "", BOUNDED, YES),
        ("object.spec.selector.?matchLabels.?a.orValue('') != 'x'", "deployments", "apps", NO, YES),
        ("object.spec.selector != null", "daemonsets", "apps", NO, NO),
        # Behind a pointer is an empty value.
        ("object.spec.containers.all(c, c.?livenessProbe.?grpc.?service.orValue('a') != '')",
         "pods", "", NO, YES),
        ("object.spec.?defaultBackend.?resource.?apiGroup.orValue('a') != ''", "ingresses",
         "networking.k8s.io", NO, YES),
        ("object.spec.?defaultBackend.?resource.?apiGroup.orValue('a') != null", "ingresses",
         "networking.k8s.io", NO, YES),
        # Nor is an empty text refused everywhere where it is to be one of several.
        ("object.?reclaimPolicy.orValue('') != ''", "storageclasses", "storage.k8s.io", NO, YES),
        ("object.spec.?volumeClaimTemplates.orValue([]).all(c, c.status.?phase.orValue('') != 'x')",
         "statefulsets", "apps", NO, YES),
        # In the status nothing is demanded.
        ("object.status.?conditions.orValue([]).all(c, c.lastTransitionTime != null)",
         "poddisruptionbudgets", "policy", NO, UNKNOWN),
    ],
)  # fmt: skip
def test_what_objects_may_lack(
    expression: str, resource: str, group: str, fails: Answer, refuses: Answer
) -> None:
    found = replies(policy(expression, resource, group))
    assert (found[Question.FAILS].answer, found[Question.REFUSES].answer) == (fails, refuses)


@pytest.mark.parametrize(
    ("schema", "least"),
    [
        (INTEGER, 0),
        (INTEGER | {"minimum": 3}, 3),
        ({"type": "number"}, 0),
        ({"type": "boolean"}, False),
        (TEXT, "x"),
        (TEXT | {"minLength": 3}, "xxx"),
        (TEXT | {"enum": ["b", "a"]}, "b"),
        (listed(TEXT), []),
        ({"type": "object", "additionalProperties": TEXT}, {}),
        (obj(a=TEXT), {}),
        (obj(("a", "c"), a=TEXT, b=TEXT, c=obj(("d",), d=INTEGER)), {"a": "x", "c": {"d": 0}}),
        # Of what the schema does not know nobody can say what it is.
        (obj(("a", "z"), a=TEXT), {"a": "x"}),
    ],
)
def test_the_least_value_of_a_field_that_nobody_asks_for(schema: JsonObject, least: object) -> None:
    assert _least(kind_of(dict(schema)).schema.properties["spec"]) == least
