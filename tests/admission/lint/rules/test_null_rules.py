"""What may be absent, and what makes sure that it is not."""

from __future__ import annotations

from typing import Any

import pytest

from celadon.admission.lint.linter import lint
from tests.admission.lint.linting import (
    SETTINGS,
    about,
    about_rules,
    binding,
    definition,
    found,
    policy,
)

AT = "spec.validations[0].expression"
DELETES = {
    "resourceRules": [
        {
            "apiGroups": ["apps"],
            "apiVersions": ["v1"],
            "operations": ["CREATE", "UPDATE", "DELETE"],
            "resources": ["deployments"],
        }
    ]
}

OPTIONAL = [
    ("object.spec.paused == true", 11),
    ("object.spec['paused'] == true", 11),
    ("object.spec.template.spec.containers.all(c, c.securityContext.privileged)", 45),
    ("object.spec.template.spec.containers[0].securityContext.privileged", 39),
    ("has(object.metadata.labels) && object.metadata.labels['x'] == 'y'", 53),
    ("has(object.metadata.labels) || object.metadata.labels['x'] == 'y'", 46),
    ("has(object.metadata.labels.x)", 19),
    ("(has(object.spec.paused) ? object.spec.paused : true) && object.spec.paused", 68),
    ("'x' in ['y'].map(y, y) && object.spec.paused", 37),
    ("object.metadata.?labels.orValue({}).all(k, true) && object.metadata.labels.size() > 0", 67),
    ("'x' in ['y'] && object.spec.paused", 27),
    ("object.spec.paused == true && object.spec.paused == false", 11),
    ("object.metadata.?labels.x.orValue('') == object.metadata.labels.x", 56),
    ("request.subResource == 'status'", 7),
    ("(has(object.spec.paused) || true) && object.spec.paused", 48),
    ("(true || has(object.spec.paused)) && object.spec.paused", 48),
    ("!(!has(object.spec.paused) && true) && object.spec.paused", 50),
    ("has(object.spec.paused) == false && object.spec.paused", 47),
    ("has(object.spec.paused) != true && object.spec.paused", 46),
]


@pytest.mark.parametrize(("text", "offset"), OPTIONAL)
def test_optional_fields(text: str, offset: int) -> None:
    assert about("CEL025", text)[0] == (AT, offset)


PAUSED, MINIMUM = "object.spec.paused", "object.spec.minReadySeconds"


@pytest.mark.parametrize(
    "text",
    [
        f"has({MINIMUM}) == has({PAUSED}) && {PAUSED}",
        f"has({MINIMUM}) != has({PAUSED}) && (!has({MINIMUM}) || {PAUSED})",
        f"!has({MINIMUM}) == has({PAUSED}) && (!has({MINIMUM}) || {PAUSED})",
        f"(!has({PAUSED}) || has({MINIMUM})) && (!has({MINIMUM}) || {PAUSED})",
        f"(!has({MINIMUM}) || has({PAUSED}) || true) && has({MINIMUM}) && {PAUSED}",
        f"(has({MINIMUM}) ? true : has({PAUSED})) && has({MINIMUM}) && {PAUSED}",
        f"(has({MINIMUM}) == has({PAUSED}) || true) && has({MINIMUM}) && {PAUSED}",
    ],
)
def test_an_optional_field_is_not_there_since_another_is(text: str) -> None:
    assert about("CEL025", text) == [(AT, text.rindex(".paused"))]


PLACES = [
    "({} ? 1 : 2) > 1",
    "true ? {} : true",
    "true ? true : {}",
    "{} || true",
    "true || {}",
    "{} && true",
    "!{}",
    "1 == 1 || type({}) == bool",
    "[{}].size() > 0",
    "{{{}: 1}}.size() > 0",
    "{{'a': {}}}.size() > 0",
    "string({}).size() > 0",
    "[{}].all(x, true)",
    "[1].all(x, {})",
    "[1].exists(x, x == 1 && {})",
    "[1].filter(x, {}).size() > 0",
    "[1].map(x, {}).size() > 0",
]


@pytest.mark.parametrize("text", PLACES)
def test_an_optional_field_is_seen_wherever_it_is_read(text: str) -> None:
    written = text.format("object.spec.paused")
    offset = written.index(".paused")
    assert about("CEL025", written) == [(AT, offset)]


