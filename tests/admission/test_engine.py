"""Requests through the whole engine: what is matched, in which order, what comes out."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import pytest

from celadon.admission.activation import RequestContext
from celadon.admission.cluster_lookups import ObjectWorld
from celadon.admission.policies.compiled_policy import PlainSizes
from celadon.admission.policies.validating import Engine
from celadon.admission.request import Operation
from celadon.admission.verdict import VALIDATION_FAILURE, Action, Cause, Decision, Outcome, Verdict
from celadon.cel import Program
from celadon.kube import GroupVersionKind, GroupVersionResource
from celadon.kube.authorization import User
from tests.admission.building import (
    CONFIG_MAP,
    RULE,
    WORLD,
    binding,
    config_map,
    judge,
    policy,
    refusal,
    request,
)


def test_a_denial_is_a_status() -> None:
    verdict = judge(policy(validations=[{"expression": "object.metadata.name == 'x'"}]))
    cause = (
        "ValidatingAdmissionPolicy 'p' with binding 'b' denied request: "
        "failed expression: object.metadata.name == 'x'"
    )
    assert verdict.code == 422
    assert verdict.status == {
        "kind": "Status",
        "apiVersion": "v1",
        "metadata": {},
        "status": "Failure",
        "message": f'configmaps "c" is forbidden: {cause}',
        "reason": "Invalid",
        "details": {"name": "c", "kind": "configmaps", "causes": [{"message": cause}]},
        "code": 422,
    }


@pytest.mark.parametrize(
    ("reason", "code"), [("Forbidden", 403), ("RequestEntityTooLarge", 413), ("Invalid", 422)]
)
def test_the_reason_decides_the_code(reason: str, code: int) -> None:
    verdict = judge(policy(validations=[{"expression": "false", "reason": reason}]))
    assert verdict.code == code
    assert verdict.status is not None
    assert verdict.status["reason"] == reason


def test_a_test_of_an_optional_as_a_branch_is_not_true() -> None:
    text = "has(object.metadata) ? has(object.?metadata.name) : false"
    verdict = judge(policy(validations=[{"expression": text}]))
    assert verdict.code == 422
    assert f"failed expression: {text}" in str(verdict.status)
    assert judge(policy(validations=[{"expression": f"({text}) || true"}])).allowed


def test_true_validations_allow_without_a_trace() -> None:
    verdict = judge(policy(validations=[{"expression": "object.kind == 'ConfigMap'"}]))
    assert verdict.allowed
    assert verdict.decisions == ()


def test_a_policy_without_binding_is_inert() -> None:
    assert judge(policy(), binding(policy_name="other")).allowed


def test_policies_are_asked_in_the_order_of_their_names() -> None:
    verdict = judge(
        policy("z", validations=[{"expression": "false", "message": "from z"}]),
        policy("a", validations=[{"expression": "false", "message": "from a"}]),
        binding("bz", "z"),
        binding("ba", "a"),
    )
    assert refusal(verdict) == "from a"
    assert [d.policy for d in verdict.decisions] == ["a", "z"]


def test_a_denial_does_not_silence_later_policies() -> None:
    verdict = judge(
        policy("a"),
        policy("z", validations=[{"expression": "false", "message": "careful"}]),
        binding("ba", "a"),
        binding("bz", "z", "Warn"),
    )
    assert not verdict.allowed
    assert verdict.warnings == (
        "Validation failed for ValidatingAdmissionPolicy 'z' with binding 'bz': careful",
    )


def test_audit_records_the_first_failure() -> None:
    verdict = judge(
        policy(validations=[{"expression": "true"}, {"expression": "false", "message": "<no>"}]),
        binding("b", "p", "Audit"),
    )
    assert verdict.allowed
    assert verdict.audit_annotations == {
        VALIDATION_FAILURE: (
            r'[{"message":"\u003cno\u003e","policy":"p","binding":"b","expressionIndex":1,'
            r'"validationActions":["Audit"]}]'
        )
    }


ERRORS: list[tuple[str, dict[str, Any], str]] = [
    (
        "run time",
        {"validations": [{"expression": "object.data.x == 'a'"}]},
        "expression 'object.data.x == 'a'' resulted in error: no such key: data",
    ),
    (
        "in a variable",
        {
            "variables": [{"name": "v", "expression": "object.data.x"}],
            "validations": [{"expression": "variables.v == 'a'"}],
        },
        "expression 'variables.v == 'a'' resulted in error: composited variable \"v\" fails to "
        "evaluate: no such key: data",
    ),
    (
        "two match conditions",
        {
            "matchConditions": [
                {"name": "a", "expression": "object.x == 1"},
                {"name": "b", "expression": "object.y == 1"},
                {"name": "c", "expression": "object.x == 1"},
            ]
        },
        "[expression 'object.x == 1' resulted in error: no such key: x, "
        "expression 'object.y == 1' resulted in error: no such key: y]",
    ),
    (
        "does not compile",
        {"validations": [{"expression": "1"}]},
        "compilation error: must evaluate to bool but got int",
    ),
    (
        "no namespace in a match condition",
        {"matchConditions": [{"name": "a", "expression": "namespaceObject.metadata.name == 'ns'"}]},
        "expression 'namespaceObject.metadata.name == 'ns'' resulted in error: "
        "no such key: metadata",
    ),
]


@pytest.mark.parametrize(("spec", "text"), [row[1:] for row in ERRORS], ids=[r[0] for r in ERRORS])
def test_errors_deny_or_are_ignored(spec: dict[str, Any], text: str) -> None:
    assert refusal(judge(policy(**spec))) == text
    assert judge(policy(**spec, failurePolicy="Ignore")).allowed


def test_a_false_validation_denies_whatever_the_failure_policy_says() -> None:
    assert not judge(policy(failurePolicy="Ignore")).allowed


@pytest.mark.parametrize(
    ("conditions", "allowed"),
    [
        (["true", "true"], False),
        (["true", "false"], True),
        (["object.nope == 1", "false"], True),
        (["true ? has(object.?nope.a) : false"], False),  # an optional is not false
    ],
)
def test_match_conditions(conditions: list[str], allowed: bool) -> None:
    given = [{"name": f"c{i}", "expression": text} for i, text in enumerate(conditions)]
    assert judge(policy(matchConditions=given)).allowed is allowed


MESSAGES: list[tuple[str, dict[str, str], str]] = [
    ("message", {"message": "  plain "}, "plain"),
    ("expression wins", {"message": "plain", "messageExpression": "' made '"}, "made"),
    ("error", {"message": "plain", "messageExpression": "object.nope"}, "plain"),
    ("blank", {"message": "plain", "messageExpression": "'  '"}, "plain"),
    ("two lines", {"message": "plain", "messageExpression": r"'a\nb'"}, "plain"),
    ("too long", {"messageExpression": "'x' + object.long"}, "failed expression: false"),
    ("longest", {"messageExpression": "object.long"}, "x" * 5120),
]


@pytest.mark.parametrize(
    ("validation", "text"), [row[1:] for row in MESSAGES], ids=[row[0] for row in MESSAGES]
)
def test_the_text_of_a_failed_validation(validation: dict[str, str], text: str) -> None:
    # `string(...)` because a message expression must be of type string
    if "messageExpression" in validation:
        validation = {
            **validation,
            "messageExpression": f"string({validation['messageExpression']})",
        }
    asked = request(config_map(long="x" * 5120))
    verdict = judge(policy(validations=[{"expression": "false", **validation}]), asked=asked)
    assert refusal(verdict) == text


def test_annotations_of_all_bindings_are_joined() -> None:
    params = [
        {
            "apiVersion": "v1",
            "kind": "ConfigMap",
            "metadata": {"name": name, "namespace": "ns"},
            "data": {"v": value},
        }
        for name, value in (("p1", "x"), ("p2", "y"), ("p3", "x"))
    ]
    ref = {"selector": {}, "parameterNotFoundAction": "Deny"}
    verdict = judge(
        policy(
            paramKind={"apiVersion": "v1", "kind": "ConfigMap"},
            auditAnnotations=[{"key": "k", "valueExpression": "string(params.data.v)"}],
        ),
        binding(paramRef=ref),
        world=WORLD.with_objects(params),
    )
    assert verdict.allowed
    assert verdict.audit_annotations == {"p/k": "x, y"}


def test_an_annotation_that_fails_denies_under_any_action() -> None:
    spec: dict[str, Any] = {
        "auditAnnotations": [{"key": "k", "valueExpression": "string(object.nope)"}]
    }
    verdict = judge(policy(**spec), binding("b", "p", "Audit"))
    text = "expression 'string(object.nope)' resulted in error: no such key: nope"
    assert refusal(verdict) == text
    assert verdict.decisions[0].cause is Cause.ANNOTATION
    assert judge(policy(**spec, failurePolicy="Ignore"), binding("b", "p", "Audit")).allowed


def test_a_missing_namespace_is_reported_as_it_is() -> None:
    verdict = judge(
        policy(failurePolicy="Ignore", validations=[{"expression": "true"}]), world=ObjectWorld()
    )
    assert verdict.code == 404
    assert verdict.message == 'namespaces "ns" not found'


def test_a_namespace_selector_without_namespace_is_a_configuration_error() -> None:
    constraints = {
        "resourceRules": [RULE],
        "namespaceSelector": {"matchLabels": {"env": "prod"}},
    }
    given = policy(matchConstraints=constraints)
    text = 'failed to configure policy: namespaces "ns" not found'
    verdict = judge(given, world=ObjectWorld())
    assert refusal(verdict) == text
    assert verdict.message.startswith(
        "configmaps \"c\" is forbidden: ValidatingAdmissionPolicy 'p'"
    )
    assert " with binding " not in verdict.message


def test_exempt_resources_are_never_judged() -> None:
    everything = {
        "resourceRules": [
            {"apiGroups": ["*"], "apiVersions": ["*"], "operations": ["*"], "resources": ["*/*"]}
        ]
    }
    registered = policy(matchConstraints=everything)
    group = "admissionregistration.k8s.io"
    exempt = request(
        kind=GroupVersionKind(group, "v1", "ValidatingAdmissionPolicy"),
        resource=GroupVersionResource(group, "v1", "validatingadmissionpolicies"),
        namespace="",
    )
    hooks = request(
        kind=GroupVersionKind(group, "v1", "ValidatingWebhookConfiguration"),
        resource=GroupVersionResource(group, "v1", "validatingwebhookconfigurations"),
        namespace="",
    )
    assert judge(registered, asked=exempt).allowed
    assert not judge(registered, asked=hooks).allowed


def test_static_policies_judge_policies_and_come_first() -> None:
    rule = {"apiGroups": ["*"], "apiVersions": ["*"], "operations": ["*"], "resources": ["*"]}
    everything = {"resourceRules": [rule]}
    static = policy("z", matchConstraints=everything)
    engine = Engine([policy("a", matchConstraints=everything)], [binding("a", "a")])
    both = engine.with_static([static], [binding("z", "z")])
    group = "admissionregistration.k8s.io"
    about_policies = request(
        kind=GroupVersionKind(group, "v1", "ValidatingAdmissionPolicy"),
        resource=GroupVersionResource(group, "v1", "validatingadmissionpolicies"),
        namespace="",
    )
    assert engine.explain(about_policies, WORLD).notes[0].outcome is Outcome.EXEMPT
    for asked, names in ((request(), ["z", "a"]), (about_policies, ["z"])):
        for verdict in (both.review(asked, WORLD), both.explain(asked, WORLD)):
            assert [one.policy for one in verdict.decisions] == names
    without = both.replaced([], [])
    assert [one.policy for one in without.review(request(), WORLD).decisions] == ["z"]
    assert without.policies[0] is both.policies[0], "not compiled again"
    assert without.with_static([], []).review(request(), WORLD).allowed


def test_a_deletion_has_only_an_old_object() -> None:
    given = policy(
        validations=[{"expression": "object == null && oldObject.metadata.name == request.name"}]
    )
    asked = request(operation=Operation.DELETE, old_object=config_map())
    assert judge(given, asked=asked).allowed


def test_authorizer_answers_from_rbac() -> None:
    role = {
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "Role",
        "metadata": {"name": "r", "namespace": "ns"},
        "rules": [{"apiGroups": [""], "resources": ["configmaps"], "verbs": ["sign"]}],
    }
    bound = {
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "RoleBinding",
        "metadata": {"name": "rb", "namespace": "ns"},
        "roleRef": {"kind": "Role", "name": "r"},
        "subjects": [{"kind": "User", "name": "alice"}],
    }
    given = policy(
        validations=[
            {
                "expression": "authorizer.requestResource.check('sign').allowed()",
                "message": "may not sign",
            }
        ]
    )
    world = WORLD.with_objects([role, bound])
    assert judge(given, asked=request(user=User("alice")), world=world).allowed
    assert not judge(given, asked=request(user=User("bob")), world=world).allowed


def test_the_authorizer_is_not_there_for_annotations() -> None:
    given = policy(
        auditAnnotations=[
            {"key": "k", "valueExpression": "authorizer.path('/').check('x').reason()"}
        ]
    )
    assert refusal(judge(given)).endswith("no such attribute(s): authorizer")


def talkative() -> Engine:
    """Policies and bindings that have all kinds of reasons to say nothing."""
    return Engine(
        [
            policy("a", validations=[{"expression": "true"}, {"expression": "false"}]),
            policy("b", matchConditions=[{"name": "never", "expression": "false"}]),
            policy("c"),
            policy("d", matchConstraints={"resourceRules": [{**RULE, "resources": ["pods"]}]}),
            policy("e", validations=[{"expression": "object.kind == 'ConfigMap'"}]),
        ],
        [
            binding("ba", "a"),
            binding("bb", "b"),
            binding("bd", "d"),
            binding("lost", "nobody"),
            binding("ba2", "a", matchResources={"objectSelector": {"matchLabels": {"x": "y"}}}),
            binding("be", "e"),
            binding("be2", "e", matchResources={"objectSelector": {"matchLabels": {"x": "y"}}}),
        ],
    )


def test_explain_tells_everything() -> None:
    verdict = talkative().explain(request(), WORLD)
    assert [(d.policy, d.index, d.action, d.cost) for d in verdict.decisions] == [
        ("a", 0, Action.ADMIT, 0),
        ("a", 1, Action.DENY, 0),
        ("e", 0, Action.ADMIT, 3),
    ]
    assert [(n.outcome, n.policy, n.binding, n.detail) for n in verdict.notes] == [
        (Outcome.BINDING_WITHOUT_POLICY, "nobody", "lost", ""),
        (Outcome.EVALUATED, "a", "ba", ""),
        (Outcome.BINDING_UNMATCHED, "a", "ba2", ""),
        (Outcome.CONDITION_FALSE, "b", "bb", "never"),
        (Outcome.POLICY_WITHOUT_BINDING, "c", "", ""),
        (Outcome.POLICY_UNMATCHED, "d", "", ""),
        (Outcome.EVALUATED, "e", "be", ""),
        (Outcome.BINDING_UNMATCHED, "e", "be2", ""),
    ]
    assert verdict.status == talkative().review(request(), WORLD).status


def test_a_replaced_engine_compiles_only_what_is_new() -> None:
    kept = policy("a")
    engine = Engine([kept], [binding("b", "a")])
    other = engine.replaced([kept, policy("z")], [binding("b", "a")])
    assert other.policies[0] is engine.policies[0]
    assert [compiled.name for compiled in other.policies] == ["a", "z"]


def test_kinds_of_requests_do_not_get_mixed_up() -> None:
    engine = Engine([policy()], [binding()])
    secret = request(
        kind=GroupVersionKind("", "v1", "Secret"),
        resource=GroupVersionResource("", "v1", "secrets"),
    )
    for _ in range(2):
        assert not engine.review(request(), WORLD).allowed
        assert engine.review(secret, WORLD).allowed
    assert request().kind == CONFIG_MAP


class Told:
    """Keeps what it is told."""

    def __init__(self, *, hears_all: bool = True) -> None:
        self.clock = itertools.count(1.0).__next__ if hears_all else None
        self.ends: list[float] = []
        self.calls = 0
        self.heard: list[tuple[str, int, bool]] = []

    def content(self, ends: Mapping[str, float]) -> None:
        self.calls += 1
        self.ends += ends.values()
        self.heard += [(policy, 0, False) for policy in ends]

    def judged(self, policy: str, decisions: Sequence[Decision], *, failed: bool) -> None:
        self.heard.append((policy, len(decisions), failed))


BROKEN = "object.data.x == 'a'"
OBSERVED: list[tuple[str, dict[str, Any], list[tuple[str, int, bool]]]] = [
    ("true", {"validations": [{"expression": "true"}]}, [("p", 0, False)]),
    ("false", {"validations": [{"expression": "false"}]}, [("p", 1, False)]),
    (
        "two",
        {"validations": [{"expression": "false"}, {"expression": "1 == 2"}]},
        [("p", 2, False)],
    ),
    ("error", {"validations": [{"expression": BROKEN}]}, [("p", 1, False)]),
    (
        "condition",
        {"matchConditions": [{"name": "n", "expression": "false"}]},
        [("p", 0, False)],
    ),
    (
        "ignored condition",
        {"matchConditions": [{"name": "n", "expression": BROKEN}], "failurePolicy": "Ignore"},
        [("p", 0, True)],
    ),
    (
        "unmatched",
        {
            "matchConstraints": {
                "resourceRules": [RULE],
                "objectSelector": {"matchLabels": {"a": "b"}},
            }
        },
        [],
    ),
]


@pytest.mark.parametrize(
    ("spec", "heard"), [row[1:] for row in OBSERVED], ids=[row[0] for row in OBSERVED]
)
def test_who_observes_is_told(spec: dict[str, Any], heard: list[tuple[str, int, bool]]) -> None:
    told = Told()
    Engine([policy(**spec)], [binding()]).review(request(), WORLD, told)
    assert told.heard == heard


def test_each_policy_is_told_of_on_its_own() -> None:
    quick, slow = {"expression": "true"}, {"expression": "namespaceObject != null"}
    told = Told()
    policies = [policy("a", validations=[slow]), policy("b"), policy("c", validations=[quick])]
    bindings = [binding(f"b{name}", name) for name in "abc"]
    Engine(policies, bindings).review(request(), WORLD, told)
    assert sorted(told.heard) == [("a", 0, False), ("b", 1, False), ("c", 0, False)]


def test_who_observes_is_told_once_of_all_that_are_content() -> None:
    names = [f"p{number}" for number in range(20)]
    expressions = ["object.metadata.name != ''", "size(object.metadata.name) < 64"]
    validations = [{"expression": expression} for expression in expressions]
    policies = [policy(name, validations=validations) for name in names]
    policies[7] = policy("p07", validations=[{"expression": "object.metadata.name != 'cm'"}])
    engine = Engine(policies, [binding(f"b{item.name}", item.name) for item in policies])
    for denied in ("cm", "other") * Program.MAX_COLD:
        told = Told()
        engine.review(request(config_map(name=denied)), WORLD, told)
        content = len(names) - (denied == "cm")
        assert told.calls == 1
        assert told.ends == [float(number) for number in range(1, content + 1)]
        assert sorted(told.heard) == sorted(
            (item.name, int(denied == "cm" and item.name == "p07"), False) for item in policies
        )


def test_requests_of_like_sizes_are_asked_about_once(monkeypatch: pytest.MonkeyPatch) -> None:
    sizes: list[int] = []
    include = PlainSizes.include

    def counted(self: PlainSizes, size: int) -> bool:
        sizes.append(size)
        return include(self, size)

    loops = "object.metadata.labels.all(a, object.metadata.labels.all(b, a != '' || b != ''))"
    engine = Engine([policy(validations=[{"expression": loops}])], [binding()])
    asked = request(config_map(labels={"a": "b"}))
    for _ in range(Program.MAX_COLD + 1):
        engine.review(asked, WORLD)
    monkeypatch.setattr(PlainSizes, "include", counted)
    for _ in range(3):
        assert engine.review(asked, WORLD).allowed
    assert not sizes
    larger = request(config_map(labels={"a": "b"}, data={f"key-{i}": "v" for i in range(3000)}))
    for _ in range(3):
        assert engine.review(larger, WORLD).allowed
    assert sizes
    assert len(set(sizes)) == len(sizes)


def test_who_does_not_want_to_hear_all_hears_of_denials_only() -> None:
    told = Told(hears_all=False)
    denying = policy("denies", validations=[{"expression": "false"}])
    content = policy("content", validations=[{"expression": "true"}])
    bindings = [binding("b1", "denies"), binding("b2", "content")]
    Engine([denying, content], bindings).review(request(), WORLD, told)
    assert told.heard == [("denies", 1, False)]


READS = {
    "objects": "object.metadata.name == 'cm' && oldObject == null",
    "request": "request.operation == 'CREATE' && request.namespace == 'ns'",
    "namespace": "namespaceObject.metadata.name == 'ns'",
}


@pytest.mark.parametrize("names", [("objects",), ("objects", "request"), ("objects", "namespace")])
def test_expressions_find_what_they_read(names: tuple[str, ...]) -> None:
    policies = [policy(name, validations=[{"expression": READS[name]}]) for name in names]
    engine = Engine(policies, [binding(f"b-{name}", name) for name in names])
    asked = request(config_map(name="cm"))
    assert engine.review(asked, WORLD).allowed
    assert engine.review(asked, ObjectWorld([])).code == 404


def test_a_large_request_is_counted() -> None:
    """Too large for the quick way: its cost could reach the budget."""
    loops = "object.data.all(a, object.data.all(b, a != '' || b != ''))"
    given = policy(validations=[{"expression": loops}])
    small = config_map(data={"a": "b"})
    assert judge(given, asked=request(small)).allowed
    large = config_map(data={f"key-{i}": "v" for i in range(3000)})
    assert "exceeded" in judge(given, asked=request(large)).message


@pytest.mark.parametrize("labels", [{}, {"x": "y"}, {"size": "large"}])
def test_notes_come_with_the_verdict_of_a_review(labels: dict[str, str]) -> None:
    engine = talkative()
    asked = request(config_map(labels=labels))
    noted, explained = engine.noted(asked, WORLD), engine.explain(asked, WORLD)
    assert noted.message == engine.review(asked, WORLD).message
    notes = [*engine.unconcerned(asked, WORLD), *noted.notes]
    assert sorted(map(repr, notes)) == sorted(map(repr, explained.notes))
    assert engine.unconcerned(request(), WORLD) is engine.unconcerned(asked, WORLD)


def test_while_nobody_objects_the_verdict_is_one() -> None:
    given = policy(validations=[{"expression": "object.metadata.name != 'x'"}])
    engine = Engine([given], [binding()])
    asked, other = request(config_map("web")), request(config_map("api"))
    assert engine.noted(asked, WORLD) is engine.noted(other, WORLD)
    assert [one.outcome for one in engine.noted(asked, WORLD).notes] == [Outcome.EVALUATED]


def test_nobody_is_concerned_by_what_is_exempt() -> None:
    engine = talkative()
    asked = replace(
        request(), resource=GroupVersionResource("authentication.k8s.io", "v1", "tokenreviews")
    )
    assert engine.noted(asked, WORLD) == Verdict()
    notes = engine.unconcerned(asked, WORLD)
    assert set(notes) == set(engine.explain(asked, WORLD).notes)
    assert Outcome.EXEMPT in [note.outcome for note in notes]


def test_a_binding_that_cannot_be_used_is_for_the_judge() -> None:
    """Though its policy has nothing against the request."""
    bad = {"objectSelector": {"matchLabels": {"-": "-"}}}
    engine = Engine([policy(validations=[{"expression": "true"}])], [binding(matchResources=bad)])
    noted, explained = engine.noted(request(), WORLD), engine.explain(request(), WORLD)
    assert noted.message == explained.message
    assert "failed to configure binding" in noted.message


def test_compiled_policies_are_shared_with_a_changed_set() -> None:
    first, second = policy("a"), policy("b")
    engine = Engine([second, first], [binding()])
    changed = engine.replaced([first], [binding("b", "a")])
    assert [one.name for one in engine.policies] == ["a", "b"]
    assert [one is engine.policies[0] for one in changed.policies] == [True]
    assert not changed.review(request(), WORLD).allowed


def test_large_requests_are_settled_by_what_counts() -> None:
    """An expression that has to be counted, and is true: no decision is made of it."""
    every = "object.data.all(a, object.data.all(b, a == b || object.data[a] != object.data[b]))"
    engine = Engine([policy(validations=[{"expression": every}])], [binding()])
    for size, allowed in ((40, True), (400, False)):
        obj = config_map(data={f"k{n}": f"v{n}" for n in range(size)})
        asked = request(obj)
        assert not engine.policies[0].plain_sizes.include(RequestContext(asked, WORLD).size())
        verdict = engine.review(asked, WORLD)
        assert verdict.allowed is allowed
        assert bool(verdict.decisions) is not allowed
        assert engine.explain(asked, WORLD).message == verdict.message
        assert allowed or "cost" in verdict.message
