"""What is asked about policies, and that the engine agrees with every example."""

from __future__ import annotations

import time
from typing import Any

import pytest

pytest.importorskip("z3")

import z3

from celadon.admission import Action, Engine, ObjectWorld, decode_binding, decode_policy
from celadon.kube import FieldPath, GroupVersionKind, JsonObject
from celadon.kube.library import environment
from celadon.kube.registry import create
from celadon.kube.releases import answering_as
from celadon.kube.validation import validate_create
from celadon.prove import Answer, KnownKinds, Prover, Question, Reply, example_search
from celadon.prove.example_search import Search
from celadon.prove.symbolic_objects import Inputs
from celadon.prove.uninterpreted_functions import Unmodelled

CONTAINERS = "object.spec.containers"
LIMIT_KIND = {"apiVersion": "example.com/v1", "kind": "Limit"}
LIMITS: JsonObject = {
    "apiVersion": "apiextensions.k8s.io/v1",
    "kind": "CustomResourceDefinition",
    "metadata": {"name": "limits.example.com"},
    "spec": {
        "group": "example.com",
        "scope": "Cluster",
        "names": {"kind": "Limit", "plural": "limits"},
        "versions": [
            {
                "name": "v1",
                "served": True,
                "storage": True,
                "schema": {
                    "openAPIV3Schema": {
                        "type": "object",
                        "required": ["most"],
                        "properties": {
                            "most": {"type": "integer"},
                            "share": {"type": "number"},
                            "text": {"type": "string", "nullable": True},
                            "short": {"type": "integer", "format": "int32"},
                            "part": {"type": "integer", "enum": [1, 2]},
                            "port": {"x-kubernetes-int-or-string": True},
                        },
                    }
                },
            }
        ],
    },
}


def policy(
    expression: str,
    resource: str = "pods",
    group: str = "",
    *,
    conditions: tuple[str, ...] = (),
    variables: tuple[tuple[str, str], ...] = (),
    params: JsonObject | None = None,
    operations: tuple[str, ...] = ("CREATE",),
) -> JsonObject:
    """A policy with one validation."""
    spec: dict[str, object] = {
        "matchConstraints": {
            "resourceRules": [
                {
                    "apiGroups": [group],
                    "apiVersions": ["v1"],
                    "operations": list(operations),
                    "resources": [resource],
                }
            ]
        },
        "matchConditions": [
            {"name": f"c{number}", "expression": one} for number, one in enumerate(conditions)
        ],
        "variables": [{"name": name, "expression": one} for name, one in variables],
        "validations": [{"expression": expression}],
    }
    if params is not None:
        spec["paramKind"] = params
    return {
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": "ValidatingAdmissionPolicy",
        "metadata": {"name": "p"},
        "spec": spec,
    }


def replies(document: JsonObject) -> dict[Question, Reply]:
    """The answers of a policy with one endpoint."""
    prover = Prover(decode_policy(document).value)
    (endpoint,) = prover.endpoints()
    asked = (
        one
        for one in Question
        if one is not Question.MESSAGE or "messageExpression" in str(document)
    )
    return {question: prover.reply(endpoint, 0, question) for question in asked}


NO, YES, BOUNDED, UNKNOWN = Answer.NO, Answer.YES, Answer.BOUNDED, Answer.UNKNOWN


