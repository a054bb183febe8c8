"""Validation rules, evaluated."""

from __future__ import annotations

from typing import Any

import pytest

from celadon.kube.crd import rule_validation
from celadon.kube.crd.custom_kinds import CustomKind
from celadon.kube.library.costs import OUT_OF_BUDGET
from tests.kube.crd.test_custom_kinds import INTEGER, TEXT, Json, gizmo, kind, struct


def ruled(schema: Json, *rules: str | Json) -> CustomKind:
    """A kind whose spec has that schema and these rules."""
    given = [{"rule": one} if isinstance(one, str) else one for one in rules]
    return kind({**schema, "x-kubernetes-validations": given})


def texts(known: CustomKind, spec: Any, before: Any = None) -> list[str]:
    was = None if before is None else gizmo(before)
    return [str(one) for one in known.validate(gizmo(spec), was).errors]


SET = {"type": "array", "items": TEXT, "x-kubernetes-list-type": "set"}
KEYED = {
    "type": "array",
    "items": struct(k=TEXT, n=INTEGER),
    "x-kubernetes-list-type": "map",
    "x-kubernetes-list-map-keys": ["k"],
}
ODD = struct(**{"x-y": INTEGER, "a.b": INTEGER, "namespace": TEXT, "c__d": INTEGER})
TIMES = struct(
    d=TEXT | {"format": "date"},
    t=TEXT | {"format": "date-time"},
    l=TEXT | {"format": "duration"},
    b=TEXT | {"format": "byte"},
    n={"type": "number"},
    p={"x-kubernetes-int-or-string": True},
    o=TEXT | {"nullable": True},
)
TIMED = {
    "d": "2024-02-29",
    "t": "2024-02-29T12:00:00Z",
    "l": "3 weeks",
    "b": "aGk=",
    "n": 2,
    "p": "80%",
    "o": None,
}

HOLD: list[tuple[Json, Any, str]] = [
    (ODD, {"x-y": 1, "a.b": 2, "c__d": 3}, "self.x__dash__y + self.a__dot__b == 3"),
    (ODD, {"c__d": 3}, "self.c__underscores__d == 3 && !has(self.x__dash__y)"),
    (ODD, {"namespace": "n"}, "self.namespace == 'n' && self.__namespace__ == 'n'"),
    (ODD, {"namespace": "n"}, "has(self.namespace) && has(self.__namespace__)"),
    (ODD, {}, "!has(self.namespace)"),
    (SET, ["a", "b"], "self == ['b', 'a'] && self != ['a', 'c'] && self != ['a']"),
    (SET, ["a", "b"], "self + ['b', 'c'] == ['c', 'b', 'a']"),
    (SET, ["a", "b"], "(self + ['b', 'c']).size() == 3 && 'c' in self + ['c']"),
    (SET, ["a", "b"], "['b', 'a'] != self && ['a', 'b'] == self"),
    (struct(s=SET, t=SET), {"s": ["a", "b"], "t": ["b", "a"]}, "self.s == self.t"),
    (KEYED, [{"k": "a", "n": 1}, {"k": "b", "n": 2}], "self == self.filter(x, true)"),
    (KEYED, [{"k": "a", "n": 1}], "(self + self).size() == 1"),
    (KEYED, [{"k": "a", "n": 1}], "self.all(x, x.n == 1) && self[0].k == 'a'"),
    (
        struct(x=KEYED, y=KEYED),
        {"x": [{"k": "a", "n": 1}], "y": [{"k": "b", "n": 3}, {"k": "a", "n": 2}]},
        "(dyn(self.x) + self.y).map(i, i.n) == [2, 3]",
    ),
    (
        struct(x=KEYED, y=KEYED),
        {"x": [{"k": "a", "n": 1}, {"k": "b"}], "y": [{"k": "b"}, {"k": "a", "n": 1}]},
        "dyn(self.x) == self.y && self == self",
    ),
    (TIMES, TIMED, "self.d == timestamp('2024-02-29T00:00:00Z') && self.d < self.t"),
    (TIMES, TIMED, "self.t.getHours() == 12 && self.l == duration('504h')"),
    (TIMES, TIMED, "self.b == b'hi' && self.n == 2.0 && type(self.n) == double"),
    (TIMES, TIMED, "self.p == '80%' && type(self.p) == string"),
    (TIMES, TIMED, "!has(self.o)"),
    (TEXT, "abc", "self.size() == 3"),
    (INTEGER, 3, "self == 3"),
    ({"type": "object", "additionalProperties": INTEGER}, {"x-y": 1}, "self['x-y'] == 1"),
]


