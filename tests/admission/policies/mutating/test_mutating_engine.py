"""Mutating policies on requests: who is asked, with what, how often, and what is refused."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from celadon.admission import ObjectWorld, Operation, Outcome
from celadon.admission.policies import patchers
from celadon.kube import StatusError
from celadon.kube.fieldmanager import MutatedKinds
from tests.admission.building import WORLD, config_map, request
from tests.admission.policies.mutating.altering import (
    apply,
    binding,
    engine,
    label,
    mutated,
    patch,
    policy,
    rounds,
)

COUNT = patch(
    "[JSONPatch{op: 'add', path: '/data', "
    "value: {'n': string(int(object.?data.n.orValue('0')) + 1)}}]"
)
SELECTED = {"selector": {}, "parameterNotFoundAction": "Deny"}
PARAM_KIND = {"apiVersion": "v1", "kind": "ConfigMap"}


def refused(*registered: Any, **attributes: Any) -> StatusError:
    with pytest.raises(StatusError) as caught:
        mutated(request(**attributes), *registered)
    return caught.value


TEXT = {"a": "x" * 1000}
DOUBLED = "[object.data]" + ".map(x, [x, x])" * 40


@pytest.mark.parametrize(
    "mutation",
    [
        patch(
            "lists.range(200).map(i, "
            "JSONPatch{op: 'add', path: '/data/' + string(i), value: object.data.a})"
        ),
        patch(f"[JSONPatch{{op: 'add', path: '/spec', value: {DOUBLED}}}]"),
        patch(f"[JSONPatch{{op: 'test', path: '/spec', value: {{'a': {DOUBLED}}}}}]"),
        apply(
            "Object{data: lists.range(200).transformMap(i, j, object.data.a)"
            ".transformMapEntry(k, v, {string(k): v})}"
        ),
    ],
)
def test_no_more_is_written_than_a_store_takes(
    mutation: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is shared is small, and endless when it is written."""
    monkeypatch.setattr(patchers, "MOST_WRITTEN", 100_000)
    error = refused(policy("p", mutation), obj=config_map(data=TEXT))
    assert "more than 100000 characters would be written" in str(error)


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        ("'a.b/c,d.e/f'.split(',')", "[a.b/c d.e/f]"),
        ("'a1'.findAll('[0-9]')", "[1]"),
        ("'a'.findAll('[0-9]')", "[]"),
        ("has(object.kind) ? 'a'.split(',') : 'b'.split(',')", "[a]"),
        ("variables.again", "[x y]"),
    ],
)
def test_texts_that_are_split_are_no_list(value: str, shown: str) -> None:
    """Upstream makes lists of all others that an expression may have made."""
    variables = [
        {"name": "parts", "expression": "'x y'.split(' ')"},
        {"name": "again", "expression": "variables.parts"},
    ]
    texts = apply(f"Object{{metadata: Object.metadata{{finalizers: {value}}}}}")
    error = refused(policy("p", texts, variables=variables), obj=config_map())
    assert f".metadata.finalizers: expected list, got &{{{shown}}}" in str(error)


def test_lists_made_of_texts_that_are_split_are_lists() -> None:
    texts = apply("Object{metadata: Object.metadata{finalizers: 'a.b/c,d.e/f'.split(',').sort()}}")
    made = mutated(request(obj=config_map()), policy("p", texts))
    assert made["metadata"]["finalizers"] == ["a.b/c", "d.e/f"]


def test_unknown_fields_of_a_value_are_named_in_order() -> None:
    add = patch("[JSONPatch{op: 'add', path: '/zz', value: {'b': 1, 'a': 2}}]")
    unordered = patch("[JSONPatch{op: 'add', path: '/metadata', value: object.data}]")
    assert 'unknown field "zz"' in str(refused(policy("p", add)))
    error = refused(policy("p", unordered), obj=config_map(data={"y": "", "x": ""}))
    assert str(error).index("metadata.x") < str(error).index("metadata.y")


def test_unknown_fields_come_in_the_order_of_members_that_a_patch_has_opened() -> None:
    added = ("/zz", "/metadata/b", "/metadata/a", "/aa")
    operations = [f"JSONPatch{{op: 'add', path: '{path}', value: 1}}" for path in added]
    error = str(refused(policy("p", patch(f"[{', '.join(operations)}]"))))
    places = [error.index(f'"{name}"') for name in ("aa", "metadata.a", "metadata.b", "zz")]
    assert places == sorted(places)


def labels(made: dict[str, Any]) -> dict[str, str]:
    return dict(made["metadata"].get("labels") or {})


def test_policies_see_what_those_before_have_made() -> None:
    second = label("b", "object.metadata.labels.a + '!'")
    made = mutated(request(), policy("z", second), policy("a", label("a")))
    assert labels(made) == {"a": "set", "b": "set!"}