@pytest.mark.parametrize(
    ("document", "fails", "refuses", "admits"),
    [
        (
            policy(
                f"{CONTAINERS}.all(c, !(has(c.securityContext)"
                " && has(c.securityContext.privileged) && c.securityContext.privileged))"
            ),
            *(NO, YES, YES),
        ),
        (policy(f"{CONTAINERS}.all(c, !c.securityContext.privileged)"), YES, YES, YES),
        (policy("size(object.metadata.name) > 0"), NO, NO, YES),
        # The solver has no characters beyond U+2FFFF: nothing is proved where they matter.
        (policy(r"object.metadata.name.matches('[^\\x{30000}-\\x{10FFFF}]')"), *3 * (UNKNOWN,)),
        (policy(r"!object.metadata.name.matches('\\p{Co}')"), *3 * (UNKNOWN,)),
        (policy(r"!object.metadata.name.matches('[^a-z]')"), NO, YES, YES),
        # A namespace whose name is still to be generated is in none.
        (policy("has(request.namespace)", "namespaces"), NO, YES, YES),
        # Nobody checks the status that is stored.
        (
            policy("oldObject.?status.phase.orValue('') != 'odd'", operations=("DELETE",)),
            *(NO, UNKNOWN, YES),
        ),
        (policy("object.metadata.name.split('-', dyn(object.metadata.name)) != []"),
         YES, UNKNOWN, UNKNOWN),
        # Doubles have 53 bits.
        (
            policy(
                "dyn(object.spec.?activeDeadlineSeconds.orValue(5)) != 2147483647.0"
                " || object.spec.activeDeadlineSeconds == 2147483647"
            ),
            *(NO, NO, YES),
        ),
        (
            policy(
                "dyn(object.spec.?terminationGracePeriodSeconds.orValue(5)) != 9007199254740992.0"
                " || object.spec.terminationGracePeriodSeconds == 9007199254740992"
            ),
            *(NO, YES, YES),
        ),
        (policy("object.metadata.name == ''"), NO, YES, NO),
        # As many items as a size or place that is named asks for; what is larger is a bound.
        (policy(f"size({CONTAINERS}) < 9"), BOUNDED, YES, YES),
        (policy(f"size({CONTAINERS}) < 99"), BOUNDED, BOUNDED, YES),
        (policy(f"{CONTAINERS}[3].name != 'a'"), YES, YES, YES),
        # Which fields a Go struct has is known.
        (policy(f"{CONTAINERS}.all(c, c.all(k, k != 'nosuch'))"), NO, NO, YES),
        (policy(f"{CONTAINERS}.all(c, ['tty', 'stdin'].all(k, !(k in c)))"), NO, YES, YES),
        (policy(f"{CONTAINERS}.all(c, ['tty', 'stdin'].all(k, !(k in c) || c[k]))"), NO, NO, YES),
        (policy("object.spec.replicas >= 0", "deployments", "apps"), NO, YES, YES),
        (policy("object.spec.strategy.type != ''", "deployments", "apps"), NO, NO, YES),
        (policy("object == null"), NO, YES, NO),
        (policy("object == null", operations=("DELETE",)), NO, NO, YES),
        (policy("oldObject.metadata.name == object.metadata.name", operations=("UPDATE",)), NO, NO,
         YES),
        (policy("request.operation == 'CREATE'"), NO, NO, YES),
        (policy("request.namespace == object.metadata.namespace"), NO, NO, YES),
        (policy("namespaceObject.metadata.name == request.namespace"), NO, NO, YES),
        (policy("request.name != 'a'", conditions=("request.name == 'a'",)), NO, YES, NO),
        (policy("request.name == object.metadata.name"), YES, NO, YES),
        (policy("request.name == object.metadata.name", operations=("UPDATE",)), NO, NO, YES),
        (policy("variables.name != ''", variables=(("name", "object.metadata.name"),)), NO, NO,
         YES),
        (policy("object.metadata.name.matches('^[a-z]')"), NO, YES, YES),
        (policy("!object.metadata.name.contains('-')"), NO, YES, YES),
        (policy("!object.metadata.name.contains('/')"), NO, NO, YES),
        (policy("object.metadata.name != 'system:node'", "clusterroles",
                "rbac.authorization.k8s.io"), NO, YES, YES),
        (policy("request.namespace != 'kube-system'"), NO, YES, YES),
        (policy("request.namespace == 'kube-system'"), NO, YES, YES),
        (policy("object.value != 0", "priorityclasses", "scheduling.k8s.io"), NO, YES, YES),
        (policy("size(object.endpoints) > 0", "endpointslices", "discovery.k8s.io"), YES, YES, YES),
        (policy(r"object.metadata.?annotations['a'].orValue('') != '\\\\u{41}'"), NO, YES, YES),
        (policy("'a' in object.metadata.labels"), YES, YES, YES),
        (policy("has(object.spec.hostNetwork) || true"), NO, NO, YES),
        (policy("object.spec.?hostNetwork.orValue(false) == true"), NO, YES, YES),
        (policy("type(object.metadata.name) == string"), NO, NO, YES),
        (policy("quantity(object.metadata.name).isGreaterThan(quantity('1'))"), YES, YES, YES),
        # Nothing depends on the type, which is one of a few for all that.
        (policy("quantity('true').add(1) == quantity(object.spec.type)", "services"), YES, NO, NO),
        # The first part of a split text is there, a second one may not be.
        (policy("object.metadata.name.split('-')[0] != 'x'"), NO, YES, YES),
        (policy("object.metadata.name.split('-')[1] != 'x'"), YES, YES, YES),
        (policy("object.metadata.name.split('-').all(part, part.size() < 9)"), BOUNDED, YES, YES),
        (policy("object.metadata.name.split('-').all(p, !p.contains('-'))"), BOUNDED, BOUNDED, YES),
        (policy("size(object.metadata.name.split('-')) > 0"), BOUNDED, BOUNDED, YES),
        (policy("size(object.metadata.name.split('.')) == 3"), BOUNDED, YES, YES),
        (policy("object.metadata.name.split('-') != ['a', 'b']"), BOUNDED, YES, YES),
        (
            policy("[object.metadata.name.split('v')[1].split('.')].all(p, p.size() != 3 ||"
            " !p.all(n, n.matches('^[0-9]+$')) || int(p[0]) != 2 || int(p[1]) > 4)"),
            YES, YES, YES,
        ),
        # Of matches it is enough to have those that an expression asks for.
        (policy("object.metadata.name.findAll('[0-9]+').all(n, n != '7')"), NO, YES, YES),
        (policy("object.metadata.name.findAll('[0-9]+').all(n, n != 'x')"), NO, NO, YES),
        (policy("object.metadata.name.findAll('[0-9]').exists(n, n == '7')"), NO, YES, YES),
        # How a list is merged says nothing of what it may hold: the server takes the same twice.
        pytest.param(policy(f"{CONTAINERS}.all(c, !has(c.env) || c.env.all(e, "
                "c.env.exists_one(f, f.name == e.name)))"), BOUNDED, YES, YES,
                marks=pytest.mark.thorough),
        (policy("object.metadata.?finalizers.orValue([])"
                ".all(f, object.metadata.finalizers.exists_one(g, g == f))"), BOUNDED, YES, YES),
        (policy("!isQuantity(object.metadata.name) || quantity(object.metadata.name)"
                ".isGreaterThan(quantity('-1')) || quantity(object.metadata.name)"
                ".isLessThan(quantity('0'))"), NO, NO, YES),
    ],
    ids=lambda value: value["spec"]["validations"][0]["expression"]
    if isinstance(value, dict)
    else "",
)  # fmt: skip
def test_answers(document: JsonObject, fails: Answer, refuses: Answer, admits: Answer) -> None:
    found = replies(document)
    assert [one.answer for one in found.values()] == [fails, refuses, admits]
    for question, reply in found.items():
        if reply.answer is YES:
            assert decided(document, reply) == (question is not Question.ADMITS)