@pytest.mark.parametrize(("schema", "spec", "rule"), HOLD)
def test_typed_values(schema: Json, spec: Any, rule: str) -> None:
    assert texts(ruled(schema, rule), spec) == []


def test_values_are_shown_of_scalars_only() -> None:
    assert texts(ruled(INTEGER, "self > 3"), 2) == ["spec: Invalid value: 2: failed rule: self > 3"]
    assert texts(ruled(TEXT, "false"), "x") == ['spec: Invalid value: "x": failed rule: false']
    assert texts(ruled(SET, "false"), []) == ["spec: Invalid value: failed rule: false"]


MESSAGES = [
    ({"message": " no "}, "no"),
    ({"messageExpression": "' at ' + string(self) + ' '"}, "at 2"),
    ({"message": "no", "messageExpression": "''"}, "no"),
    ({"messageExpression": "'a\\nb'"}, "failed rule: self > 3"),
    ({"messageExpression": "string(1 / (self - 2))"}, "failed rule: self > 3"),
    ({"messageExpression": "'x'.split('').map(i, 'y').join() + '" + "z" * 5200 + "'"},
     "failed rule: self > 3"),
]  # fmt: skip


@pytest.mark.parametrize(("rule", "message"), MESSAGES)
def test_messages(rule: Json, message: str) -> None:
    known = ruled(INTEGER, {"rule": "self > 3", **rule})
    assert texts(known, 2) == [f"spec: Invalid value: 2: {message}"]


REASONS = [
    ("FieldValueForbidden", "spec.a: Forbidden: m"),
    ("FieldValueRequired", "spec.a: Required value: m"),
    ("FieldValueDuplicate", "spec.a: Duplicate value"),
    ("FieldValueInvalid", "spec.a: Invalid value: m"),
]


@pytest.mark.parametrize(("reason", "text"), REASONS)
def test_reasons(reason: str, text: str) -> None:
    rule = {"rule": "false", "message": "m", "reason": reason, "fieldPath": ".a"}
    assert texts(ruled(struct(a=INTEGER), rule), {}) == [text]


def test_field_paths_in_maps() -> None:
    schema = struct(m={"type": "object", "additionalProperties": struct(**{"x.y": INTEGER})})
    rule = {"rule": "false", "message": "m", "fieldPath": ".m['a\\'b']['x.y']"}
    assert texts(ruled(schema, rule), {}) == ["spec.m[a'b].x.y: Invalid value: m"]


def test_a_key_that_comes_first_is_written_behind_a_dot() -> None:
    schema = {"type": "object", "additionalProperties": INTEGER}
    known = ruled(schema, {"rule": "false", "message": "m", "fieldPath": "['a']"})
    assert texts(known, {"a": 1}) == ["spec.[a]: Invalid value: m"]


def test_transition_rules() -> None:
    known = ruled(INTEGER, {"rule": "self >= oldSelf", "message": "less"})
    assert texts(known, 1) == []
    assert texts(known, 1, 1) == []
    assert texts(known, 1, 2) == ["spec: Invalid value: 1: less"]


def test_optional_old_self() -> None:
    rule = {"rule": "oldSelf.hasValue() || self == 1", "optionalOldSelf": True}
    known = ruled(INTEGER, rule)
    assert texts(known, 1) == []
    assert texts(known, 2) == [f"spec: Invalid value: 2: failed rule: {rule['rule']}"]
    assert texts(known, 2, 3) == []


def test_old_items_by_key() -> None:
    items = {
        **struct(k=TEXT, n=INTEGER),
        "x-kubernetes-validations": [{"rule": "self.n >= oldSelf.n", "message": "less"}],
    }
    known = kind({**KEYED, "items": items})
    before = [{"k": "a", "n": 2}, {"k": "b", "n": 2}]
    after = [{"k": "c", "n": 0}, {"k": "b", "n": 1}, {"k": "a", "n": 3}]
    assert texts(known, after, before) == ["spec[1]: Invalid value: less"]


def test_failures_of_what_did_not_change_are_warnings() -> None:
    known = ruled(INTEGER, "self > 3")
    outcome = known.validate(gizmo(1, other=2), gizmo(1))
    assert outcome.errors == []
    assert outcome.warnings == ["spec: Invalid value: 1: failed rule: self > 3"]


