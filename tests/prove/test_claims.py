"""What is proved holds: for objects made at random by the schema, as an API server would take them.

Random policies ask for fields of one kind. Where the prover says that something never happens, the
engine decides many objects of the kind, small ones with few different values, and it never does.
"""

from __future__ import annotations

from collections.abc import Iterator
from random import Random
from typing import Final

import pytest

pytest.importorskip("z3")

from celadon.admission import (
    Action,
    Cause,
    Engine,
    ObjectWorld,
    Operation,
    Request,
    decode_binding,
    decode_policy,
    default_options,
)
from celadon.kube import GroupVersionKind, JsonObject, StatusError, User
from celadon.kube.registry import create
from celadon.kube.resources import known_resources
from celadon.kube.schemas import DecodeError, Schema, resolved, schema_for
from celadon.prove import Answer, Prover, Question
from celadon.prove.example_repair import mended
from tests.properties.test_lint_claims import LITERALS, _meant, _operand, field_of, made
from tests.prove.test_policy_questions import policy

KINDS: Final = (
    ("pods", GroupVersionKind("", "v1", "Pod")),
    ("deployments", GroupVersionKind("apps", "v1", "Deployment")),
    ("services", GroupVersionKind("", "v1", "Service")),
    ("configmaps", GroupVersionKind("", "v1", "ConfigMap")),
    ("jobs", GroupVersionKind("batch", "v1", "Job")),
    ("ingresses", GroupVersionKind("networking.k8s.io", "v1", "Ingress")),
)
BASES: Final = (
    *((), (), ("metadata",), ("spec",), ("spec", "ports"), ("spec", "containers")),
    *(("spec", "template", "spec"), ("spec", "template", "spec", "containers")),
    *(("spec", "securityContext"), ("data",), ("spec", "rules"), ("spec", "tolerations")),
)
COMPARISONS: Final = (
    *("{a} == {literal}", "{a} != {meant}", "has({a})", "!has({a})", "{a} in [{meant}, {literal}]"),
    *("size({a}) > 0", "size({a}) < 2", "{a}.all(k, k != {meant})", "{a}.exists(k, k == {meant})"),
    *("{a} == {b}", "has({a}) || has({b})", "has({a}) && {a} == {meant}", "{a}.startsWith('a')"),
    *("!has({a}) || {a} != {literal}", "{a} < 2", "type({a}) == string", "!({a} == {meant})"),
    *("(has({a}) ? {a} : {meant}) == {meant}", "{a}.filter(k, k == {meant}).size() < 2"),
)
LOOPS: Final = ("all", "exists", "exists_one")


def text(random: Random, kind: GroupVersionKind) -> tuple[str, list[tuple[str, ...]]]:
    """An expression, and the paths that it asks for."""
    schema = schema_for(kind)
    assert schema is not None
    base = random.choice(BASES)
    place = field_of(schema, base)
    while place is None:
        base = random.choice(BASES)
        place = field_of(schema, base)
    is_loop = place.items is not None
    inside: Schema = resolved(place.items) if place.items is not None else place
    variable = "c" if is_loop else ".".join(("object", *base))
    operands = [_operand(inside, random) for _ in range(2)]
    while not all(operands):
        return text(random, kind)
    a, b = (".".join((variable, *one)) for one in operands)
    found = field_of(inside, operands[0])
    parts = []
    for _ in range(random.choice([1, 1, 2])):
        parts.append(
            random.choice(COMPARISONS).format(
                a=a, b=b, literal=random.choice(LITERALS), meant=_meant(found, random)
            )
        )
    joined = random.choice([" && ", " || "]).join(f"({one})" for one in parts)
    path = ".".join(("object", *base))
    if is_loop:
        joined = f"{path}.{random.choice(LOOPS)}(c, {joined})"
        if random.random() < 0.5:
            joined = f"!has({path}) || {joined}"
    return joined, [(*base, *operand) for operand in operands]


def objects(
    random: Random, kind: GroupVersionKind, wanted: list[tuple[str, ...]], count: int
) -> Iterator[JsonObject]:
    """Objects that the validation takes, as the server completes them."""
    schema = schema_for(kind)
    assert schema is not None
    for _ in range(count):
        value = made(schema, random, wanted)
        value |= {"apiVersion": kind.api_version, "kind": kind.kind}
        metadata = value["metadata"] = dict(value.get("metadata", {}))
        metadata |= {"name": random.choice(["a", "b-1", "kube-system"]), "namespace": "n"}
        try:
            written = mended(kind, value, None, lambda new, old: True)
            if written.object is None or written.complaint:
                continue
            completed = create.admit_form(written.object, kind)
        except (DecodeError, StatusError):
            continue
        yield completed


def decided(
    engine: Engine, obj: JsonObject, kind: GroupVersionKind, world: ObjectWorld
) -> Question:
    """What the engine does with an object."""
    resource = known_resources().by_gvk(kind)
    assert resource is not None
    request = Request(
        Operation.CREATE,
        kind,
        resource.gvr,
        name=str(obj["metadata"]["name"]),
        object=obj,
        user=User("u"),
        options=default_options(Operation.CREATE),
    )
    request.namespace = "n"
    for found in engine.review(request, world).decisions:
        if found.action is Action.DENY:
            return Question.FAILS if found.cause is Cause.ERROR else Question.REFUSES
    return Question.ADMITS


def claims_hold(seed: int, count: int) -> int:
    """How many proofs about a random policy hold for so many objects."""
    random = Random(seed)
    resource, kind = random.choice(KINDS)
    expression, wanted = text(random, kind)
    document = policy(expression, resource, kind.group)
    decoded = decode_policy(document).value
    prover = Prover(decoded, seconds=5)
    (endpoint,) = prover.endpoints()
    replies = [prover.reply(endpoint, 0, question) for question in Question]
    never = {one.question for one in replies if one.answer in (Answer.NO, Answer.BOUNDED)}
    if not never or any(one.answer is Answer.UNKNOWN for one in replies):
        return 0
    binding: JsonObject = {
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": "ValidatingAdmissionPolicyBinding",
        "metadata": {"name": "b"},
        "spec": {"policyName": "p", "validationActions": ["Deny"]},
    }
    engine = Engine([decoded], [decode_binding(binding).value])
    namespace = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "n"}}
    world = ObjectWorld([namespace])
    for obj in objects(random, kind, wanted, count):
        found = decided(engine, obj, kind, world)
        assert found not in never, f"{seed}: {expression} {found.value}: {obj}"
    return len(never)


def test_a_sample_of_proofs_holds() -> None:
    assert sum(claims_hold(seed, 5) for seed in range(6)) > 0


@pytest.mark.thorough
@pytest.mark.parametrize("first", range(0, 400, 20))
def test_proofs_hold(first: int) -> None:
    for seed in range(first, first + 20):
        claims_hold(seed, 200)
