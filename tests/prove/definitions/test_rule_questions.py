"""What rules of definitions can do, with objects that show it."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

import pytest

from celadon.kube.crd import CustomKind, structural_schemas
from celadon.kube.releases import answering_as
from celadon.prove import Answer
from celadon.prove.definitions import DefinitionProver, RuleQuestion, RuleReply
from celadon.prove.definitions.symbolic_rules import engine_objects, is_at, verdict
from tests.prove.definitions.definitions import (
    INTEGER,
    RELEASE,
    TEXT,
    definition,
    keyed,
    kind_of,
    listed,
    obj,
    rules,
)


def replies(spec: dict[str, Any], **root: Any) -> list[RuleReply]:
    prover = DefinitionProver(definition(spec, **root), RELEASE)
    return [one for kind in prover.kinds.values() for one in prover.replies(kind)]


def answers(spec: dict[str, Any], index: int | None = 0) -> dict[RuleQuestion, Answer]:
    return {one.question: one.answer for one in replies(spec) if one.index == index}


SIZED = obj(("size",), size=INTEGER | {"minimum": 1, "maximum": 9})

CASES: list[tuple[str, dict[str, Any], RuleQuestion, Answer]] = [
    ("a range of the schema", SIZED | rules("self.size < 10"), RuleQuestion.REFUSES, Answer.NO),
    ("outside of the range", SIZED | rules("self.size > 9"), RuleQuestion.ADMITS, Answer.NO),
    (
        "a rule that does something",
        SIZED | rules("self.size != 5"),
        RuleQuestion.REFUSES,
        Answer.YES,
    ),
    (
        "a division by zero",
        SIZED | rules("9 / (self.size - 3) > 0"),
        RuleQuestion.FAILS,
        Answer.YES,
    ),
    (
        "a field that may be missing",
        obj(a=TEXT) | rules("self.a != ''"),
        RuleQuestion.FAILS,
        Answer.YES,
    ),
    (
        "a default",
        obj(a=TEXT | {"default": "x"}) | rules("self.a != ''"),
        RuleQuestion.FAILS,
        Answer.NO,
    ),
    (
        "a null has no default",
        obj(a=TEXT | {"default": "x", "nullable": True}) | rules("self.a != ''"),
        RuleQuestion.FAILS,
        Answer.YES,
    ),
    (
        "an enumeration",
        obj(("a",), a=TEXT | {"enum": ["x", "y"]}) | rules("self.a in ['x', 'y', 'z']"),
        RuleQuestion.REFUSES,
        Answer.NO,
    ),
    (
        "a pattern",
        obj(("a",), a=TEXT | {"pattern": "^[a-c]+$"}) | rules("!self.a.startsWith('d')"),
        RuleQuestion.REFUSES,
        Answer.NO,
    ),
    (
        "a pattern that allows it",
        obj(("a",), a=TEXT | {"pattern": "[a-c]"}) | rules("!self.a.startsWith('d')"),
        RuleQuestion.REFUSES,
        Answer.YES,
    ),
    (
        "a length",
        obj(("a",), a=TEXT | {"maxLength": 3}) | rules("size(self.a) < 4"),
        RuleQuestion.REFUSES,
        Answer.NO,
    ),
    (
        "an exclusive bound",
        obj(("a",), a={"type": "number", "minimum": 0, "exclusiveMinimum": True})
        | rules("self.a > 0.0"),
        RuleQuestion.REFUSES,
        Answer.NO,
    ),
    (
        "a multiple",
        obj(("a",), a=INTEGER | {"multipleOf": 2}) | rules("self.a % 2 == 0"),
        RuleQuestion.REFUSES,
        Answer.NO,
    ),
    (
        "a least number of items",
        obj(("a",), a=listed(TEXT, minItems=1)) | rules("self.a[0] == self.a[0]"),
        RuleQuestion.FAILS,
        Answer.BOUNDED,
    ),
    (
        "no least number",
        obj(("a",), a=listed(TEXT)) | rules("self.a[0] == ''"),
        RuleQuestion.FAILS,
        Answer.YES,
    ),
    (
        "as many as there can be",
        obj(("a",), a=listed(TEXT, maxItems=2)) | rules("size(self.a) < 3"),
        RuleQuestion.REFUSES,
        Answer.NO,
    ),
    (
        "keys that differ",
        obj(("a",), a=keyed(obj(("n",), n=TEXT), "n"))
        | rules("self.a.all(x, self.a.exists_one(y, x.n == y.n))"),
        RuleQuestion.REFUSES,
        Answer.BOUNDED,
    ),
    (
        "keys that may be the same",
        obj(("a",), a=listed(obj(("n",), n=TEXT)))
        | rules("self.a.all(x, self.a.exists_one(y, x.n == y.n))"),
        RuleQuestion.REFUSES,
        Answer.YES,
    ),
    (
        "anyOf",
        obj(a=TEXT, b=TEXT)
        | {"anyOf": [{"required": ["a"]}, {"required": ["b"]}]}
        | rules("has(self.a) || has(self.b)"),
        RuleQuestion.REFUSES,
        Answer.NO,
    ),
    (
        "oneOf",
        obj(a=TEXT, b=TEXT)
        | {"oneOf": [{"required": ["a"]}, {"required": ["b"]}]}
        | rules("has(self.a) != has(self.b)"),
        RuleQuestion.REFUSES,
        Answer.NO,
    ),
    (
        "not",
        obj(("a",), a=TEXT | {"not": {"enum": ["x"]}}) | rules("self.a != 'x'"),
        RuleQuestion.REFUSES,
        Answer.NO,
    ),
    (
        "allOf",
        obj(("a",), a=INTEGER | {"allOf": [{"minimum": 3}]}) | rules("self.a > 2"),
        RuleQuestion.REFUSES,
        Answer.NO,
    ),
    (
        "a least number of fields",
        obj(a=TEXT, b=TEXT) | {"minProperties": 1} | rules("has(self.a) || has(self.b)"),
        RuleQuestion.REFUSES,
        Answer.NO,
    ),
    (
        "a map",
        obj(("m",), m={"type": "object", "additionalProperties": INTEGER | {"minimum": 1}})
        | rules("self.m.all(k, self.m[k] > 0)"),
        RuleQuestion.REFUSES,
        Answer.NO,
    ),
    (
        "an integer or a text",
        obj(("a",), a={"x-kubernetes-int-or-string": True})
        | rules("type(self.a) == int || type(self.a) == string"),
        RuleQuestion.REFUSES,
        Answer.NO,
    ),
    (
        "a name that is no identifier",
        obj(("a-b",), **{"a-b": INTEGER | {"minimum": 1}}) | rules("self.a__dash__b > 0"),
        RuleQuestion.REFUSES,
        Answer.NO,
    ),
    (
        "a reserved name",
        obj(("namespace",), namespace=TEXT | {"minLength": 1}) | rules("self.__namespace__ != ''"),
        RuleQuestion.REFUSES,
        Answer.NO,
    ),
    (
        "a message that fails",
        SIZED | rules("self.size != 5", messageExpression="['a'][self.size]"),
        RuleQuestion.MESSAGE,
        Answer.YES,
    ),
    (
        "a message that is there",
        SIZED | rules("self.size != 5", messageExpression="'no ' + string(self.size)"),
        RuleQuestion.MESSAGE,
        Answer.NO,
    ),
    (
        "implied by its neighbour",
        SIZED | rules("self.size < 7", "self.size < 5"),
        RuleQuestion.ALONE,
        Answer.NO,
    ),
    (
        "a rule that compares",
        SIZED | rules("self.size >= oldSelf.size"),
        RuleQuestion.REFUSES,
        Answer.YES,
    ),
    (
        "whole objects",
        SIZED | rules("self != oldSelf || self.size == oldSelf.size"),
        RuleQuestion.REFUSES,
        Answer.NO,
    ),
]


@pytest.mark.parametrize(
    ("spec", "question", "answer"), [one[1:] for one in CASES], ids=[one[0] for one in CASES]
)
def test_answers(spec: dict[str, Any], question: RuleQuestion, answer: Answer) -> None:
    assert answers(spec)[question] is answer


def test_rules_that_no_object_fits() -> None:
    spec = SIZED | rules("self.size > 5", "self.size < 3")
    assert answers(spec, None) == {RuleQuestion.FITS: Answer.NO}
    assert answers(SIZED | rules("self.size > 3", "self.size < 5"), None) == {
        RuleQuestion.FITS: Answer.YES
    }


def test_rules_further_down_count_for_what_fits() -> None:
    inner = INTEGER | rules("self > 5")
    spec = obj(("size",), size=inner) | rules("self.size < 3", "true")
    assert answers(spec, None) == {RuleQuestion.FITS: Answer.NO}


def test_an_example_has_what_the_schema_requires() -> None:
    part = obj(("name", "kind"), name=TEXT | {"pattern": "^x+$"}, kind=TEXT | {"enum": ["A"]})
    spec = obj(("parts",), parts=listed(part | rules("self.kind != 'A'"), minItems=1), other=part)
    (found,) = (one for one in replies(spec) if one.question is RuleQuestion.REFUSES)
    assert found.example is not None
    assert found.example["spec"] == {"parts": [{"name": "x", "kind": "A"}]}


TEXTS = {
    "byte": "YQ==",
    "cidr": "10.0.0.0/8",
    "date": "2024-01-01",
    "date-time": "2024-01-01T00:00:00Z",
    "duration": "1h",
    "email": "a@example.com",
    "hostname": "example.com",
    "ipv4": "10.0.0.1",
    "ipv6": "2001:db8::1",
    "mac": "00:00:00:00:00:01",
    "uri": "https://example.com/",
    "uuid": "00000000-0000-4000-8000-000000000000",
}
"""A text of each format."""


def test_an_example_has_texts_of_their_formats() -> None:
    fields = {form: TEXT | {"format": form} for form in TEXTS}
    spec = obj(tuple(fields), **fields) | rules("false")
    (found,) = (one for one in replies(spec) if one.question is RuleQuestion.REFUSES)
    assert found.example is not None
    assert found.example["spec"] == TEXTS


def test_metadata_is_what_names_are() -> None:
    root = rules("self.metadata.name != ''", "self.metadata.name != 'a'")
    found = replies(obj(), **root)
    by_index = {(one.index, one.question): one for one in found}
    assert by_index[0, RuleQuestion.REFUSES].answer is Answer.NO
    refused = by_index[1, RuleQuestion.REFUSES].example
    assert refused is not None
    assert refused["metadata"]["name"] == "a"


def test_a_rule_that_may_look_before_there_was_anything() -> None:
    spec = SIZED | rules("oldSelf.hasValue() || self.size == 1", optionalOldSelf=True)
    found = {one.question: one for one in replies(spec)}
    assert found[RuleQuestion.FAILS].answer is Answer.NO
    assert found[RuleQuestion.ADMITS].answer is Answer.YES


@pytest.mark.parametrize("text", ["self.a ==", "self.a.startsWith('x')"])
def test_what_is_not_decided(text: str) -> None:
    spec = obj(("a",), a=TEXT | {"format": "date-time"}) | rules(text)
    (first, *_) = replies(spec)
    assert first.answer is Answer.UNKNOWN
    assert first.reason


# --- Proofs, tried on random objects -----------------------------------------


def test_an_object_whose_defaults_no_store_takes_is_no_example(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(structural_schemas, "_MOST_DEFAULTED", 100)
    kind = kind_of(obj(a=TEXT | {"default": "x" * 200}))
    meta = {"name": "a", "namespace": "default"}
    example = {"apiVersion": "example.com/v1", "kind": "Widget", "metadata": meta}
    assert engine_objects(kind, {**example, "spec": {"a": ""}}) is not None
    assert engine_objects(kind, {**example, "spec": {}}) is None


def a_value(schema: dict[str, Any], chance: random.Random) -> Any:
    """A value that often fits a schema."""
    if "enum" in schema:
        return chance.choice(schema["enum"])
    match schema.get("type"):
        case "integer":
            return chance.choice((*range(-1, 11), 1 << 62))
        case "number":
            return chance.choice((-1.5, 0.0, 0.5, 2.0))
        case "string":
            return "".join(chance.choice("abcdx") for _ in range(chance.randrange(4)))
        case "array":
            return [a_value(schema["items"], chance) for _ in range(chance.randrange(4))]
        case "object" if "additionalProperties" in schema:
            values = schema["additionalProperties"]
            return {key: a_value(values, chance) for key in "pqr" if chance.random() < 0.5}
        case "object":
            return {
                name: a_value(one, chance)
                for name, one in schema["properties"].items()
                if name in schema.get("required", ()) or chance.random() < 0.5
            }
    return chance.choice((1, "a"))


def objects(spec: dict[str, Any], kind: CustomKind) -> Iterator[dict[str, Any]]:
    """Those that the schema admits, as a server prepares them."""
    chance = random.Random(1)
    for _ in range(300):
        made = engine_objects(
            kind,
            {
                "apiVersion": "example.com/v1",
                "kind": "Widget",
                "metadata": {"name": "a", "namespace": "default"},
                "spec": a_value(spec, chance),
            },
        )
        if made is not None:
            yield made[0]


@pytest.mark.thorough
@pytest.mark.parametrize("spec", [one[1] for one in CASES], ids=[one[0] for one in CASES])
def test_proofs_hold_of_random_objects(spec: dict[str, Any]) -> None:
    prover = DefinitionProver(definition(spec), RELEASE)
    (kind,) = prover.kinds.values()
    found = list(prover.replies(kind))
    with answering_as(RELEASE):
        for one in objects(spec, kind):
            said = [asked for asked in kind.asked_rules(one) if is_at(asked, found[0].node)]
            for reply in found:
                if reply.index is None or reply.answer not in (Answer.NO, Answer.BOUNDED):
                    continue
                source = reply.node.rules[reply.index].source
                verdicts = [verdict(asked) for asked in said if asked.source == source]
                against = {
                    RuleQuestion.FAILS: None,
                    RuleQuestion.REFUSES: False,
                    RuleQuestion.ADMITS: True,
                }
                if reply.question in against:
                    assert against[reply.question] not in verdicts, (reply.question, one)
