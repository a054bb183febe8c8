"""What `celadon lint` says is always so, is so: for objects made at random by the schema.

Random policies compare, add, search and loop over fields of one kind or several. Where a rule
claims that a comparison has one outcome (CEL030, CEL031), that an expression fails for its types
(CEL011) or on null (CEL020, CEL021), the expression is evaluated on many objects of those kinds,
small ones with few different values, so that a counterexample is soon met.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from random import Random
from typing import Any, Final

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from celadon.admission.lint.findings import Finding
from celadon.admission.lint.linter import lint
from celadon.cel import EvaluationError, types
from celadon.kube import GroupVersionKind
from celadon.kube.library import environment
from celadon.kube.schemas import Schema, resolved, schema_for
from celadon.kube.schemas.schema_packs import INT_OR_STRING, MICRO_TIME, QUANTITY, TIME
from tests.admission.lint.linting import BY_CODE, SETTINGS, policy
from tests.examples import examples

WORKLOADS: Final = {
    "deployments": GroupVersionKind("apps", "v1", "Deployment"),
    "statefulsets": GroupVersionKind("apps", "v1", "StatefulSet"),
    "daemonsets": GroupVersionKind("apps", "v1", "DaemonSet"),
}
RULES: Final = [BY_CODE[code] for code in ("CEL011", "CEL020", "CEL021", "CEL030", "CEL031")]
BASES: Final = (
    (),
    ("metadata",),
    ("spec",),
    ("spec", "template", "spec"),
    ("spec", "selector"),
    ("spec", "template", "spec", "containers"),
    ("spec", "template", "spec", "volumes"),
    ("spec", "template", "spec", "tolerations"),
)
"""Objects, and lists of objects to loop over."""
LITERALS: Final = (
    "1",
    "0",
    "1.5",
    "'a'",
    "''",
    "true",
    "null",
    "[]",
    "['a']",
    "{}",
    "[1]",
    "{'a': 'b'}",
)
SHAPES: Final = (
    "{a} == {b}",
    "{a} != {b}",
    "{a} == {literal}",
    "{literal} != {a}",
    "{a} in [{literal}, {other}]",
    "{literal} in {a}",
    "{a} == {meant}",
    "{a} in [{meant}, 'b']",
    "{a} + {b} == {b}",
    "{a} < {literal}",
    "size({a}) > 0",
    "{a}.startsWith('a')",
    "{a}.typo == 1",
    "!{a}",
)
GUARDS: Final = (
    "{e}",
    "{e}",
    "{e}",
    "object != null && {e}",
    "object == null || {e}",
    "oldObject == null ? {e} : true",
    "request.operation == 'DELETE' ? true : {e}",
    "!(request.operation in ['CREATE', 'UPDATE']) && {e}",
)
SCALARS: Final = {
    QUANTITY: ("1", "100m"),
    INT_OR_STRING: (1, "a"),
    TIME: ("2024-01-01T00:00:00Z",),
    MICRO_TIME: ("2024-01-01T00:00:00.000000Z",),
    "string": ("", "a", "b"),
    "integer": (0, 1, 2),
    "number": (0, 1.5),
    "boolean": (True, False),
}
UNUSABLE: Final = re.compile(r"\W|^(in|as|namespace|continue|import|default)$")
DECLARED: Final = ("object", "oldObject", "request", "c")
ENVIRONMENT: Final = environment("1.36").extend(dict.fromkeys(DECLARED, types.DYN))


def made(schema: Schema, random: Random, wanted: list[tuple[str, ...]], depth: int = 5) -> Any:
    """A value by a schema, which has mostly what is wanted of it."""
    schema = resolved(schema)
    if schema.enum:
        return random.choice(schema.enum)
    for known in (schema.name, schema.ref, schema.type):
        if known in SCALARS:
            return random.choice(SCALARS[known])
    if schema.items is not None:
        return [made(schema.items, random, wanted, depth) for _ in range(random.choice((0, 1, 2)))]
    if schema.additional_properties is not None:
        return {
            k: made(schema.additional_properties, random, [], depth) for k in random.sample("ab", 1)
        }
    if schema.properties:
        return _struct(schema, random, wanted, depth)
    return random.choice(({}, {"a": "b"}))


def _struct(schema: Schema, random: Random, wanted: list[tuple[str, ...]], depth: int) -> Any:
    below: dict[str, list[tuple[str, ...]]] = {}
    for steps in wanted:
        if steps and random.random() < 0.9:
            below.setdefault(steps[0], []).append(steps[1:])
    if depth > 0 and random.random() < 0.5:
        below.setdefault(random.choice(sorted(schema.properties)), [])
    known = {name: schema.properties[name] for name in below if name in schema.properties}
    return {name: made(one, random, below[name], depth - 1) for name, one in known.items()}


def field_of(schema: Schema, steps: tuple[str, ...]) -> Schema | None:
    """The schema at a path, that of the items for lists on the way."""
    for step in steps:
        schema = resolved(schema)
        if step not in schema.properties:
            return None
        schema = resolved(schema.properties[step])
    return schema


@dataclass(frozen=True)
class Case:
    """An expression over `object`, or over the items `c` of a list in it."""

    kinds: tuple[GroupVersionKind, ...]
    base: tuple[str, ...]
    is_loop: bool
    operands: tuple[tuple[str, ...], ...]
    comparison: str
    guard: str

    @property
    def text(self) -> str:
        path = ".".join(("object", *self.base))
        return f"{path}.all(c, {self.comparison})" if self.is_loop else self.guarded

    @property
    def guarded(self) -> str:
        return self.guard.format(e=f"({self.comparison})")

    def findings(self) -> list[Finding]:
        plurals = [name for name, kind in WORKLOADS.items() if kind in self.kinds]
        rule = {"apiGroups": ["apps"], "apiVersions": ["v1"], "resources": plurals}
        rule["operations"] = ["CREATE", "UPDATE", "DELETE"]
        given = policy(
            matchConstraints={"resourceRules": [rule]}, validations=[{"expression": self.text}]
        )
        return lint([given], SETTINGS, RULES)

    def objects(self, random: Random, kind: GroupVersionKind, count: int) -> Iterator[Any]:
        wanted = [(*self.base, *operand) for operand in self.operands]
        schema = schema_for(kind)
        assert schema is not None
        for _ in range(count):
            yield made(schema, random, wanted)

    def subjects(self, obj: Any) -> list[dict[str, Any]]:
        """The variables for each evaluation of the inner expression on an object."""
        if not self.is_loop:
            return [{"object": obj}]
        for step in self.base:
            obj = obj.get(step, {})
        return [{"c": one} for one in obj]


@st.composite
def cases(draw: st.DrawFn) -> Case:
    random = draw(st.randoms(use_true_random=False))
    kinds = tuple(random.sample(sorted(WORKLOADS.values()), random.choice((1, 2, 2, 3))))
    base = random.choice(BASES)
    schema = schema_for(kinds[0])
    assert schema is not None
    place = field_of(schema, base)
    assert place is not None
    is_loop = place.items is not None
    if place.items is not None:
        place = resolved(place.items)
    operands = tuple(_operand(place, random) for _ in range(2))
    variable = "c" if is_loop else ".".join(("object", *base))
    a, b = (".".join((variable, *one)) for one in operands)
    if random.random() < 0.1:
        b = a
    found = field_of(place, operands[0])
    literal, other = random.sample(LITERALS, 2)
    meant = _meant(found, random)
    comparison = random.choice(SHAPES).format(a=a, b=b, literal=literal, other=other, meant=meant)
    return Case(kinds, base, is_loop, operands, comparison, random.choice(GUARDS))


def _operand(schema: Schema, random: Random) -> tuple[str, ...]:
    steps: tuple[str, ...] = ()
    while True:
        names = [name for name in sorted(schema.properties) if not UNUSABLE.search(name)]
        if not names:
            return steps
        steps = (*steps, random.choice(names))
        found = field_of(schema, steps[-1:])
        if found is None or random.random() < 0.6:
            return steps
        schema = found


def _meant(schema: Schema | None, random: Random) -> str:
    """A literal that the field may have, or nearly."""
    values = (
        SCALARS["string"] if schema is None else schema.enum or SCALARS.get(schema.type, ("x",))
    )
    value = random.choice(values)
    if isinstance(value, str):
        return repr(value if random.random() < 0.7 else value.lower())
    return str(value).lower()


def outcome(text: str, bound: dict[str, Any]) -> bool | None:
    """None for an error."""
    program = ENVIRONMENT.program(ENVIRONMENT.compile(text).checked())
    try:
        value = program.evaluate(dict.fromkeys(DECLARED) | bound)
    except EvaluationError:
        return None
    assert isinstance(value, bool)
    return value


def named_kinds(case: Case, message: str) -> list[GroupVersionKind]:
    """Those that a finding is about."""
    named = [kind for kind in case.kinds if re.search(rf"\b{kind.kind}\b", message)]
    return named or list(case.kinds)


def refute(case: Case, finding: Finding, random: Random) -> None:
    """Fails with an object for which a finding is not true."""
    verdict = re.search(r"this is always (true|false)", finding.message)
    if finding.code in ("CEL020", "CEL021"):
        operation = "DELETE" if finding.code == "CEL020" else "CREATE"
        old: Any = {} if operation == "DELETE" else None
        bound = {"oldObject": old, "request": {"operation": operation}}
        assert outcome(case.text, bound) is None, (case.text, finding)
        return
    for kind in named_kinds(case, finding.message):
        for obj in case.objects(random, kind, 40):
            for bound in case.subjects(obj):
                found = outcome(case.comparison, bound)
                wanted = None if verdict is None else verdict[1] == "true"
                assert found in (None, wanted), (case.text, finding, obj)


@given(cases(), st.randoms(use_true_random=False))
@pytest.mark.thorough
@settings(max_examples=examples(60), deadline=None)
def test_what_is_claimed_is_so(case: Case, random: Random) -> None:
    for finding in case.findings():
        refute(case, finding, random)


def test_probes_of_several_kinds() -> None:
    """They may be alike or not, whatever the kinds are called."""
    kinds = tuple(WORKLOADS.values())[:2]
    base = ("spec", "template", "spec", "containers")
    comparison = "c.livenessProbe != c.readinessProbe"
    case = Case(kinds, base, True, (("livenessProbe",), ("readinessProbe",)), comparison, "{e}")
    assert [one for one in case.findings() if one.code == "CEL030"] == []


@pytest.mark.parametrize(
    "shape", ["object.spec.replicas == 'x'", "object.spec.typo == 1", "!object.kind"]
)
def test_there_are_claims(shape: str) -> None:
    """The property would hold if nothing were ever claimed."""
    kinds = tuple(WORKLOADS.values())[:1]
    case = Case(kinds, (), False, (("spec", "replicas"),), shape, "{e}")
    (found,) = [one for one in case.findings() if one.code != "CEL020"]
    refute(case, found, Random(1))