def test_variables_that_are_bools_are_asked_about_like_validations() -> None:
    expressions = ("object.metadata.name == ''", "object.metadata.name", "nobody", "true")
    named = tuple((f"v{index}", text) for index, text in enumerate(expressions))
    prover = Prover(decode_policy(policy("true", variables=named)).value).of_variables()
    assert [prover.is_bool(index) for index in range(4)] == [True, False, False, True]
    (endpoint,) = prover.endpoints()
    asked = [prover.reply(endpoint, index, Question.ADMITS) for index in range(4)]
    assert [reply.answer for reply in asked] == [NO, UNKNOWN, UNKNOWN, YES]
    assert asked[1].reason == "must evaluate to bool but got dyn"


def test_an_example_is_the_pod_that_a_server_makes_of_it() -> None:
    """A server adds a volume with a token, unless the pod forbids it."""
    for expression in (
        "object.spec.?volumes.orValue([]).size() != 1",
        f"{CONTAINERS}.all(c, c.?volumeMounts.orValue([]).size() != 1)",
        "object.spec.?initContainers.orValue([]).all(c, c.?volumeMounts.orValue([]).size() != 1)",
    ):
        request = replies(policy(expression))[Question.REFUSES].request
        assert request is not None
        assert request.object is not None
        assert request.object["spec"].get("automountServiceAccountToken") is False, expression


def test_an_error_that_is_ignored_is_one() -> None:
    document = policy("object.spec.hostname != 'x'")
    document = {**document, "spec": {**document["spec"], "failurePolicy": "Ignore"}}
    found = replies(document)
    assert [one.answer for one in found.values()] == [YES, YES, YES]
    request, around = found[Question.FAILS].request, found[Question.FAILS].around
    assert request is not None
    engine = Engine([decode_policy(document).value], [decode_binding(everywhere_binding()).value])
    assert engine.review(request, ObjectWorld(around)).allowed