@pytest.mark.parametrize(
    "text",
    [
        "object.spec.replicas > 1",
        "object.metadata.name != '' && object.metadata.uid != ''",
        "object.spec.template.spec.containers.all(c, c.image != '' && c.imagePullPolicy != '')",
        "object.spec.strategy.type == 'Recreate'",
        "has(object.spec.paused) && object.spec.paused",
        "object.spec.paused && has(object.spec.paused)",
        "!has(object.spec.paused) || object.spec.paused",
        "has(object.spec.paused) ? object.spec.paused : true",
        "(has(object.spec.paused) ? object.spec.paused : false) && object.spec.paused",
        "(!has(object.spec.paused) ? true : object.spec.paused) || object.spec.paused",
        "'x' in ['y'].map(y, y) && object.spec.replicas > 1",
        "object.metadata.?labels.orValue({}).all(k, object.metadata.labels[k] != '')",
        "!(has(object.spec.paused) && object.spec.paused)",
        "(has(object.spec.paused) && true) && object.spec.paused",
        "(true && has(object.spec.paused)) && object.spec.paused",
        "!(!has(object.spec.paused) || false) && object.spec.paused",
        "!(false || !has(object.spec.paused)) && object.spec.paused",
        "!has(object.spec.paused) || false || object.spec.paused",
        "false || !has(object.spec.paused) || object.spec.paused",
        "has(object.spec.paused) != false && object.spec.paused",
        "true == has(object.spec.paused) && object.spec.paused",
        "(true ? has(object.spec.paused) : false) && object.spec.paused",
        "has(object.spec.paused) == true && object.spec.paused",
        "object.spec.?paused.orValue(false)",
        "object.spec.?paused.hasValue() && object.spec.paused",
        "has(object.metadata.labels) && 'x' in object.metadata.labels && "
        "object.metadata.labels['x'] == 'y'",
        "'x' in object.metadata.?labels.orValue({}) && object.metadata.labels.x == 'y'",
        "object.metadata.?labels['x'].orValue('') == 'y'",
        "object.metadata.?labels.x.orValue('') == 'y'",
        "object.spec.template.spec.containers.all(c, has(c.securityContext) && "
        "has(c.securityContext.privileged) && c.securityContext.privileged)",
        f"has({MINIMUM}) == has({PAUSED}) && (!has({MINIMUM}) || {PAUSED})",
        f"!has({MINIMUM}) == !has({PAUSED}) && (!has({MINIMUM}) || {PAUSED})",
        f"(!has({MINIMUM}) || has({PAUSED})) && (!has({MINIMUM}) || {PAUSED})",
        f"(has({PAUSED}) || !has({MINIMUM})) && (!has({MINIMUM}) || {PAUSED})",
        f"(has({MINIMUM}) ? has({PAUSED}) && true : true) && (!has({MINIMUM}) || {PAUSED})",
        "(object.spec.?minReadySeconds.hasValue() == object.spec.?paused.hasValue()) && "
        f"(!has({MINIMUM}) || {PAUSED})",
        "has(object.metadata.labels) && ('a' in object.metadata.labels) == has(object.spec.paused) "
        f"&& (!('a' in object.metadata.labels) || {PAUSED})",
        f"(!has({MINIMUM}) || has({PAUSED})) && (!has({PAUSED}) || has(object.metadata.labels)) && "
        f"(!has({MINIMUM}) || 'a' in object.metadata.labels)",
        "object.spec.nonsense == 1",
        "request.name != ''",
        "'x' in request.userInfo.groups",
    ],
)
def test_fields_that_are_there(text: str) -> None:
    assert about("CEL025", text) == []


def test_match_conditions_and_variables_guard() -> None:
    text = "object.spec.paused == true"
    conditions = [{"name": "c", "expression": "has(object.spec.paused)"}]
    assert about("CEL025", text, matchConditions=conditions) == []
    variables = [
        {"name": "has", "expression": "has(object.spec.paused)"},
        {"name": "paused", "expression": "object.spec.paused"},
    ]
    assert about("CEL025", "variables.has && variables.paused", variables=variables) == []
    assert about("CEL025", "variables.paused == true", variables=variables) == [
        ("spec.variables[1].expression", 11)
    ]


def test_variables_that_use_each_other() -> None:
    variables = [{"name": "v0", "expression": "object.spec"}] + [
        {"name": f"v{i}", "expression": f"[variables.v{i - 1}, variables.v{i - 1}]"}
        for i in range(1, 60)
    ]
    assert about("CEL025", "variables.v59 != null", variables=variables) == []


