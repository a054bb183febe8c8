"""What happens to custom resources because of their schema."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from celadon.deep_recursion import USUAL_STACK, deep_calls
from celadon.kube.crd.custom_kinds import CustomKind, custom_kinds
from celadon.kube.names import GroupVersionKind
from celadon.kube.releases import answering_as
from celadon.kube.resources.api_resources import ScalePaths
from tests.growth.counted_steps import LINEAR, Text, growth

GIZMO = GroupVersionKind("example.com", "v1", "Gizmo")
Json = dict[str, Any]


def kind(spec: Json, **root: Any) -> CustomKind:
    schema = {"type": "object", "properties": {"spec": spec}, **root}
    version = {"name": "v1", "served": True, "schema": {"openAPIV3Schema": schema}}
    names = {"plural": "gizmos", "kind": "Gizmo"}
    definition = {"spec": {"group": "example.com", "names": names, "versions": [version]}}
    return custom_kinds(definition)[GIZMO]


def scaled_kind(spec: Json) -> CustomKind:
    """With a scale whose counts are `spec.n` and `status.n`."""
    scale = ScalePaths(("spec", "n"), ("status", "n"))
    return replace(kind(spec, properties={"spec": spec, "status": OPEN}), scale=scale)


def gizmo(spec: Any, **more: Any) -> Json:
    return {"apiVersion": "example.com/v1", "kind": "Gizmo", "metadata": {"name": "g"}} | {
        "spec": spec,
        **more,
    }


def struct(**properties: Json) -> Json:
    return {"type": "object", "properties": properties}


INTEGER: Json = {"type": "integer"}
TEXT: Json = {"type": "string"}
OPEN: Json = {"x-kubernetes-preserve-unknown-fields": True}

PREPARED: list[tuple[str, Json, Any, Any, list[str]]] = [
    ("unknown", struct(a=INTEGER), {"a": 1, "b": 2}, {"a": 1}, ["spec.b"]),
    ("in a list", {"type": "array", "items": struct()}, [{"b": 1}], [{}], ["spec[0].b"]),
    (
        "in a map",
        {"type": "object", "additionalProperties": struct()},
        {"k": {"b": 1}},
        {"k": {}},
        ["spec.k.b"],
    ),
    ("kept", struct() | OPEN, {"b": {"c": 1}}, {"b": {"c": 1}}, []),
    (
        "known inside kept",
        struct(a=struct()) | OPEN,
        {"a": {"b": 1}, "c": 1},
        {"a": {}, "c": 1},
        ["spec.a.b"],
    ),
    (
        "lists inside kept",
        {"type": "array", "items": struct(a=struct()), **OPEN},
        [{"a": {"b": 1}, "c": 1}],
        [{"a": {}, "c": 1}],
        ["spec[0].a.b"],
    ),
    (
        "anything in values",
        {"type": "object", "additionalProperties": True},
        {"a": 1, "b": {"c": 1}},
        {"a": 1, "b": {}},
        ["spec.b.c"],
    ),
    (
        "embedded",
        struct() | {"x-kubernetes-embedded-resource": True},
        {"kind": "A", "apiVersion": "v1", "metadata": {"x": 1}, "b": 1},
        {"kind": "A", "apiVersion": "v1", "metadata": {}},
        ["spec.b", "spec.metadata.x"],
    ),
    ("default", struct(a=INTEGER | {"default": 3}), {}, {"a": 3}, []),
    (
        "default in default",
        struct(a=struct(b=INTEGER | {"default": 3}) | {"default": {}}),
        {},
        {"a": {"b": 3}},
        [],
    ),
    ("no default in what is absent", struct(a=struct(b=INTEGER | {"default": 3})), {}, {}, []),
    ("null", struct(a=INTEGER), {"a": None}, {}, []),
    ("null with default", struct(a=INTEGER | {"default": 3}), {"a": None}, {"a": 3}, []),
    (
        "nullable",
        struct(a=INTEGER | {"nullable": True, "default": 3}),
        {"a": None},
        {"a": None},
        [],
    ),
    ("null items", {"type": "array", "items": INTEGER}, [None], [None], []),
    ("null values", {"type": "object", "additionalProperties": INTEGER}, {"a": None}, {}, []),
]


@pytest.mark.parametrize(
    ("spec", "given", "wanted", "dropped"),
    [pytest.param(*row[1:], id=row[0]) for row in PREPARED],
)
def test_prepare(spec: Json, given: Any, wanted: Any, dropped: list[str]) -> None:
    obj = gizmo(given)
    found = kind(spec).prepare(obj)
    assert found.value["spec"] == wanted
    assert [one.path for one in found.dropped] == dropped
    assert obj == gizmo(given), "what was given is not changed"


def test_the_root_keeps_its_metadata() -> None:
    found = kind(struct()).prepare(gizmo({}, top=1, b=2))
    assert found.value == gizmo({})
    assert [one.path for one in found.dropped] == ["b", "top"]


NOTHING = '<nil>: Invalid value: "": '
NOT_INTEGER = 'spec: Invalid value: "number": spec in body must be of type integer: "number"'

INVALID: list[tuple[str, Json, Any, list[str]]] = [
    ("type", INTEGER, "3",
     ['spec: Invalid value: "string": spec in body must be of type integer: "string"']),
    ("integral double", INTEGER, 2.0, []),
    ("int for number", {"type": "number"}, 2, []),
    ("null item", {"type": "array", "items": INTEGER}, [None],
     ['spec[0]: Invalid value: "null": spec[0] in body must be of type integer: "null"']),
    ("int or string", {"x-kubernetes-int-or-string": True}, True,
     ['spec: Invalid value: "boolean": spec in body must be of type integer,string: "boolean"']),
    ("required", struct(a=INTEGER) | {"required": ["a"]}, {}, ["spec.a: Required value"]),
    ("exclusive", INTEGER | {"minimum": 3, "exclusiveMinimum": True}, 3,
     ["spec: Invalid value: 3: spec in body should be greater than 3"]),
    ("exclusive maximum", {"type": "number", "maximum": 3, "exclusiveMaximum": True}, 3.0,
     ["spec: Invalid value: 3: spec in body should be less than 3"]),
    ("integer under a fraction", {"type": "number", "multipleOf": 0.5}, 1,
     ["spec: Invalid value: 0: factor MultipleOf declared for spec must be positive: 0"]),
    ("multiple", INTEGER | {"multipleOf": 3}, 7,
     ["spec: Invalid value: 7: spec in body should be a multiple of 3"]),
    ("large", INTEGER, 1e300,
     [NOT_INTEGER,
      NOTHING + "Checked value must be of type integer (default format) in spec"]),
    ("largest integral double", INTEGER, 2.0**53 - 1, []),
    ("least integral double", INTEGER, 1 - 2.0**53, []),
    ("beyond 2^53 a double is no integer", INTEGER, 2.0**53, [NOT_INTEGER]),
    ("nor below -2^53", INTEGER, -(2.0**53), [NOT_INTEGER]),
    ("integers go on to 2^63", INTEGER, 2**63 - 1, []),
    ("few items", {"type": "array", "items": INTEGER, "minItems": 1}, [],
     ["spec: Invalid value: 0: spec in body should have at least 1 items"]),
    ("few properties", {"type": "object", "additionalProperties": INTEGER, "minProperties": 1}, {},
     ["spec: Invalid value: 0: spec in body should have at least 1 properties"]),
    ("many properties", {"type": "object", "additionalProperties": INTEGER, "maxProperties": 1},
     {"a": 1, "b": 2}, ["spec: Too many: 2: must have at most 1 item"]),
    ("enum of numbers", INTEGER | {"enum": [1, 2]}, 3,
     ['spec: Unsupported value: 3: supported values: "1", "2"']),
    ("members of what is shown are sorted", {"enum": [{"d": 1, "c": 2}], **OPEN}, {"b": 1, "a": 2},
     ['spec: Unsupported value: {"a":2,"b":1}: supported values: "{\\"c\\":2,\\"d\\":1}"']),
    ("an enum cuts fractions off", {"type": "number", "enum": [1, 2]}, 1.5, []),
    ("and compares then", {"type": "number", "enum": [1, 2]}, 0.5,
     ['spec: Unsupported value: 0.5: supported values: "1", "2"']),
    ("an integer is a character", {"enum": ["A"], **OPEN}, 65, []),
    ("one of many properties is wrong, too",
     {"type": "object", "additionalProperties": TEXT | {"maxLength": 1}, "maxProperties": 1},
     {"a": "xx", "b": "x"},
     ["spec: Too many: 2: must have at most 1 item",
      "spec.a: Too long: may not be more than 1 byte"]),
    ("members without names", {"type": "object", "additionalProperties": TEXT | {"pattern": "^a"},
                               "required": [""]},
     {"": "b"}, ["spec.: Invalid value: \"b\": spec. in body should match '^a'"]),
    ("what several branches say is said once",
     struct(a=TEXT) | {"required": ["a"], "anyOf": [{"required": ["a"]}, {"required": ["b"]}]}, {},
     ["spec.a: Required value", NOTHING + '"spec" must validate at least one schema (anyOf)']),
    ("true is not 1", {"enum": [1], **OPEN}, True,
     ['spec: Unsupported value: true: supported values: "1"']),
    ("anyOf", TEXT | {"anyOf": [{"pattern": "^a"}, {"maxLength": 1}]}, "bb",
     ["spec: Invalid value: \"bb\": spec in body should match '^a'",
      NOTHING + '"spec" must validate at least one schema (anyOf)']),
    ("anyOf holds", TEXT | {"anyOf": [{"pattern": "^a"}, {"maxLength": 1}]}, "b", []),
    ("oneOf none", TEXT | {"oneOf": [{"pattern": "^a"}]}, "b",
     ["spec: Invalid value: \"b\": spec in body should match '^a'",
      NOTHING + '"spec" must validate one and only one schema (oneOf). Found none valid']),
    ("oneOf two", TEXT | {"oneOf": [{"pattern": "^a"}, {"maxLength": 1}]}, "a",
     [NOTHING + '"spec" must validate one and only one schema (oneOf). '
      "Found 2 valid alternatives"]),
    ("oneOf one", TEXT | {"oneOf": [{"pattern": "^a"}, {"maxLength": 1}]}, "b", []),
    ("allOf", TEXT | {"allOf": [{"pattern": "^a"}]}, "b",
     ["spec: Invalid value: \"b\": spec in body should match '^a'",
      NOTHING + '"spec" must validate all the schemas (allOf). None validated']),
    ("allOf some", TEXT | {"allOf": [{"pattern": "^a"}, {}]}, "b",
     ["spec: Invalid value: \"b\": spec in body should match '^a'",
      NOTHING + '"spec" must validate all the schemas (allOf)']),
    ("not", TEXT | {"not": {"pattern": "^a"}}, "a",
     [NOTHING + '"spec" must not validate the schema (not)']),
    ("format", TEXT | {"format": "ipv4"}, "::1",
     ['spec: Invalid value: "::1": spec in body must be of type ipv4: "::1"']),
    ("format of a number", TEXT | {"format": "date"}, 3,
     ['spec: Invalid value: "int64": spec in body must be of type date: "int64"']),
    ("unknown format", TEXT | {"format": "int32"}, "x", []),
    ("bad pattern", TEXT | {"pattern": "("}, "x",
     ["spec: Invalid value: \"x\": spec in body should match '('"]),
    ("set of objects", {"type": "array", "x-kubernetes-list-type": "set", "items": struct(a=TEXT)},
     [{"a": "x"}, {"a": "x"}], ['spec[1]: Duplicate value: {"a":"x"}']),
    ("keys", {"type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["a"],
              "items": {**OPEN}}, [1],
     ["spec[0]: Invalid value: 1: must be an object for an array of list-type map"]),
]  # fmt: skip


@pytest.mark.parametrize(
    ("spec", "given", "errors"), [pytest.param(*row[1:], id=row[0]) for row in INVALID]
)
def test_validation(spec: Json, given: Any, errors: list[str]) -> None:
    found = [str(one) for one in kind(spec).validate(gizmo(given)).errors]
    assert sorted(found) == sorted(errors)


def test_what_is_read_back_has_defaults_and_no_fractions_of_nothing() -> None:
    status = {"type": "object", "default": {"phase": "new"}}
    known = kind(struct(n={"type": "number"}), properties={"spec": OPEN, "status": status})
    found = known.read_back(gizmo({"n": 2.0}))
    assert (found["status"], found["spec"]) == ({"phase": "new"}, {"n": 2})
    assert found["spec"]["n"].__class__ is int


def test_places_of_what_is_wrong() -> None:
    """A member without a schema of its own has a dot before it in the text, not in the path."""
    errors = (
        kind(struct(a=INTEGER), additionalProperties=TEXT).validate(gizmo({"a": "x"}, x=1)).errors
    )
    found = [(e.path.steps, str(e)) for e in errors if e.path.steps != ("metadata",)]
    assert found == [
        (("x",), 'x: Invalid value: "integer": .x in body must be of type string: "integer"'),
        (
            ("spec", "a"),
            'spec.a: Invalid value: "string": spec.a in body must be of type integer: "string"',
        ),
    ]


def test_what_did_not_change_may_stay_invalid() -> None:
    known = kind(struct(a=INTEGER | {"maximum": 3}, b=INTEGER))
    before = gizmo({"a": 5, "b": 1})
    assert known.validate(before).errors
    assert known.validate(gizmo({"a": 5, "b": 2}), before).errors == []
    assert known.validate(gizmo({"a": 6, "b": 1}), before).errors


def test_items_correspond_by_key() -> None:
    items = struct(k=TEXT, n=INTEGER | {"maximum": 3})
    keyed = {"x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["k"]}
    before = gizmo([{"k": "a", "n": 5}])
    after = gizmo([{"k": "b", "n": 1}, {"k": "a", "n": 5}])
    assert kind({"type": "array", "items": items, **keyed}).validate(after, before).errors == []
    assert kind({"type": "array", "items": items}).validate(after, before).errors


def test_repetitions_may_stay() -> None:
    known = kind({"type": "array", "items": TEXT, "x-kubernetes-list-type": "set"})
    assert known.validate(gizmo(["a", "a", "b"]), gizmo(["a", "a"])).errors == []
    assert known.validate(gizmo(["a", "a"]), gizmo(["a"])).errors


SET: Json = {"type": "array", "items": TEXT, "x-kubernetes-list-type": "set"}
KEYED: Json = {
    "type": "array",
    "items": struct(k=TEXT),
    "x-kubernetes-list-type": "map",
    "x-kubernetes-list-map-keys": ["k"],
}


def with_status(**members: Json) -> CustomKind:
    return kind({}, properties={"spec": struct(), "status": struct(**members)})


def test_repetitions_in_a_status() -> None:
    known = with_status(s=SET, l=KEYED)
    new = gizmo({}, status={"s": ["a", "a"], "l": [{"k": "x"}, {"k": "x"}]})
    assert [str(one) for one in known.validate_status(new, gizmo({})).errors] == [
        'status.s[1]: Duplicate value: "a"',
        'status.l[1]: Duplicate value: {"k":"x"}',
    ]
    assert known.validate_status(new, new).errors == []


@pytest.mark.parametrize(
    ("release", "shown"), [("1.33", '[]interface {}{"a", "a"}'), ("1.34", '["a","a"]')]
)
def test_what_is_no_object_in_a_map_list_by_release(release: str, shown: str) -> None:
    keyed = {"x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["a"]}
    items = {"type": "array", "items": {"x-kubernetes-preserve-unknown-fields": True}, **keyed}
    with answering_as(release):
        (error,) = kind(items).validate(gizmo([["a", "a"]])).errors
        assert error.body == (
            f"Invalid value: {shown}: must be an object for an array of list-type map"
        )


@pytest.mark.parametrize(
    ("release", "paths"), [("1.30", ["<nil>", "s"]), ("1.31", ["status", "status.s"])]
)
def test_paths_in_a_status(release: str, paths: list[str]) -> None:
    known = with_status(s={"type": "string"})
    with answering_as(release):
        for path, status in zip(paths, (None, {"s": 1}), strict=True):
            found = known.validate_status(gizmo({}, status=status), gizmo({})).errors
            assert [str(error.path) for error in found] == [path]


def test_a_wrong_status_may_stay_since_1_31() -> None:
    known = with_status(s={"type": "string"})
    wrong = gizmo({}, status={"s": 1})
    for release, count in (("1.30", 1), ("1.31", 0)):
        with answering_as(release):
            assert len(known.validate_status(wrong, wrong).errors) == count


@pytest.mark.parametrize(
    ("release", "place", "is_forgiven"),
    [("1.30", "n", False), ("1.31", "status.n", True)],
)
def test_the_place_of_a_status_by_release(release: str, place: str, *, is_forgiven: bool) -> None:
    wrong = gizmo({}, status={"n": "x"})
    with answering_as(release):
        known = with_status(n=INTEGER)
        [error] = known.validate_status(wrong, gizmo({})).errors
        assert error.field == place
        assert (known.validate_status(wrong, wrong).errors == []) is is_forgiven


def test_what_is_about_the_status_as_a_whole_says_so() -> None:
    either = TEXT | {"anyOf": [{"format": "ipv4"}, {"format": "ipv6"}]}
    known = with_status(ip=either, i=INTEGER | {"format": "int32"})
    found = known.validate_status(gizmo({}, status={"ip": "x", "i": 2**40}), gizmo({})).errors
    assert [str(one) for one in found] == [
        'status: Invalid value: "": Checked value must be of type integer with format int32 in i',
        'status: Invalid value: "": "ip" must validate at least one schema (anyOf)',
        'status.ip: Invalid value: "x": ip in body must be of type ipv4: "x"',
    ]


def test_long_lists_take_no_longer_per_item() -> None:
    """No item is looked for among all others."""
    known = kind(struct(s=SET, l=KEYED))

    def validated(count: int) -> Callable[[], object]:
        texts = [Text(f"{number}") for number in range(count)]
        spec = {"s": texts, "l": [{"k": text} for text in texts]}
        assert known.validate(gizmo(spec), gizmo(spec)).errors == []
        return lambda: known.validate(gizmo(spec), gizmo(spec))

    assert growth(validated, 100) < LINEAR


def test_schemas_are_followed_as_deep_as_they_go() -> None:
    """Also where arrays nest, whose items have no field sets of their own."""
    rule = {"rule": "self.size() < 3"}
    spec: Any = {**TEXT, "default": "d", "x-kubernetes-validations": [rule]}
    value: Any = "long"
    for _ in range(250):
        spec, value = {"type": "array", "items": spec}, [value]
    known = kind(struct(a=spec))
    with deep_calls(USUAL_STACK):
        errors = known.validate(gizmo({"a": value})).errors
    assert [error.detail for error in errors] == ["failed rule: self.size() < 3"]


@pytest.mark.parametrize(
    "spec", [3, None, [], {"type": 3, "properties": [], "enum": 3, "items": 3}]
)
def test_schemas_that_are_none(spec: Any) -> None:
    known = kind(spec)
    known.validate(known.prepare(gizmo({"a": 1})).value)


def test_what_another_schema_has_judged_is_pruned_and_defaulted_when_it_is_read() -> None:
    """By revisions: `shown` does nothing for an object that is younger than the schema."""
    known = replace(kind(struct(a=INTEGER, b={**TEXT, "default": "x"})), since=5)
    old = gizmo({"a": 1, "gone": True}, metadata={"name": "g", "resourceVersion": "4"})
    assert known.shown(old)["spec"] == {"a": 1, "b": "x"}
    assert old["spec"] == {"a": 1, "gone": True}
    young = {**old, "metadata": {"name": "g", "resourceVersion": "6"}}
    assert known.shown(young) is young


def test_objects_inside_objects_are_checked_where_a_schema_has_some() -> None:
    inner = {"type": "object", "x-kubernetes-embedded-resource": True, **OPEN}
    known = kind(struct(inner=inner))
    found = known.validate(gizmo({"inner": {"apiVersion": "v1", "metadata": {"name": "A"}}}))
    assert [error.field for error in found.errors][:1] == ["spec.inner.kind"]
    assert known.validate(gizmo({})).errors == []


@pytest.mark.parametrize(
    ("scope", "namespaced"), [("Namespaced", True), ("Cluster", False), (None, None)]
)
def test_scopes(scope: str | None, namespaced: bool | None) -> None:
    spec: Json = {
        "group": "example.com",
        "names": {"plural": "gizmos", "kind": "Gizmo"},
        "versions": [{"name": "v1", "served": True, "schema": {"openAPIV3Schema": struct()}}],
    }
    made = custom_kinds({"spec": spec if scope is None else {**spec, "scope": scope}})[GIZMO]
    assert made.namespaced is namespaced


@pytest.mark.parametrize(
    ("conversion", "converts"),
    [(None, False), ({"strategy": "None"}, False), ({"strategy": "Webhook"}, True)],
)
def test_what_versions_have_of_their_own(conversion: Json | None, converts: bool) -> None:
    """Subresources, and the schema of the version that is stored."""
    stored, other = struct(a=INTEGER), struct(b=TEXT)
    scale = {"specReplicasPath": ".spec.n", "statusReplicasPath": ".status.m"}
    spec: Json = {
        "group": "example.com",
        "names": {"plural": "gizmos", "kind": "Gizmo"},
        "versions": [
            {"name": "v1", "subresources": {"status": {}}, "schema": {"openAPIV3Schema": other}},
            {
                "name": "v2",
                "storage": True,
                "subresources": {"scale": scale},
                "schema": {"openAPIV3Schema": stored},
            },
        ],
    }
    if conversion is not None:
        spec["conversion"] = conversion
    kinds = custom_kinds({"metadata": {"resourceVersion": "7"}, "spec": spec})
    first, second = kinds[GIZMO], kinds[GIZMO._replace(version="v2")]
    assert (first.has_status, second.has_status) == (True, False)
    assert (first.scale, second.scale) == (None, ScalePaths(("spec", "n"), ("status", "m")))
    assert (first.storage, second.storage) == (second.schema, None)
    assert {(one.since, one.converts) for one in (first, second)} == {(7, converts)}


@pytest.mark.parametrize("version", [None, "", "x", "-1", "9" * 5000, "²"])
def test_a_definition_that_no_store_has_numbered(version: str | None) -> None:
    spec: Json = {
        "group": "example.com",
        "names": {"plural": "gizmos", "kind": "Gizmo"},
        "versions": [{"name": "v1", "schema": {"openAPIV3Schema": struct()}}],
    }
    meta = {} if version is None else {"resourceVersion": version}
    assert custom_kinds({"metadata": meta, "spec": spec})[GIZMO].since == 0


def test_the_type_of_an_object_is_always_judged() -> None:
    """Of the object only: below, a member of that name may stay what it was."""
    few = TEXT | {"maxLength": 3}
    schema = struct(apiVersion=few, kind=few, spec=struct(kind=few, name=few))
    known = kind({}, properties=schema["properties"])
    before = gizmo({"kind": "Gizmo", "name": "long"})
    assert [one.field for one in known.validate(before, before).errors] == ["apiVersion", "kind"]


@pytest.mark.parametrize(
    ("more", "errors"),
    [
        ({}, []),
        ({"kind": "Other"}, ['kind: Invalid value: "Other": must be Gizmo']),
        (
            {"apiVersion": "example.com/v2"},
            ['apiVersion: Invalid value: "example.com/v2": must be example.com/v1'],
        ),
    ],
)
def test_what_a_mutator_may_not_make_of_it(more: Json, errors: list[str]) -> None:
    assert [str(one) for one in kind({})._type_errors(gizmo({}) | more)] == errors
    assert list(kind({})._type_errors({})) == []