def decided(document: JsonObject, reply: Reply) -> bool:
    """Whether the engine refuses the request of a reply."""
    engine = Engine([decode_policy(document).value], [decode_binding(everywhere_binding()).value])
    assert reply.request is not None
    verdict = engine.review(reply.request, ObjectWorld(reply.around))
    return any(decision.action is Action.DENY for decision in verdict.decisions)


def everywhere_binding() -> JsonObject:
    """A binding of the policy."""
    return {
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": "ValidatingAdmissionPolicyBinding",
        "metadata": {"name": "b"},
        "spec": {"policyName": "p", "validationActions": ["Deny"]},
    }


def test_as_many_entries_are_looked_at_as_there_are_questions() -> None:
    keys = " && ".join(f"'{key}' in object.metadata.labels" for key in "abcd")
    assert replies(policy(f"has(object.metadata.labels) && {keys}"))[Question.ADMITS].answer is YES


@pytest.mark.parametrize(
    "expression",
    [
        f"size({CONTAINERS}) < 100",
        f"{CONTAINERS}.all(c, object.spec.?volumes.orValue([]).all(v, v.name != c.name || true))",
    ],
)
def test_what_a_bound_says(expression: str) -> None:
    reply = replies(policy(expression))[Question.REFUSES]
    assert reply.answer is BOUNDED
    assert reply.bounded
    assert reply.items >= 2


def test_namespaces_are_in_their_own_namespace() -> None:
    reply = replies(policy("request.namespace == object.metadata.name", "namespaces"))
    assert reply[Question.REFUSES].answer is UNKNOWN


def test_params_are_of_their_kind() -> None:
    document = policy(
        "object.spec.replicas <= int(params.data.most)",
        "deployments",
        "apps",
        params={"apiVersion": "v1", "kind": "ConfigMap"},
    )
    reply = replies(document)[Question.FAILS]
    assert reply.answer is YES
    assert [one["kind"] for one in reply.around] == ["Namespace", "ConfigMap"]


A = "object.metadata.annotations['a']"
BEYOND_A, BEYOND_B = (
    f"{A}.charAt({place}) > '\\U0002FFFE' && {A}.charAt({place}).size() == 1" for place in (0, 1)
)


def test_what_functions_make_of_characters_that_stand_for_others() -> None:
    strange = f"{A}.matches(r'[^\\x00-\\x{{1FFFF}}]') && {A}.upperAscii() == {A} && {A}.size() == 1"
    reply = replies(policy(f"!({strange})"))[Question.REFUSES]
    assert reply.answer is YES
    assert reply.request is not None
    assert reply.request.object is not None
    assert ord(reply.request.object["metadata"]["annotations"]["a"]) > 0x1FFFF


@pytest.mark.parametrize(
    ("expression", "question", "is_claimed"),
    [
        # Each is beyond what is known, and must not be claimed.
        ("object.status.?containerStatuses.orValue([]).all(s, s.ready)", Question.REFUSES, NO),
        ("object.status.?containerStatuses.orValue([]).all(s, s.restartCount > 0)",
         Question.REFUSES, NO),
        ("has(object.metadata.creationTimestamp)", Question.REFUSES, NO),
        ("dyn({'q': 2})[?'a'][?dyn(object.metadata).zz].orValue(2) == 2", Question.ADMITS, NO),
        # Of the characters that the solver does not have there are several.
        (f"!({BEYOND_A} && {BEYOND_B} && {A}.charAt(0) != {A}.charAt(1))", Question.REFUSES, NO),
    ],
)  # fmt: skip
def test_never_is_not_claimed(expression: str, question: Question, is_claimed: Answer) -> None:
    document = policy(expression, operations=("UPDATE",))
    assert replies(document)[question].answer is not is_claimed


@pytest.mark.parametrize("place", ["params.metadata.name", "params.metadata.namespace"])
def test_params_may_be_anywhere(place: str) -> None:
    document = policy(f"{place} == 'proof'", params={"apiVersion": "v1", "kind": "ConfigMap"})
    assert replies(document)[Question.REFUSES].answer is UNKNOWN