@pytest.mark.parametrize("body", ["variables.v{}.a", "variables.v{} && has(object.spec.a)"])
def test_long_chains_of_variables(body: str) -> None:
    """Too long to be followed: no rule says more than it knows, and none fails."""
    variables = [{"name": "v0", "expression": "has(object.spec.x)"}]
    variables += [{"name": f"v{i}", "expression": body.format(i - 1)} for i in range(1, 600)]
    given = policy(variables=variables, validations=[{"expression": "variables.v599 == true"}])
    assert all(one.message for one in lint([given], SETTINGS))


@pytest.mark.parametrize(
    ("text", "speaks"),
    [
        ("object.metadata.name != ''", True),
        ("object == null || object.metadata.name != ''", False),
        ("object != null && object.metadata.name != ''", False),
        ("request.operation == 'DELETE' || object.metadata.name != ''", False),
        ("request.operation != 'DELETE' ? object.metadata.name != '' : true", False),
        ("request.operation in ['CREATE', 'UPDATE'] && object.metadata.name != ''", False),
        ("!(request.operation in ['CREATE', 'UPDATE']) || object.metadata.name != ''", False),
        ("request.operation in ['CREATE', 'DELETE'] && object.metadata.name != ''", True),
        ("request.operation in [request.name] && object.metadata.name != ''", True),
        ("has(object.metadata)", False),
        ("has(object.metadata.labels)", True),
        ("object.?metadata.labels.hasValue()", False),
        ("oldObject.metadata.name != ''", False),
        ("oldObject == null ? object.spec.replicas > 1 : true", False),
        ("oldObject != null || object.spec.replicas > 1", False),
        ("oldObject == null || object.spec.replicas > 1", True),
    ],
)
def test_object_on_delete(text: str, speaks: bool) -> None:
    assert bool(about("CEL020", text, matchConstraints=DELETES)) is speaks


def test_operations_of_match_conditions() -> None:
    conditions = [{"name": "c", "expression": "request.operation != 'DELETE'"}]
    text = "object.metadata.name != ''"
    assert about("CEL020", text, matchConstraints=DELETES, matchConditions=conditions) == []


@pytest.mark.parametrize(
    ("text", "speaks"),
    [
        ("oldObject.spec.replicas > 1", True),
        ("oldObject == null || oldObject.spec.replicas > 1", False),
        ("request.operation == 'CREATE' || oldObject.spec.replicas > 1", False),
        ("object == null && oldObject.spec.replicas > 1", False),
        ("oldObject.?spec.replicas.hasValue()", False),
        ("object.spec.replicas > 1", False),
    ],
)
def test_old_object_on_create(text: str, speaks: bool) -> None:
    assert bool(about("CEL021", text)) is speaks


def test_old_object_where_only_updates_are_matched() -> None:
    rule = {**DELETES["resourceRules"][0], "operations": ["UPDATE"]}
    constraints = {"resourceRules": [rule]}
    assert about("CEL021", "oldObject.spec.replicas > 1", matchConstraints=constraints) == []


@pytest.mark.parametrize(
    ("resource", "group", "text", "speaks"),
    [
        ("deployments", "apps", "namespaceObject.metadata.name != ''", False),
        ("namespaces", "", "namespaceObject.metadata.name != ''", True),
        ("nodes", "", "namespaceObject.metadata.name != ''", True),
        ("nodes", "", "namespaceObject == null || namespaceObject.metadata.name != ''", False),
    ],
)
def test_namespace_object(resource: str, group: str, text: str, speaks: bool) -> None:
    rule = {"apiGroups": [group], "apiVersions": ["v1"], "operations": ["CREATE"]}
    constraints = {"resourceRules": [{**rule, "resources": [resource]}]}
    assert bool(about("CEL022", text, matchConstraints=constraints)) is speaks


def test_namespace_object_in_conditions() -> None:
    conditions = [{"name": "c", "expression": "namespaceObject.metadata.name == 'x'"}]
    assert about("CEL022", "true", matchConditions=conditions) == [
        ("spec.matchConditions[0].expression", 15)
    ]


def params(text: str, **of_binding: Any) -> int:
    given = policy(
        paramKind={"apiVersion": "v1", "kind": "ConfigMap"}, validations=[{"expression": text}]
    )
    return len(found("CEL024", given, binding(**of_binding)))