@pytest.mark.parametrize("list_type", ["atomic", "set", None, "map"])
def test_what_is_below_something_that_did_not_change_is_forgiven(list_type: str | None) -> None:
    """Of items that nobody can recognize, the list decides."""
    text = {**TEXT, "x-kubernetes-validations": [{"rule": "!self.contains(':')", "message": "no"}]}
    items = struct(k=text) if list_type == "map" else text
    ruled_list: Json = {"type": "array", "items": items}
    if list_type is not None:
        ruled_list["x-kubernetes-list-type"] = list_type
    if list_type == "map":
        ruled_list["x-kubernetes-list-map-keys"] = ["k"]
    known = kind(struct(other=TEXT, l=ruled_list))
    old, new = [{"k": "a:b"}, {"k": "c:d"}] if list_type == "map" else ["a:b", "c:d"]
    place = "spec.l[0].k" if list_type == "map" else "spec.l[0]"
    outcome = known.validate(gizmo({"l": [old], "other": "x"}), gizmo({"l": [old]}))
    assert (outcome.errors, outcome.warnings) == ([], [f'{place}: Invalid value: "a:b": no'])
    outcome = known.validate(gizmo({"l": [old, new]}), gizmo({"l": [old]}))
    wrong = ['spec.l[1].k: Invalid value: "c:d": no']
    if list_type != "map":
        wrong = [f'{place}: Invalid value: "a:b": no', 'spec.l[1]: Invalid value: "c:d": no']
    assert [str(one) for one in outcome.errors] == wrong
    assert len(outcome.warnings) == (list_type == "map")


def test_the_order_of_a_list_with_keys_is_no_change() -> None:
    known = ruled(KEYED, {"rule": "self.size() < 2", "message": "two"})
    one, other = {"k": "a"}, {"k": "b"}
    assert texts(known, [one, other], [other, one]) == []
    assert texts(known, [one, other], [other, {"k": "c"}]) == ["spec: Invalid value: two"]


INTEGERS = struct(
    a=INTEGER,
    b=INTEGER,
    l={"type": "array", "items": INTEGER},
    m={"type": "object", "additionalProperties": INTEGER},
    o=struct(a=INTEGER),
)


@pytest.mark.parametrize(
    ("rule", "fails"),
    [
        ("has(self.b)", True),
        ("self.b > 1", True),
        ("!has(self.a) || has(self.b)", True),
        ("has(self.a)", False),
        ("self.a == 1", False),
        ("has(self.o)", False),
        ("has(self.o.a)", True),
        ("self.o == self.o", True),
        ("self.l[1] == 2", True),
        ("self.l.exists(x, x == 5)", True),
        ("1 in self.l || true", False),
        ("self.m.size() == 1", False),
        ("self.m['k'] == 2", True),
        ("self.m.all(k, k == 'k')", False),
        ("self.m.all(k, self.m[k] > 0)", True),
    ],
)
def test_a_double_in_the_place_of_an_integer_fails_where_it_is_looked_at(
    rule: str, *, fails: bool
) -> None:
    spec = {"a": 1, "b": 2.0, "l": [1, 2.0], "m": {"k": 2.0}, "o": {"a": 2.0}}
    detail = f"invalid data, expected int, got float64 evaluating rule: {rule}"
    wanted = [f'spec: Invalid value: "object": {detail}'] if fails else []
    assert texts(ruled(INTEGERS, rule), spec) == wanted


def test_every_rule_about_a_double_fails() -> None:
    known = ruled(INTEGER, "self in [1, 2]", "true", "self > 0")
    assert texts(known, 2.0) == [
        f'spec: Invalid value: "integer": invalid data, expected int, got float64 evaluating rule: '
        f"{rule}"
        for rule in ("self in [1, 2]", "self > 0")
    ]


def test_a_message_has_the_plain_old_self() -> None:
    rule = {
        "rule": "oldSelf.hasValue() && self == 1",
        "optionalOldSelf": True,
        "messageExpression": "'not ' + string(oldSelf.orValue(0))",
        "message": "static",
    }
    assert texts(ruled(INTEGER, rule), 2, 3) == ["spec: Invalid value: 2: static"]