@pytest.mark.parametrize(
    ("group", "resources", "operations", "left_out"),
    [
        ("", ["pods"], ["CREATE"], False),
        ("", ["*"], ["*"], False),
        ("apps", ["deployments", "pods"], ["CREATE"], False),
        ("", ["pods", "pods/exec"], ["CREATE"], True),
        ("", ["*/*"], ["CREATE"], True),
        ("", ["pods"], ["CREATE", "CONNECT"], True),
        ("example.com", ["widgets"], ["CREATE"], True),
        ("*", ["pods"], ["CREATE"], True),
    ],
)
def test_what_is_left_out(
    group: str, resources: list[str], operations: list[str], left_out: bool
) -> None:
    document: dict[str, Any] = dict(policy("true"))
    (rule,) = document["spec"]["matchConstraints"]["resourceRules"]
    rule.update(apiGroups=[group], resources=resources, operations=operations)
    assert Prover(decode_policy(document).value).left_out is left_out


@pytest.mark.parametrize(
    ("expression", "reason"),
    [
        ("authorizer.group('').resource('pods').check('get').allowed()", "the variable authorizer"),
        ("request.userInfo.uid == 'a'", "request.userInfo.uid, which may be anything"),
        ("request.options.fieldManager == 'a'", "request.options, which may be anything"),
        (f"{CONTAINERS}[0].resources == {CONTAINERS}[0].securityContext",
         "whether two objects are equal"),
        ("object.metadata.name.split('-').sort().all(part, part != '')", "what sort gives"),
        ("[quantity(object.metadata.name)] == [quantity('1')]", "what quantity gives"),
        (f"[{CONTAINERS}[0]].sort() == []", "a function of a whole object"),
        ("[quantity('1')] == [dyn(object.metadata.name)]",
         "a comparison that is an error inside of another"),
        (f"{CONTAINERS}[0].size() > 2", "how many fields an object has"),
        (f"{CONTAINERS}[object.metadata.name == 'a' ? 1.0 : 0.0].name == ''",
         "a place in a list that is a double"),
        ("object.metadata.name.matches('(^a)*')", "a pattern that repeats ^ or $"),
        (r"object.metadata.name.matches('\\ba')", "a pattern about lines or words"),
        ("{dyn([object.metadata.name]): 1}.size() == 1", "a key of a map that is no scalar"),
        ("{dyn(1): 1, dyn(1u): 2}.size() > 0", "numbers of several kinds as keys"),
    ],
)  # fmt: skip
def test_what_is_not_modelled_is_said(expression: str, reason: str) -> None:
    reply = replies(policy(expression))[Question.REFUSES]
    assert (reply.answer, reply.reason) == (UNKNOWN, reason)


@pytest.mark.parametrize(
    ("reads", "text"),
    [
        ("quantity(a).isInteger()", "1"),
        ("ip(a).isLoopback()", "127.0.0.1"),
        ("cidr(a).prefixLength() == 8", "10.0.0.0/8"),
        ("semver(a).major() == 1", "1.0.0"),
        ("timestamp(a).getFullYear() == 1970", "1970-01-01T00:00:00Z"),
        ("duration(a).getHours() == 1", "1h"),
    ],
)
def test_what_texts_look_like_that_functions_read(reads: str, text: str) -> None:
    """Of one that looks otherwise the solver knows that none of them reads it."""
    place = "object.metadata.annotations['a']"
    value = reads.replace("(a)", f"({place})")
    other, same = (
        replies(policy(f"{place}.startsWith('{start}') && {value}"))[Question.ADMITS]
        for start in ("#", text[0])
    )
    assert (other.answer, same.answer) == (NO, YES)
    assert same.request is not None
    assert same.request.object is not None
    assert same.request.object["metadata"]["annotations"] == {"a": text}


def test_where_it_stands_that_is_not_modelled() -> None:
    text = "object.metadata.name != '' && object.size() > 0"
    reply = replies(policy(text))[Question.REFUSES]
    assert reply.offset is not None
    assert text[reply.offset :].startswith("(")