def test_params() -> None:
    ref = {"name": "x", "namespace": "y", "parameterNotFoundAction": "Deny"}
    assert params("params.data.x == 'y'") == 1
    assert params("params.data.x == 'y'", paramRef=ref) == 0
    assert params("params != null && params.data.x == 'y'") == 0
    assert params("params == null") == 0


@pytest.mark.parametrize(
    ("validation", "severity"),
    [
        ({"messageExpression": "object.metadata.labels.x"}, "warning"),
        ({"messageExpression": "object.metadata.labels.x", "message": "m"}, "info"),
        ({"messageExpression": "object.metadata.name"}, None),
        ({"expression": "has(object.spec.paused) && object.spec.paused"}, None),
        (
            {
                "expression": "!has(object.spec.paused)",
                "messageExpression": "string(object.spec.paused)",
            },
            None,
        ),
    ],
)
def test_messages(validation: dict[str, str], severity: str | None) -> None:
    given = policy(validations=[{"expression": "false", **validation}])
    severities = [one.severity.value for one in found("CEL026", given)]
    assert severities == ([severity] if severity else [])


def test_authorizer_in_annotations() -> None:
    check = "authorizer.requestResource.check('x').reason()"
    given = policy(auditAnnotations=[{"key": "k", "valueExpression": f"  {check}"}])
    (one,) = found("CEL023", given)
    assert (one.spot.field, one.spot.offset) == ("spec.auditAnnotations[0].valueExpression", 12)


@pytest.mark.parametrize(
    ("resource", "group", "speaks"),
    [("pods", "", False), ("nodes", "", True), ("*", "*", True)],
)
def test_requests_of_clustered_kinds_have_no_namespace(
    resource: str, group: str, speaks: bool
) -> None:
    rule = {
        "apiGroups": [group],
        "apiVersions": ["v1"],
        "operations": ["CREATE"],
        "resources": [resource],
    }
    spec = {"matchConstraints": {"resourceRules": [rule]}}
    assert bool(about("CEL025", "request.namespace == 'a'", **spec)) is speaks


def test_top_level_fields_may_be_absent_too() -> None:
    rule = {
        "apiGroups": [""],
        "apiVersions": ["v1"],
        "operations": ["CREATE"],
        "resources": ["configmaps"],
    }
    spec = {"matchConstraints": {"resourceRules": [rule]}}
    assert about("CEL025", "object.data.x == 'a'", **spec)
    assert about("CEL025", "object.immutable", **spec) == [(AT, 6)]
    assert about("CEL025", "object.kind == 'a' && object.metadata.name == 'b'", **spec) == []


@pytest.mark.parametrize(
    ("text", "message", "guard"),
    [
        (
            "object.spec.paused",
            "a Deployment need not have `object.spec.paused`; without it the expression fails with "
            "`no such key: paused`",
            "has(object.spec.paused)",
        ),
        (
            "has(object.metadata.labels) && object.metadata.labels['a-b'] == 'x'",
            "a Deployment need not have `object.metadata.labels.a-b`; without it the expression "
            "fails with `no such key: a-b`",
            "'a-b' in object.metadata.labels",
        ),
    ],
)
def test_what_is_said_of_fields(text: str, message: str, guard: str) -> None:
    one = found("CEL025", policy(validations=[{"expression": text}]))[0]
    assert one.message == message
    assert one.help == f"guard it with `{guard}`, or read it with `?` and `orValue`"


@pytest.mark.parametrize(
    ("path", "optional"),
    [
        ("subResource", True),
        ("requestSubResource", True),
        ("userInfo.uid", True),
        ("userInfo.extra", True),
        ("namespace", False),
        ("name", False),
        ("operation", False),
        ("userInfo.username", False),
        ("userInfo.groups", False),
        ("dryRun", False),
        ("requestKind.group", False),
    ],
)
def test_members_of_requests(path: str, optional: bool) -> None:
    """The policy is about Deployments, which have a namespace."""
    assert bool(about("CEL025", f"request.{path} != dyn(1)")) is optional
    guarded = f"has(request.{path}) && request.{path} != dyn(1)"
    assert about("CEL025", guarded) == []


# --- rules of definitions ---

FIELDS = {
    "required": ["must"],
    "properties": {
        "must": {"type": "string"},
        "may": {"type": "string"},
        "may-be": {"type": "string"},
        "list": {
            "type": "array",
            "items": {"type": "object", "properties": {"x": {"type": "string"}}},
        },
    },
}
UPDATE_ONLY = "has(self.may) && has(oldSelf.may)"


