"""Policies with one thing changed: told apart, or the same for objects of all kinds."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from random import Random
from typing import Any, Final

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
from celadon.admission.policies.compiled_policy import CompiledPolicy
from celadon.admission.write_requests import errors_of
from celadon.cel import syntax
from celadon.cli.policytest.mutants.policy_mutants import alterations
from celadon.cli.policytest.referenced_fields import read_places
from celadon.cli.reading.documents import Document, DocumentReader, Text, read_text
from celadon.kube import (
    ErrorType,
    GroupVersionKind,
    Json,
    JsonObject,
    StatusError,
    User,
    parse_api_version,
)
from celadon.kube.registry import Surroundings, Target
from celadon.kube.resources import known_resources
from celadon.kube.schemas import DecodeError, Schema, resolved, schema_for
from celadon.prove import BoundPolicy, Endpoint, Finding, Mutant, Prover, TellingRequests
from celadon.prove.policy_questions import everywhere
from celadon.prove.symbolic_objects import DEMANDED
from celadon.prove.symbolic_requests import BUILT_IN, PARAM, KnownKinds
from tests.properties.test_lint_claims import made
from tests.prove.test_policy_differences import SECONDS, changed
from tests.prove.test_policy_questions import LIMIT_KIND, LIMITS, policy

LIBRARY = Path(__file__).parents[2] / "src" / "celadon" / "cli" / "library" / "policies"
OPERATIONS = ("CREATE", "UPDATE")
WORLDS = 4
"""With other params each."""
HOST = "!object.spec.?hostPID.orValue(false)"
NAMED = "object.spec.containers.all(c, c.name != 'x')"
HAS = "!has(object.spec.hostname) || object.spec.hostname != 'x'"


LIMITED = "!quantity(object.spec.nodeName).isGreaterThan(quantity('1Ti'))"
RELEASED = "!semver(object.spec.nodeName).isLessThan(semver('2.7.0'))"


def bound(document: JsonObject, kinds: KnownKinds = BUILT_IN) -> BoundPolicy:
    """The policy, in force everywhere."""
    return BoundPolicy(document, [everywhere(decode_policy(document).value, kinds.catalog)])


def finding(old: JsonObject, new: JsonObject, *definitions: JsonObject) -> Finding:
    return (
        Mutant(bound(old), bound(new), "1.36", seconds=SECONDS, definitions=definitions)
        .answer()
        .finding
    )


def validations(*expressions: str) -> JsonObject:
    return changed(policy("true"), validations=[{"expression": one} for one in expressions])


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        (policy(HOST), policy("object.spec.?hostPID.orValue(false) == false"), Finding.SAME),
        (policy(HOST), policy("object.spec.?hostPID.orValue(false)"), Finding.DIFFERS),
        (policy(NAMED), policy("!object.spec.containers.exists(c, c.name == 'x')"), Finding.SAME),
        (policy(NAMED), policy(NAMED.replace("'x'", "'xx'")), Finding.DIFFERS),
        # Between both bounds no sample lies.
        (policy(LIMITED), policy(LIMITED.replace("1Ti", "1T")), Finding.DIFFERS),
        (policy(RELEASED), policy(RELEASED.replace("2.7.0", "2.8.0")), Finding.DIFFERS),
        # An error is something else than a refusal, although both refuse the request.
        (policy(HAS), policy("object.spec.hostname != 'x'"), Finding.DIFFERS),
        (policy("has(object.spec.hostname) && object.spec.hostname == 'x'"),
         policy("object.spec.?hostname.orValue('') == 'x'"), Finding.SAME),
        # One that is left out changes nothing if it refuses nothing; others do not hide it.
        (validations(HOST, HAS), validations(HOST), Finding.DIFFERS),
        (validations(HOST, "has(object.spec)"), validations(HOST), Finding.SAME),
        (validations(HOST, HOST), validations(HOST), Finding.DIFFERS),
        # ... wherever it stood, and one that is added likewise.
        (validations("has(object.spec)", HOST), validations(HOST), Finding.SAME),
        (validations(HOST, "has(object.spec)", HAS), validations(HOST, HAS), Finding.SAME),
        (validations(HOST), validations("has(object.spec)", HOST), Finding.SAME),
        (validations(HOST), validations(HOST, HAS), Finding.DIFFERS),
        (policy(HOST), changed(policy(HOST), failurePolicy="Ignore"), Finding.SAME),
        (policy("object.spec.hostname != ''"),
         changed(policy("object.spec.hostname != ''"), failurePolicy="Ignore"), Finding.DIFFERS),
        (policy(HOST, conditions=("request.name != 'x'",)), policy(HOST), Finding.DIFFERS),
        (policy(HOST, conditions=("object.kind == 'Pod'",)), policy(HOST), Finding.SAME),
        (policy("object.size() > 0"), policy("object.size() > 1"), Finding.UNDECIDED),
    ],
)  # fmt: skip
def test_mutants(old: JsonObject, new: JsonObject, expected: Finding) -> None:
    assert finding(old, new) is expected


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("object.spec.replicas <= params.most", "params.most >= object.spec.replicas", "the same"),
        ("object.spec.replicas <= params.most", "object.spec.replicas < params.most", "differs"),
        ("object.spec.replicas <= params.most", "!has(params.most) || "
         "object.spec.replicas <= params.most", "the same"),
        # A number is an integer if it is written like one.
        ("!has(params.share) || type(params.share) == double", "true", "differs"),
        ("!has(params.share) || type(params.share) == int || type(params.share) == double", "true",
         "the same"),
        ("!has(params.text) || params.text != null", "true", "differs"),
        ("!has(params.metadata.labels)", "true", "differs"),
    ],
)  # fmt: skip
def test_params_of_a_custom_kind(old: str, new: str, expected: str) -> None:
    sides = [policy(one, "deployments", "apps", params=LIMIT_KIND) for one in (old, new)]
    assert finding(*sides, LIMITS).value == expected


def test_params_that_nobody_defines_prove_nothing() -> None:
    sides = [policy(one, params=LIMIT_KIND) for one in ("params.most > 1", "1 < params.most")]
    old, new = map(bound, sides)
    answer = Mutant(old, new, "1.36", seconds=SECONDS).answer()
    assert answer.finding is Finding.UNDECIDED
    assert answer.reasons == ("params of kind Limit, which is not defined",)


def test_subresources_with_the_whole_object_are_compared() -> None:
    rules = {"apiGroups": [""], "apiVersions": ["v1"], "operations": ["UPDATE"]}
    with_both, with_one = (
        changed(policy(HOST), matchConstraints={"resourceRules": [{**rules, "resources": some}]})
        for some in (["pods", "pods/ephemeralcontainers"], ["pods"])
    )
    answer = Mutant(bound(with_both), bound(with_one), "1.36", seconds=SECONDS).answer()
    assert answer.telling is not None
    assert answer.telling.endpoint.subresource == "ephemeralcontainers"
    assert finding(with_both, with_both) is Finding.SAME


def test_requests_that_tell_what_a_policy_does() -> None:
    document = validations(HOST, NAMED)
    found = {one.index: one.example for one in TellingRequests(bound(document), "1.36").found()}
    assert set(found) == {0, 1, None}
    for index, example in found.items():
        judged = example.old if index is not None else example.new
        assert [one.index for one in judged.decisions] == ([] if index is None else [index])


# --- Claims --------------------------------------------------------------------------------------


def said(engine: Engine, request: Request, world: ObjectWorld) -> list[tuple[Any, ...]]:
    """What validations say of a request, texts left aside."""
    verdict = engine.review(request, world)
    # That nothing is said against a request is kept for some policies, and not for others.
    return [
        (one.index, one.cause, one.action)
        for one in verdict.decisions
        if one.action is Action.DENY or one.cause is Cause.ERROR
    ]


def engine_of(given: BoundPolicy) -> Engine:
    bindings = [decode_binding(one).value for one in given.bindings]
    return Engine([decode_policy(given.policy).value], bindings)


def requests(
    endpoint: Endpoint,
    wanted: list[tuple[str, ...]],
    random: Random,
    count: int,
    boundaries: Boundaries | None = None,
    kinds: KnownKinds = BUILT_IN,
) -> Iterator[Request]:
    """Random objects of a kind that have mostly what is wanted of them, as a server completes
    them; small values, those of policies, and those beside them."""
    kind = endpoint.kind
    values = list(_values(kind, wanted, random, count, boundaries or Boundaries(), kinds))
    for number, value in enumerate(values):
        other = values[(number * 7 + 1) % len(values)]
        if kind in kinds.custom:
            value = _as_written(value, kinds.custom[kind].schema, random)
        is_update = endpoint.operation is Operation.UPDATE
        yield Request(
            endpoint.operation,
            kind,
            endpoint.resource.gvr,
            endpoint.subresource,
            name="a",
            namespace="n" if endpoint.resource.namespaced else "",
            object=None if endpoint.operation is Operation.DELETE else value,
            old_object=other
            if is_update
            else None
            if endpoint.operation.value == "CREATE"
            else value,
            user=User(random.choice(["u", "system:admin"]), random.choice(_GROUPS)),
            dry_run=random.random() < 0.2,
            options=default_options(endpoint.operation),
        )


_GROUPS: Final = ((), ("system:authenticated",), ("a", "b"))


def _values(
    kind: GroupVersionKind,
    wanted: list[tuple[str, ...]],
    random: Random,
    count: int,
    boundaries: Boundaries,
    kinds: KnownKinds,
) -> Iterator[JsonObject]:
    custom = kinds.custom.get(kind)
    schema = schema_for(kind) if custom is None else custom.schema
    assert schema is not None
    for _ in range(count * 2):
        value = boundaries.put_in(made(schema, random, wanted, 6), schema, random)
        value = _with_what_is_demanded(value, schema, random)
        value |= {"apiVersion": kind.api_version, "kind": kind.kind}
        value["metadata"] = {**value.get("metadata", {}), "name": "a", "namespace": "n"}
        try:
            form = kinds.completed(value, kind)
        except (DecodeError, StatusError):
            continue
        if _is_ruled_out(form, kind):
            continue
        yield form
        count -= 1
        if not count:
            return


def _with_what_is_demanded(value: Any, schema: Schema, random: Random) -> Any:
    """The same value, mostly with the fields that validation demands, and the labels that a
    selector asks for: otherwise few objects of some kinds would be tried."""
    schema = resolved(schema)
    if isinstance(value, list):
        return [_with_what_is_demanded(one, schema.items or Schema(), random) for one in value]
    if not isinstance(value, dict):
        return value
    name = schema.name.rpartition(".")[2]
    value = dict(value)
    # Of built-in kinds Go fills in most of what the schema requires.
    every = DEMANDED.get(name, ()) if name else schema.required
    demanded = sorted(every) if random.random() < 0.9 else ()
    for one in demanded:
        below = schema.properties[one]
        for _ in range(_TRIES):
            if not value.get(one):
                value[one] = made(below, random, [], 6)
    if "selector" in demanded:
        labels = {"a": "b"}
        template = value.get("template") or {}
        about = {**template.get("metadata", {}), "labels": labels}
        value["selector"] = {"matchLabels": labels}
        value["template"] = {"spec": {}, **template, "metadata": about}
    return {
        name: _with_what_is_demanded(
            one, schema.properties.get(name) or schema.additional_properties or Schema(), random
        )
        for name, one in value.items()
    }


_TRIES: Final = 4
"""Random values, until one is not empty."""


def _as_written(value: Any, schema: Schema, random: Random) -> Any:
    """An object of a custom kind, its integers as doubles now and then: JSON has 2.0, too."""
    schema = resolved(schema)
    if isinstance(value, dict):
        return {
            name: _as_written(one, schema.properties.get(name) or Schema(), random)
            for name, one in value.items()
        }
    may_be_written = schema.type == "integer" or schema.int_or_string
    if type(value) is int and may_be_written and random.random() < 0.2:
        return float(value)
    return value


def _is_ruled_out(form: JsonObject, kind: GroupVersionKind) -> bool:
    """Return whether an object is invalid for a reason that proofs know of: a field is empty that
    validation demands (`DEMANDED`), or that is to be one of several texts; or something is there
    twice (`UNIQUE`)."""
    resource = known_resources().by_gvk(kind)
    if resource is None:
        return False
    schema = schema_for(kind)
    empty = {} if schema is None else dict(_empty_places(form, schema, ()))
    if not empty and not _may_repeat(form):
        return False
    missed = {_MISSED.get(place, place) for place in empty}
    errors = errors_of(Target(resource, "n"), form, None, Surroundings())
    # What is worse elsewhere may be all that validation says.
    return any(
        any(empty.values()) or error.type is ErrorType.DUPLICATE or error.path.steps in missed
        for error in errors
    )


def _may_repeat(value: Json) -> bool:
    """Return whether there is a list of more than one item."""
    if isinstance(value, list):
        return len(value) > 1 or any(map(_may_repeat, value))
    return isinstance(value, Mapping) and any(map(_may_repeat, value.values()))


_MISSED: Final[Mapping[tuple[object, ...], tuple[object, ...]]] = {
    ("spec", "selector"): ("spec", "template", "metadata", "labels")
}
"""Where else a field that is missing may be missed."""


def _empty_places(
    value: Json, schema: Schema, steps: tuple[str | int, ...], *, is_demanded: bool = False
) -> Iterator[tuple[tuple[str | int, ...], bool]]:
    """Where something is empty, and whether it is demanded."""
    schema = resolved(schema)
    if value is None or value == [] or (value == "" and schema.enum):
        yield steps, is_demanded
    elif isinstance(value, Mapping):
        demanded = DEMANDED.get(schema.name.rpartition(".")[2], ())
        for name, one in value.items():
            below = schema.properties.get(name) or schema.additional_properties or Schema()
            yield from _empty_places(one, below, (*steps, name), is_demanded=name in demanded)
    elif isinstance(value, list):
        for number, one in enumerate(value):
            yield from _empty_places(one, schema.items or Schema(), (*steps, number))


def places(engine: Engine, *of: str) -> list[tuple[str, ...]]:
    """Where expressions of a policy look in objects, or in these variables."""
    (compiled,) = engine.policies
    roots = _roots(compiled)
    variables: Mapping[str, Any] = {
        name: one.program.checked.root
        for name, one in compiled.variables.items()
        if one.program is not None
    }
    found = read_places(roots, variables).places
    return [
        tuple(step for step in place[1:] if isinstance(step, str))
        for place in found
        if place[0] in (of or ("object", "oldObject"))
    ]


def _roots(compiled: CompiledPolicy) -> list[syntax.Expr]:
    return [one.program.checked.root for one in compiled.expressions if one.program is not None]


class Boundaries:
    """Values that a policy names, and those beside them."""

    def __init__(self, *engines: Engine) -> None:
        self.texts: list[str] = []
        self.numbers: list[int] = []
        literals = {
            node.value
            for engine in engines
            for root in _roots(engine.policies[0])
            for node in syntax.walk(root)
            if isinstance(node, syntax.Literal) and isinstance(node.value, str | int)
        }
        for one in sorted(literals, key=repr):
            if isinstance(one, str):
                self.texts += (one, one[:-1], f"{one}x", f"x{one}", f"{one}/x:1", one.upper())
            else:
                self.numbers += (one - 1, one, one + 1)

    def put_in(self, value: Any, schema: Schema, random: Random) -> Any:
        """The same value with some of them in it, where its schema lets them be."""
        schema = resolved(schema)
        if isinstance(value, dict):
            inside = schema.additional_properties
            if inside is not None and self.texts and random.random() < 0.5:
                value = {random.choice(self.texts): one for one in value.values()}
            return {
                name: self.put_in(one, schema.properties.get(name) or inside or Schema(), random)
                for name, one in value.items()
            }
        if isinstance(value, list):
            return [self.put_in(one, schema.items or Schema(), random) for one in value]
        if schema.enum or random.random() < 0.5:
            return value
        if schema.type == "string" and not schema.format and self.texts:
            return random.choice(self.texts)
        if schema.type == "integer" and self.numbers:
            return random.choice(self.numbers)
        return value


def claims_hold(document: Document, random: Random, mutants: int, objects: int) -> int:
    """How many of these mutants are proved to be the same; each is tried on so many objects."""
    given = document.value
    every = [one for one in alterations([document]) if one.altered is not None]
    original = bound(given)
    claims = 0
    for one in random.sample(every, min(mutants, len(every))):
        altered = BoundPolicy(one.altered, original.bindings)  # type: ignore[arg-type]
        answer = Mutant(original, altered, "1.36", seconds=SECONDS).answer()
        if answer.finding not in (Finding.SAME, Finding.BOUNDED):
            continue
        claims += 1
        told = told_apart(original, altered, random, objects)
        assert told is None, f"{one.field} {one.text}: {told}"
    return claims


def told_apart(
    old: BoundPolicy,
    new: BoundPolicy,
    random: Random,
    objects: int,
    kinds: KnownKinds = BUILT_IN,
) -> Request | None:
    """Which of so many random requests two policies say different things of, if any."""
    sides = engine_of(old), engine_of(new)
    policy = decode_policy(old.policy).value
    wanted, boundaries = places(sides[0]), Boundaries(*sides)
    endpoints = list(Prover(policy, kinds=kinds).endpoints())
    for endpoint in endpoints:
        each = -(-objects // len(endpoints) // WORLDS)
        for _ in range(WORLDS):
            around = random_objects(sides[0], random, boundaries, kinds)
            world = ObjectWorld(around, catalog=kinds.catalog)
            for request in requests(endpoint, wanted, random, each, boundaries):
                before, after = (said(side, request, world) for side in sides)
                if before != after:
                    return request
    return None


def random_objects(
    engine: Engine, random: Random, boundaries: Boundaries, kinds: KnownKinds
) -> list[JsonObject]:
    """A namespace with random labels, and random params of a custom kind."""
    metadata = {"name": "n", **_labels(random, boundaries)}
    found: list[JsonObject] = [{"apiVersion": "v1", "kind": "Namespace", "metadata": metadata}]
    (compiled,) = engine.policies
    named = compiled.param_kind
    kind = (
        None
        if named is None
        else GroupVersionKind(*parse_api_version(named.api_version), named.kind)
    )
    custom = None if kind is None else kinds.custom.get(kind)
    if kind is not None and custom is not None:
        wanted = places(engine, "params")
        value = boundaries.put_in(made(custom.schema, random, wanted), custom.schema, random)
        about = {"apiVersion": kind.api_version, "kind": kind.kind, "metadata": {"name": PARAM}}
        found.append({**value, **about})
    return found


def _labels(random: Random, boundaries: Boundaries) -> JsonObject:
    """Random labels and annotations, or none."""
    texts = ["", "a", "b", *boundaries.texts]
    return {
        name: {random.choice("ab"): random.choice(texts)}
        for name in ("labels", "annotations")
        if random.random() < 0.7
    }


def policies(folder: Path) -> Iterator[Document]:
    """Validating policies in a folder that are about built-in kinds."""
    for file in sorted(folder.glob("*/*.yaml")):
        text = read_text(str(file))
        assert isinstance(text, Text)
        for one in DocumentReader().read(text):
            if isinstance(one, Document) and one.value["kind"] == "ValidatingAdmissionPolicy":
                yield one


@pytest.mark.thorough
def test_a_sample_of_claims_holds() -> None:
    (one,) = (
        one
        for one in policies(LIBRARY)
        if one.value["metadata"]["name"] == "disruption-budget-allows-drains"
    )
    assert claims_hold(one, Random(1), 12, 60) > 0


@pytest.mark.thorough
@pytest.mark.parametrize("part", range(17))
def test_claims_hold(part: int) -> None:
    every = list(policies(LIBRARY))
    for one in every[part::17]:
        claims_hold(one, Random(part), 6, 10_000)