def test_conditions_see_it_too_and_selectors_do_not() -> None:
    condition = {"name": "c", "expression": "'a' in object.metadata.labels"}
    selector = {"objectSelector": {"matchLabels": {"a": "set"}}}
    made = mutated(
        request(),
        policy("a", label("a")),
        policy("b", label("b"), matchConditions=[condition]),
        policy("c", label("c")),
        binding("a", "a"),
        binding("b", "b"),
        binding("c", "c", matchResources=selector),
    )
    assert labels(made) == {"a": "set", "b": "set"}


def test_an_error_stops_neither_its_policy_nor_others() -> None:
    failing = policy(
        "p", label("a"), label("x", "object.no.way"), label("b"), failurePolicy="Ignore"
    )
    notes = rounds(failing)
    made = notes.run(request(), 0)
    assert made is not None
    assert labels(dict(made)) == {"a": "set", "b": "set"}
    assert [(one.index, one.ignored) for one in notes.notes.failures] == [(1, True)]
    assert [one.index for one in notes.notes.changes] == [0, 2]


def test_a_refusal_has_a_cause_for_every_failure() -> None:
    error = refused(policy("p", label("x", "object.one"), label("y", "object.two")))
    assert (error.code, error.status.reason) == (403, "Invalid")
    details = error.status.details
    assert details is not None
    assert [cause.message.rpartition(": ")[2] for cause in details.causes] == ["one", "two"]
    assert (details.name, details.kind) == ("c", "configmaps")
    assert error.status.message == details.causes[0].message
    assert str(error).startswith("policy 'p' with binding 'p-b' denied request: expression '")


def test_configuration_errors_come_first_and_keep_nobody_from_running() -> None:
    broken = policy("z", label("z"), paramKind={"apiVersion": "no.example/v1", "kind": "No"})
    error = refused(policy("a", label("x", "object.no")), broken)
    assert error.status.reason == "Forbidden"
    assert str(error) == (
        'policy "z" denied request: failed to configure policy: failed to find resource referenced '
        "by paramKind: 'no.example/v1, Kind=No'"
    )
    assert error.status.details is not None
    assert len(error.status.details.causes) == 2


def test_each_binding_and_each_param_is_an_invocation() -> None:
    params = [config_map(name) for name in ("one", "two")]
    world = ObjectWorld(params, implicit_namespaces=True)
    named = policy(
        "p",
        apply("Object{metadata: Object.metadata{labels: {params.metadata.name: 'yes'}}}"),
        COUNT,
        paramKind=PARAM_KIND,
    )
    bindings = [binding("a", paramRef=SELECTED), binding("b", paramRef=SELECTED)]
    made = mutated(request(), named, *bindings, world=world)
    assert labels(made) == {"one": "yes", "two": "yes"}
    assert made["data"] == {"n": "4"}


def test_a_built_in_param_does_not_say_what_it_is() -> None:
    world = ObjectWorld([config_map("one")], implicit_namespaces=True)
    kinds = policy("p", label("k", "params.?kind.orValue('none')"), paramKind=PARAM_KIND)
    made = mutated(request(), kinds, binding("b", paramRef=SELECTED), world=world)
    assert labels(made) == {"k": "none"}


def test_variables_are_computed_anew_for_every_mutation() -> None:
    size = {"name": "n", "expression": "string(size(object.?metadata.labels.orValue({})))"}
    counting = policy("p", label("a", "variables.n"), label("b", "variables.n"), variables=[size])
    assert labels(mutated(request(), counting)) == {"a": "0", "b": "1"}


def test_a_mutation_that_does_not_compile_fails() -> None:
    error = refused(policy("p", apply("Object{a: nobody}")))
    assert "denied request: compilation failed: ERROR" in str(error)


ROUNDS = [
    ("never", [policy("p", COUNT)], "1"),
    ("alone", [policy("p", COUNT, reinvokes=True)], "2"),
    ("unchanged", [policy("p", patch("object == null ? [JSONPatch{}] : []"), reinvokes=True)], ""),
    ("others change it", [policy("p", COUNT, reinvokes=True), policy("z", label("a"))], "2"),
]


@pytest.mark.parametrize(
    ("registered", "count"), [row[1:] for row in ROUNDS], ids=[r[0] for r in ROUNDS]
)
def test_rounds(registered: list[Any], count: str) -> None:
    policies = rounds(*registered)
    made = policies.run(request(), 0)
    assert policies.wants_another
    again = policies.run(replace(request(), object=made), 1)
    assert again is not None
    assert again.get("data", {}).get("n", "") == count