@pytest.mark.parametrize("has_threads", [True, False])
def test_a_solver_without_memory_decides_nothing(
    has_threads: bool,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(example_search, "_HAS_THREADS", has_threads)
    monkeypatch.setattr(example_search, "_MEGABYTES", 0)
    reply = replies(policy("object.metadata.name != 'a'"))[Question.REFUSES]
    assert (reply.answer, reply.reason) == (UNKNOWN, "the solver needs more memory")


def test_an_interrupt_that_the_solver_takes_is_one(monkeypatch: pytest.MonkeyPatch) -> None:
    def canceled(self: z3.Solver, *_: object) -> z3.CheckSatResult:
        return z3.unknown

    monkeypatch.setattr(z3.Solver, "check", canceled)
    monkeypatch.setattr(z3.Solver, "reason_unknown", lambda _: "canceled")
    with pytest.raises(KeyboardInterrupt):
        replies(policy("object.metadata.name != 'a'"))


CONTRADICTIONS: JsonObject = {
    "bad": {"type": "integer", "minimum": 5, "maximum": 3},
    "far": {"type": "integer", "format": "int32", "minimum": 1 << 40},
    "long": {"type": "string", "minLength": 5, "maxLength": 3},
    "odd": {"type": "string", "pattern": "^aaaa", "maxLength": 3},
    "either": {"x-kubernetes-int-or-string": True, "pattern": "^aaaa", "maxLength": 3},
    "list": {"type": "array", "items": {"type": "string", "pattern": "^aaaa", "maxLength": 3}},
    "map": {"type": "object", "additionalProperties": {"type": "string", "pattern": "a[^a]a^"}},
}


def test_a_field_that_cannot_exist_proves_nothing_of_objects_without_it() -> None:
    (version,) = LIMITS["spec"]["versions"]
    schema = {"type": "object", "properties": {"most": {"type": "integer"}, **CONTRADICTIONS}}
    version = {**version, "schema": {"openAPIV3Schema": schema}}
    kinds = KnownKinds.of([{**LIMITS, "spec": {**LIMITS["spec"], "versions": [version]}}])
    for name in CONTRADICTIONS:
        inside = f"object.{name}"
        text = {"list": f"{inside}[0]", "map": f"{inside}['a']"}.get(name, inside)
        expression = f"object.?most.orValue(2) > 1 || has({inside}) && {text} == 'a'"
        document = policy(expression, "limits", "example.com")
        prover = Prover(decode_policy(document).value, kinds=kinds)
        (endpoint,) = prover.endpoints()
        assert prover.reply(endpoint, 0, Question.REFUSES).answer is YES, name


WITH_PARAMS = [
    # What is stored is an integer.
    ("params.most % 2 == 0", NO),
    ("object.spec.replicas <= params.most", NO),
    ("object.spec.replicas <= params.least", YES),
    ("!has(params.text) || params.text.size() > 0", YES),
]


@pytest.mark.parametrize("param", ["share", "port"])
def test_numbers_of_params_are_limits_of_quantities(param: str) -> None:
    """Which the params write as numbers, or as what may be numbers."""
    document = policy(
        f"{CONTAINERS}.all(c, has(c.resources.requests) && quantity(c.resources.requests.cpu)"
        f".compareTo(quantity(string(params.{param}))) < 1)",
        params=LIMIT_KIND,
    )
    prover = Prover(decode_policy(document).value, kinds=KnownKinds.of([LIMITS]))
    (endpoint,) = prover.endpoints()
    for question in (Question.FAILS, Question.REFUSES, Question.ADMITS):
        assert prover.reply(endpoint, 0, question).answer is YES


@pytest.mark.parametrize(("expression", "fails"), WITH_PARAMS)
def test_params_of_a_custom_kind(expression: str, fails: Answer) -> None:
    """Which is defined; without its definition they may be anything."""
    document = policy(expression, "deployments", "apps", params=LIMIT_KIND)
    decoded = decode_policy(document).value
    for kinds, expected in ((KnownKinds.of([LIMITS]), fails), (KnownKinds(), UNKNOWN)):
        prover = Prover(decoded, kinds=kinds)
        (endpoint,) = prover.endpoints()
        assert prover.reply(endpoint, 0, Question.FAILS).answer is expected


@pytest.mark.parametrize(
    ("expression", "fails", "refuses"),
    [
        ("object.most <= 9", NO, YES),
        ("object.share < 1.0", YES, YES),
        ("has(object.most)", NO, NO),
        # A client may write 2.0, which is a double until it is stored.
        ("object.most % 2 == 0", YES, YES),
        ("type(object.most) == int", NO, YES),
        ("int(object.most) % 2 == 0", NO, YES),
        ("object.most == 0 ? [7, 8][object.most] == 7 : true", NO, NO),
        ("dyn(object.most) != 2.5", NO, NO),
        ("!has(object.part) || int(object.part) != 3", NO, NO),
        ("!has(object.part) || type(object.part) == int", NO, YES),
        ("!has(object.port) || type(object.port) == string || object.port % 2 == 0", YES, YES),
        ("!has(object.called) || object.called.startsWith('a')", NO, NO),
        ("!has(object.called) || object.called != 'aa-a'", NO, YES),
        ("!has(object.texts) || object.texts[0] in ['b', 'c']", BOUNDED, YES),
        (
            "object.all(k, k in ['apiVersion', 'kind', 'metadata', 'most'] || object[k] != null)",
            NO,
            YES,
        ),
    ],
)
def test_objects_of_a_custom_kind(expression: str, fails: Answer, refuses: Answer) -> None:
    document = policy(expression, "limits", "example.com")
    (version,) = LIMITS["spec"]["versions"]
    schema = version["schema"]["openAPIV3Schema"]
    more: JsonObject = {
        "called": {"type": "string", "pattern": "^a[a-]*$"},
        "texts": {"type": "array", "minItems": 1, "items": {"type": "string"}},
    }
    schema = {**schema, "properties": {**schema["properties"], **more}}
    version = {**version, "schema": {"openAPIV3Schema": schema}}
    definition = {**LIMITS, "spec": {**LIMITS["spec"], "versions": [version]}}
    prover = Prover(decode_policy(document).value, kinds=KnownKinds.of([definition]))
    (endpoint,) = prover.endpoints()
    assert prover.reply(endpoint, 0, Question.FAILS).answer is fails
    assert prover.reply(endpoint, 0, Question.REFUSES).answer is refuses
    assert not prover.left_out


@pytest.mark.parametrize(
    ("release", "claim", "refuses"),
    [
        ("1.35", "short < 2147483648", YES),
        ("1.36", "short < 2147483648", NO),
        ("1.36", "short < 2147483647", YES),
        ("1.35", "short >= -2147483648", YES),
        ("1.36", "short >= -2147483648", NO),
        ("1.36", "short > -2147483648", YES),
        ("1.36", "most > -9223372036854775807 - 1", YES),
        ("1.36", "most < 9223372036854775807", YES),
    ],
)
def test_formats_of_integers(release: str, claim: str, refuses: Answer) -> None:
    """Of custom resources they are looked at since 1.36."""
    field = claim.partition(" ")[0]
    document = policy(f"!has(object.{field}) || object.{claim}", "limits", "example.com")
    with answering_as(release):
        prover = Prover(decode_policy(document).value, kinds=KnownKinds.of([LIMITS]))
        (endpoint,) = prover.endpoints()
        assert prover.reply(endpoint, 0, Question.REFUSES).answer is refuses


@pytest.mark.parametrize(
    ("path", "item"),
    [
        (("containers",), {"name": "c", "image": "i"}),
        (("initContainers",), {"name": "i", "image": "i"}),
        (("ephemeralContainers",), {"name": "e", "image": "i"}),
        (("volumes",), {"name": "v", "emptyDir": {}}),
        (("resourceClaims",), {"name": "r", "resourceClaimName": "x"}),
        (("schedulingGates",), {"name": "example.com/x"}),
        (("topologySpreadConstraints",),
         {"topologyKey": "z", "whenUnsatisfiable": "DoNotSchedule", "maxSkew": 1}),
        (("containers", 0, "volumeMounts"), {"name": "w", "mountPath": "/m"}),
        (("containers", 0, "volumeDevices"), {"name": "w", "devicePath": "/m"}),
    ],
)  # fmt: skip
def test_validation_takes_none_of_these_twice(
    path: tuple[str | int, ...], item: JsonObject
) -> None:
    """So proofs assume that they differ (`UNIQUE`)."""
    spec: dict[str, Any] = {"containers": [{"name": "a", "image": "i"}]}
    at: Any = spec
    for step in path[:-1]:
        at = at[step]
    at[path[-1]] = [item, item]
    assert_refused("Pod", spec, path)


def test_validation_takes_no_port_of_a_service_twice() -> None:
    port = {"port": 80, "protocol": "TCP"}
    spec = {"ports": [{**port, "name": "a"}, {**port, "name": "b"}]}
    assert_refused("Service", spec, ("ports",))


def assert_refused(kind_name: str, spec: JsonObject, path: tuple[str | int, ...]) -> None:
    """A list with the same item twice is refused for that."""
    kind = GroupVersionKind("", "v1", kind_name)
    about = {"apiVersion": "v1", "kind": kind_name, "metadata": {"name": "a", "namespace": "n"}}
    form = create.admit_form({**about, "spec": spec}, kind)
    errors = [str(one) for one in validate_create(form, kind)]
    field = str(FieldPath("spec", *path))
    said = ("Duplicate value", "must be unique")
    assert [one for one in errors if field in one and any(why in one for why in said)], errors


def test_answers_do_not_depend_on_questions_before() -> None:
    """Neither what is answered, nor the example."""
    documents = [
        policy(f"{CONTAINERS}.all(c, c.image.startsWith('r.io/') && !c.image.endsWith(':latest'))"),
        policy("quantity(object.metadata.name).isGreaterThan(quantity('1'))"),
        policy("object.spec.replicas + 3 < object.spec.?minReadySeconds.orValue(7)",
               "deployments", "apps"),
    ]  # fmt: skip
    first = [replies(one) for one in documents]
    assert [replies(one) for one in reversed(documents)] == first[::-1]


def test_planted_mistakes_are_found() -> None:
    """`||` for `&&`, and init containers forgotten: what is newly admitted has few fields."""
    right = policy(
        "!object.spec.?hostNetwork.orValue(false) && !object.spec.?hostPID.orValue(false)"
    )
    wrong = policy(
        "!object.spec.?hostNetwork.orValue(false) || !object.spec.?hostPID.orValue(false)"
    )
    for document in (right, wrong):
        reply = replies(document)[Question.REFUSES]
        assert reply.answer is YES
        assert reply.request is not None
        assert reply.request.object is not None
        spec = reply.request.object["spec"]
        assert ("hostNetwork" in spec, "hostPID" in spec) in (
            {(True, True)} if document is wrong else {(True, False), (False, True)}
        )


def with_message(expression: str, message: str) -> JsonObject:
    """A policy with a messageExpression."""
    document = dict(policy(expression))
    spec = dict(document["spec"])
    spec["validations"] = [{"expression": expression, "messageExpression": message}]
    return {**document, "spec": spec}


@pytest.mark.parametrize(
    ("message", "answer"),
    [
        ("'no: ' + object.metadata.name", NO),
        ("string(object.metadata.name)", NO),
        ("string(object.metadata.labels.team)", YES),
        ("string(object.metadata.?labels.?team.orValue(''))", YES),
        ("object.metadata.name", YES),
        ("'  '", YES),
        ("string(object.spec.?hostname.orValue('none'))", YES),
    ],
)
def test_messages_that_are_missing(message: str, answer: Answer) -> None:
    found = replies(with_message("!object.spec.?hostPID.orValue(false)", message))
    assert found[Question.MESSAGE].answer is answer


def test_a_solver_that_runs_out_of_memory_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where no thread watches it, that is an error of its own."""

    def check(*_: object) -> None:
        raise z3.Z3Exception(b"out of memory")

    monkeypatch.setattr(z3.Solver, "check", check)
    reply = replies(policy("object.metadata.name != 'a'"))[Question.REFUSES]
    assert (reply.answer, reply.reason) == (UNKNOWN, "the solver needs more memory")


def test_a_message_matters_where_it_is_refused() -> None:
    found = replies(with_message("has(object.spec.hostname)", "string(object.spec.hostname)"))
    assert found[Question.MESSAGE].answer is YES
    found = replies(with_message("!has(object.spec.hostname)", "string(object.spec.hostname)"))
    assert found[Question.MESSAGE].answer is YES  # " " is a text, and no message
    found = replies(with_message("!has(object.spec.hostPID)", "string(object.spec.hostPID)"))
    assert found[Question.MESSAGE].answer is NO


@pytest.mark.parametrize("has_threads", [True, False])
def test_a_question_ends_when_its_processor_time_is_gone(
    has_threads: bool,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Whatever the solver counts of its work, and whether a thread watches it."""
    monkeypatch.setattr(example_search, "_HAS_THREADS", has_threads)
    a, b, c = z3.Ints("a b c")
    hard = z3.And(a**3 + b**3 == c**3 + 7, a > 10, b > 10, c > 10)
    question = Search(Inputs(), Unmodelled(environment("1.36")), 100)
    question.deadline = time.process_time() + 0.3
    assert question.find(hard, lambda _: None).reason == "the solver needs more time"
    assert time.process_time() < question.deadline + 10