@pytest.mark.parametrize(
    ("rules", "spots"),
    [
        (["self.must == 'a'"], []),
        (["self.may == 'a'"], [(0, "rule", 4)]),
        (["self.may__dash__be == 'a'"], [(0, "rule", 4)]),
        (["!has(self.may) || self.may == 'a'", "self.?may.orValue('') == 'a'"], []),
        (["!has(self.list) || self.list.all(one, one.x == 'a')"], [(0, "rule", 41)]),
        (["!has(self.may) || self.may == oldSelf.may"], [(0, "rule", 37)]),
        (["self.may == 'a'", "has(self.may)"], []),
        (["oldSelf.may == 'a'", "has(self.may)"], []),
        (["self.may == 'a'", UPDATE_ONLY], [(0, "rule", 4)]),
        (["oldSelf.may == self.may", UPDATE_ONLY], []),
        (
            [
                "has(self.may) == has(oldSelf.may) && (!has(self.may) || self.may == oldSelf.may)",
            ],
            [],
        ),
        (["!has(oldSelf.may) || self.may == oldSelf.may"], [(0, "rule", 25)]),
        (
            ["!has(oldSelf.may) || self.may == oldSelf.may", "!has(oldSelf.may) || has(self.may)"],
            [],
        ),
    ],
)
def test_optional_fields_of_rules(rules: list[str], spots: list[tuple[int, str, int]]) -> None:
    """What other rules at the node demand is there, if they are evaluated whenever this one is."""
    assert about_rules("CEL025", *rules, **FIELDS) == spots


def test_what_is_said_of_fields_of_rules() -> None:
    one = found("CEL025", definition("self.may == 'a'", **FIELDS))[0]
    assert one.message == (
        "an object need not have `self.may`; without it the rule can fail with `no such key: may`"
    )
    assert one.help == "guard it with `has(self.may)`, or read it with `?` and `orValue`"


@pytest.mark.parametrize(
    ("rule", "offset"),
    [
        ("oldSelf.value().must == 'a'", 13),
        ("oldSelf.hasValue() || oldSelf.value().must == 'a'", 35),
        ("oldSelf.hasValue() && oldSelf.value().must == 'a'", None),
        ("!oldSelf.hasValue() || oldSelf.value().must == 'a'", None),
        ("oldSelf.hasValue() ? oldSelf.value().must == 'a' : true", None),
        ("oldSelf.optMap(old, old.must == 'a').orValue(true)", None),
        ("oldSelf.orValue(self).must == 'a'", None),
    ],
)
def test_old_self_on_create(rule: str, offset: int | None) -> None:
    given = {"rule": rule, "optionalOldSelf": True}
    expected = [] if offset is None else [(0, "rule", offset)]
    assert about_rules("CEL021", given, **FIELDS) == expected


MESSAGES: list[tuple[str, dict[str, Any], int | None]] = [
    ("self.must == 'a'", {"messageExpression": "'not ' + self.must"}, -1),
    ("self.must == 'a'", {"messageExpression": "'not ' + self.may"}, 13),
    ("!has(self.may)", {"messageExpression": "'not ' + self.may"}, -1),
    ("self == oldSelf", {"messageExpression": "'was ' + oldSelf.must"}, -1),
    ("self == oldSelf", {"messageExpression": "'was ' + oldSelf.may"}, 16),
    ("self.must == 'a'", {"messageExpression": "'was ' + oldSelf.may"}, None),
    (
        "oldSelf.hasValue()",
        {"messageExpression": "'was ' + oldSelf.value().must", "optionalOldSelf": True},
        None,
    ),
]


@pytest.mark.parametrize(("rule", "more", "offset"), MESSAGES)
def test_fragile_messages_of_rules(rule: str, more: dict[str, Any], offset: int | None) -> None:
    """Without an offset it is about the whole message; -1 stands for no finding."""
    expected = [] if offset == -1 else [(0, "messageExpression", offset)]
    assert about_rules("CEL026", {"rule": rule, **more}, **FIELDS) == expected
    assert about_rules("CEL021", {"rule": rule, **more}, **FIELDS) == []


@pytest.mark.parametrize(("message", "severity"), [("", "warning"), ("no", "info")])
def test_how_bad_a_fragile_message_is(message: str, severity: str) -> None:
    given = {"rule": "false", "messageExpression": "'was ' + oldSelf.must", "message": message}
    assert found("CEL026", definition(given, **FIELDS))[0].severity.value == severity