def test_a_second_round_asks_again_when_others_have_changed_the_object() -> None:
    """The condition of `late` was false in the first round, so that it is not asked at all."""
    condition = {"name": "c", "expression": "has(object.data)"}
    late = policy("late", label("late"), reinvokes=True, matchConditions=[condition])
    policies = rounds(policy("p", COUNT, reinvokes=True), late)
    first = policies.run(request(config_map()), 0)
    assert first is not None
    changed = {**first, "data": {"n": "7"}}
    second = policies.run(request(changed), 1)
    assert second is not None
    assert second["data"] == {"n": "8"}
    assert labels(dict(second)) == {}


def test_deletions_are_nobodys_business() -> None:
    some = engine(policy("p", label("a")))
    assert some.concerns(request(), ObjectWorld())
    assert not some.concerns(request(operation=Operation.DELETE), ObjectWorld())


def test_what_has_no_say_is_said() -> None:
    condition = {"name": "never", "expression": "false"}
    policies = rounds(
        policy("p", label("a"), matchConditions=[condition]),
        policy("q", label("a"), matchConstraints={"resourceRules": [], "matchPolicy": "Exact"}),
        binding("b"),
        binding("orphan", "nobody"),
    )
    policies.run(request(), 0)
    assert [(n.outcome, n.detail) for n in policies.notes.notes] == [
        (Outcome.CONDITION_FALSE, "never")
    ]


def test_unchanged_policies_are_not_compiled_again() -> None:
    kept, gone = policy("a", label("a")), policy("b", label("b"))
    before = engine(kept, gone).prepare()
    after = before.replaced([kept, policy("b", label("c"))], [])
    assert after.policies[0] is before.policies[0]
    assert after.policies[1] is not before.policies[1]


def test_files_that_are_read_again_are_compiled_only_where_they_say_something_else() -> None:
    before = engine().with_static([policy("a", label("a")), policy("b", label("b"))], []).prepare()
    after = before.with_static([policy("a", label("a")), policy("b", label("c"))], [])
    assert after.policies[0] is before.policies[0]
    assert after.policies[1] is not before.policies[1]


def test_static_policies_come_first() -> None:
    static = policy("z", label("b", "has(object.metadata.labels) ? 'late' : 'first'"))
    both = engine(policy("a", label("a"))).with_static([static], [binding("z", "z")])
    made = both.rounds(WORLD, MutatedKinds()).run(request(), 0)
    assert labels(dict(made or {})) == {"a": "set", "b": "first"}
    assert [one.name for one in both.replaced([], []).policies] == ["z"]
    assert [one.name for one in both.with_static([], []).policies] == ["a"]


SAME = "[JSONPatch{op: 'test', path: '/kind', value: 'ConfigMap'}]"


class Observed:
    """Keeps what it is told."""

    def __init__(self) -> None:
        self.told: list[tuple[str, ...]] = []

    def begin(self) -> None:
        self.told.append(("begin",))

    def mutated(self, policy: str, binding: str, failure: str) -> None:
        self.told.append((policy, binding, failure))


def test_an_observer_is_told_of_each_mutation() -> None:
    broken = label("a", "object.nope")
    some = engine(policy("p", label("a"), broken, failurePolicy="Ignore"), policy("q", patch(SAME)))
    seen = Observed()
    some.rounds(WORLD, MutatedKinds(), seen).run(request(), 0)
    begun, first, failed, *rest = seen.told
    assert (begun, first) == (("begin",), ("p", "p-b", ""))
    assert failed[:2] == ("p", "p-b")
    assert failed[2].endswith("no such key: nope")
    assert rest == [("begin",), ("q", "q-b", "")]


@pytest.mark.parametrize(
    ("mutations", "another"),
    [
        ([label("a")], True),
        ([label("a"), patch("[JSONPatch{op: 'remove', path: '/metadata/labels'}]")], True),
        ([label("a", "object.nope")], False),
        ([], False),
    ],
)
def test_any_mutation_that_was_applied_asks_for_another_round(
    mutations: list[Any], another: bool
) -> None:
    policies = rounds(policy("p", *mutations, failurePolicy="Ignore"))
    policies.run(request(), 0)
    assert policies.wants_another is another


@pytest.mark.parametrize("size", [10, 400_000])
def test_large_objects_are_counted(size: int) -> None:
    """What a loop over the data costs depends on the object, and the limit is that of one call."""
    data = {f"k{i}": "v" for i in range(size // 100)}
    loop = "object.data.all(k, object.data.all(l, k != '' && l != '')) ? 'a' : 'b'"
    policies = rounds(policy("p", label("a", loop), failurePolicy="Ignore"))
    made = policies.run(request(config_map(data=data)), 0)
    assert (labels(dict(made or {})) == {"a": "a"}) is (size == 10)
    assert bool(policies.notes.failures) is (size != 10)