def test_rules_everywhere() -> None:
    item = {**INTEGER, "x-kubernetes-validations": [{"rule": "self > 1"}]}
    schema = struct(
        l={"type": "array", "items": item},
        m={"type": "object", "additionalProperties": item},
    )
    found = texts(kind(schema), {"l": [1, 2], "m": {"x": 0}})
    assert found == [
        "spec.l[0]: Invalid value: 1: failed rule: self > 1",
        "spec.m[x]: Invalid value: 0: failed rule: self > 1",
    ]


def test_the_root_has_a_name() -> None:
    root = kind(INTEGER, **{"x-kubernetes-validations": [{"rule": "self.metadata.name == 'h'"}]})
    assert texts(root, 1) == ["<nil>: Invalid value: failed rule: self.metadata.name == 'h'"]


FAILURES = [
    ("1 / self == 1", "division by zero evaluating rule: 1 / self == 1"),
    (
        "dyn(self) + 'a' == ''",
        "'no such overload': call arguments did not match a supported operator, function or macro "
        "signature for rule: dyn(self) + 'a' == ''",
    ),
]


@pytest.mark.parametrize(("rule", "detail"), FAILURES)
def test_failed_evaluation(rule: str, detail: str) -> None:
    assert texts(ruled(INTEGER, rule, "self == 1"), 0) == [
        f'spec: Invalid value: "integer": {detail}',
        "spec: Invalid value: 0: failed rule: self == 1",
    ]


def test_rules_that_do_not_compile() -> None:
    [text] = texts(ruled(INTEGER, "self.x", ""), 0)
    start = 'spec: Invalid value: "integer": rule compile error: compilation failed: ERROR'
    assert text.startswith(start)


def test_expensive_rules() -> None:
    many = {"type": "array", "items": INTEGER}
    expensive = "self.all(x, self.all(y, self.all(z, x + y + z > 0)))"
    assert texts(ruled(many, expensive, "false"), [1] * 100) == [
        "spec: Invalid value: \"array\": 'operation cancelled: actual cost limit exceeded': no "
        f"further validation rules will be run due to call cost exceeds limit for rule: {expensive}"
    ]


def test_the_budget_of_an_object() -> None:
    many = {"type": "array", "items": INTEGER}
    known = ruled(many, *["self.all(x, self.all(y, x + y > 0))"] * 30)
    outcome = known.validate(gizmo([1] * 300))
    assert [str(one) for one in outcome.errors] == [
        f'spec: Invalid value: "array": {OUT_OF_BUDGET}'
    ]


def test_rules_wait_for_the_schema() -> None:
    known = ruled(struct(a=INTEGER) | {"required": ["a"]}, "self.a > 0")
    assert texts(known, {}) == [
        "spec.a: Required value",
        f"<nil>: Invalid value: null: {rule_validation.SKIPPED}",
    ]


def test_tracebacks_name_definition_field_and_rule() -> None:
    message = {"rule": "self != ''", "messageExpression": "'empty: ' + self"}
    tag = {**TEXT, "x-kubernetes-validations": [{"rule": "true"}, message]}
    nested = ruled(struct(tags={"type": "array", "items": tag}), "self.tags.size() < 9")
    assert nested.rules is not None
    compiled = nested.rules.value
    assert compiled is not None
    spec = compiled.properties["spec"]
    items = spec.properties["tags"].items
    assert items is not None
    [own] = spec.node.rules
    second = items.node.rules[1]
    assert [one.program.name for one in (own.rule, second.rule, second.message) if one] == [
        "Gizmo.v1.example.com spec x-kubernetes-validations[0]",
        "Gizmo.v1.example.com spec.tags[*] x-kubernetes-validations[1]",
        "Gizmo.v1.example.com spec.tags[*] x-kubernetes-validations[1].messageExpression",
    ]


def test_rules_are_compiled_once_and_by_who_needs_them(monkeypatch: pytest.MonkeyPatch) -> None:
    """A server reads all definitions when one of them changes, and has no time to compile."""
    owners: list[str] = []
    real = rule_validation.rule_validator

    def rule_validator(schema: Any, environment: Any, owner: str) -> Any:
        owners.append(owner)
        return real(schema, environment, owner)

    monkeypatch.setattr(rule_validation, "rule_validator", rule_validator)
    known = ruled(struct(a=INTEGER), "self.a > 0")
    assert owners == []
    assert texts(known, {"a": 1}) == []
    assert texts(known, {"a": 0}) != []
    assert owners == ["Gizmo.v1.example.com"]
