"""Complaints about policies and bindings, row by row after the reference's examples."""

from __future__ import annotations

from typing import Any

import pytest

from celadon.admission.registration.decoding import RegistrationError, decode_binding, decode_policy
from celadon.admission.registration.policy_validation import validate_binding, validate_policy

RULE = {
    "apiGroups": [""],
    "apiVersions": ["v1"],
    "operations": ["CREATE"],
    "resources": ["pods"],
}
CONSTRAINTS = {"resourceRules": [RULE]}
P = "spec.matchConstraints.resourceRules[0]"


def policy_errors(spec: dict[str, Any], **metadata: Any) -> list[str]:
    document = {"metadata": {"name": "config", **metadata}, "spec": spec}
    return [str(error) for error in validate_policy(decode_policy(document).value)]


def complete(**spec: Any) -> dict[str, Any]:
    return {"matchConstraints": CONSTRAINTS, "validations": [{"expression": "true"}], **spec}


def with_rule(**changes: Any) -> dict[str, Any]:
    return complete(matchConstraints={"resourceRules": [{**RULE, **changes}]})


def with_match(**changes: Any) -> dict[str, Any]:
    return complete(matchConstraints={**CONSTRAINTS, **changes})


def test_a_good_policy() -> None:
    assert policy_errors(complete()) == []


SPEC_ROWS: list[tuple[dict[str, Any], str]] = [
    (
        complete(failurePolicy="Retry"),
        'spec.failurePolicy: Unsupported value: "Retry": supported values: "Fail", "Ignore"',
    ),
    (
        complete(failurePolicy=""),
        'spec.failurePolicy: Unsupported value: "": supported values: "Fail", "Ignore"',
    ),
    (complete(matchConstraints={}), "spec.matchConstraints.resourceRules: Required value"),
    (complete(paramKind={"apiVersion": "v1"}), "spec.paramKind.kind: Required value"),
    (
        complete(paramKind={"apiVersion": "a/b/c", "kind": "K"}),
        'spec.paramKind.apiVersion: Invalid value: "a/b/c": unexpected GroupVersion string: a/b/c',
    ),
    (
        complete(paramKind={"apiVersion": "apps/", "kind": "K"}),
        'spec.paramKind.apiVersion: Invalid value: "apps/": version must be specified',
    ),
    (with_rule(operations=[]), f"{P}.operations: Required value"),
    (
        with_rule(operations=["*", "CREATE"]),
        f'{P}.operations: Invalid value: ["*","CREATE"]: if \'*\' is present, must not specify '
        "other operations",
    ),
    (
        with_rule(operations=["PATCH"]),
        f'{P}.operations[0]: Unsupported value: "PATCH": supported values: "*", "CONNECT", '
        '"CREATE", "DELETE", "UPDATE"',
    ),
    (with_rule(apiVersions=[""]), f"{P}.apiVersions[0]: Required value"),
    (
        with_rule(resources=["*", "pods"]),
        f'{P}.resources: Invalid value: ["*","pods"]: if \'*\' is present, must not specify other '
        "resources without subresources",
    ),
    (
        with_rule(resources=["pods/*", "pods/log"]),
        f"{P}.resources[1]: Invalid value: \"pods/log\": if 'pods/*' is present, must not specify "
        "pods/log",
    ),
    (
        with_rule(resources=["*/*", "pods"]),
        f'{P}.resources: Invalid value: ["*/*","pods"]: if \'*/*\' is present, must not specify '
        "other resources",
    ),
    (
        with_rule(resources=["*/scale", "deployments/scale"]),
        f"{P}.resources[1]: Invalid value: \"deployments/scale\": if '*/scale' is present, must "
        "not specify deployments/scale",
    ),
    (
        with_rule(scope="Global"),
        f'{P}.scope: Unsupported value: "Global": supported values: "*", "Cluster", "Namespaced"',
    ),
    (with_rule(resourceNames=["a", "a"]), f'{P}.resourceNames[1]: Duplicate value: "a"'),
    (
        with_rule(resourceNames=["a/b"]),
        f"{P}.resourceNames[0]: Invalid value: \"a/b\": may not contain '/'",
    ),
    (
        with_match(matchPolicy="other"),
        'spec.matchConstraints.matchPolicy: Unsupported value: "other": supported values: '
        '"Equivalent", "Exact"',
    ),
    (
        with_match(namespaceSelector={"matchExpressions": [{"key": "a", "operator": "In"}]}),
        "spec.matchConstraints.namespaceSelector.matchExpressions[0].values: Required value: must "
        "be specified when `operator` is 'In' or 'NotIn'",
    ),
    (
        with_match(
            objectSelector={"matchExpressions": [{"key": "a", "operator": "Gt", "values": ["1"]}]}
        ),
        "spec.matchConstraints.objectSelector.matchExpressions[0].operator: Invalid value: "
        '"Gt": not a valid selector operator',
    ),
    (
        complete(validations=[{"expression": " "}]),
        "spec.validations[0].expression: Required value: expression is not specified",
    ),
    (
        complete(validations=[{"expression": "1 + 1"}]),
        'spec.validations[0].expression: Invalid value: "1 + 1": must evaluate to bool but got int',
    ),
    (
        complete(validations=[{"expression": "object.spec.paused"}]),
        'spec.validations[0].expression: Invalid value: "object.spec.paused": must evaluate to '
        "bool but got dyn",
    ),
    (
        complete(validations=[{"expression": "foo"}]),
        'spec.validations[0].expression: Invalid value: "foo": compilation failed: ERROR: '
        "<input>:1:1: undeclared reference to 'foo' (in container '')\n | foo\n | ^",
    ),
    (
        complete(validations=[{"expression": "int('x') == 1"}]),
        "spec.validations[0].expression: Internal error: program instantiation failed: "
        "type conversion error from 'string' to 'int'",
    ),
    (
        complete(validations=[{"expression": "type(request) == kubernetes.AdmissionRequest"}]),
        "spec.validations[0].expression: Internal error: program instantiation failed: "
        "reference to undefined type: kubernetes.AdmissionRequest",
    ),
    (
        complete(validations=[{"expression": "timestamp"}]),
        'spec.validations[0].expression: Invalid value: "timestamp": must evaluate to bool but got '
        "type(google.protobuf.Timestamp)",
    ),
    (
        complete(validations=[{"expression": "true", "messageExpression": "0 == 0"}]),
        'spec.validations[0].messageExpression: Invalid value: "0 == 0": must evaluate to string '
        "but got bool",
    ),
    (
        complete(validations=[{"expression": "true", "message": "a\nb"}]),
        r'spec.validations[0].message: Invalid value: "a\nb": must not contain line breaks',
    ),
    (
        complete(validations=[{"expression": "true", "reason": "Unauthorized"}]),
        'spec.validations[0].reason: Unsupported value: "Unauthorized": supported values: '
        '"Forbidden", "Invalid", "RequestEntityTooLarge"',
    ),
    (
        complete(variables=[{"name": "4ever", "expression": "true"}]),
        'spec.variables[0].name: Invalid value: "4ever": must be a valid CEL identifier',
    ),
    (
        complete(
            variables=[{"name": "foo", "expression": "1"}],
            validations=[{"expression": "variables.replicas == 2"}],
        ),
        'spec.validations[0].expression: Invalid value: "variables.replicas == 2": compilation '
        "failed: ERROR: <input>:1:10: undefined field 'replicas'\n | variables.replicas == 2\n"
        " | .........^",
    ),
    (
        complete(
            variables=[
                {"name": "a", "expression": "variables.b"},
                {"name": "b", "expression": "1"},
            ]
        ),
        'spec.variables[0].expression: Invalid value: "variables.b": compilation failed: ERROR: '
        "<input>:1:10: undefined field 'b'\n | variables.b\n | .........^",
    ),
    (
        complete(auditAnnotations=[{"key": "a", "valueExpression": "true"}]),
        'spec.auditAnnotations[0].valueExpression: Invalid value: "true": must evaluate to one of '
        "[string null_type] but got bool",
    ),
    (
        complete(auditAnnotations=[{"key": "a", "valueExpression": "'x'"}] * 2),
        'spec.auditAnnotations[1].key: Duplicate value: "a"',
    ),
    (
        complete(auditAnnotations=[{"key": "a", "valueExpression": f"'{'x' * 5119}'"}]),
        "spec.auditAnnotations[0].valueExpression: Required value: must not exceed 5120 bytes in "
        "length",
    ),
    (
        complete(matchConditions=[{"expression": "true"}]),
        "spec.matchConditions[0].name: Required value",
    ),
    (
        complete(matchConditions=[{"name": "x", "expression": " params.a == 1 "}]),
        'spec.matchConditions[0].expression: Invalid value: "params.a == 1": compilation failed: '
        "ERROR: <input>:1:1: undeclared reference to 'params' (in container '')\n"
        " | params.a == 1\n | ^",
    ),
    (
        complete(
            variables=[{"name": "v", "expression": "true"}],
            matchConditions=[{"name": "x", "expression": "variables.v"}],
        ),
        'spec.matchConditions[0].expression: Invalid value: "variables.v": compilation failed: '
        "ERROR: <input>:1:1: undeclared reference to 'variables' (in container '')\n"
        " | variables.v\n | ^",
    ),
    (
        complete(
            matchConditions=[{"name": f"c{i}", "expression": "true"} for i in range(65)],
        ),
        "spec.matchConditions: Too many: 65: must have at most 64 items",
    ),
]


@pytest.mark.parametrize(("spec", "expected"), SPEC_ROWS)
def test_policy_specs(spec: dict[str, Any], expected: str) -> None:
    assert policy_errors(spec) == [expected]


def test_an_empty_spec_misses_three_things() -> None:
    detail = "validations or auditAnnotations must contain at least one item"
    assert policy_errors({}) == [
        "spec.matchConstraints: Required value",
        f"spec.validations: Required value: {detail}",
        f"spec.auditAnnotations: Required value: {detail}",
    ]


def test_too_many_annotations_show_their_go_names() -> None:
    annotations = [{"key": f"k{i}", "valueExpression": "'x'"} for i in range(21)]
    (error,) = policy_errors(complete(auditAnnotations=annotations))
    assert error.startswith('spec.auditAnnotations: Invalid value: [{"Key":"k0","ValueExpression"')
    assert error.endswith(": must not have more than 20 auditAnnotations")


ACCEPTED: list[dict[str, Any]] = [
    with_rule(resources=["pods", "*"]),
    with_rule(resources=["pods/log", "pods/*"]),
    with_rule(operations=["CREATE", "CREATE"]),
    with_rule(resourceNames=[""]),
    complete(variables=[{"name": "a", "expression": "1"}, {"name": "a", "expression": "'x'"}]),
    complete(validations=[{"expression": "true &&\n true"}]),
    complete(validations=[{"expression": "true", "message": "\nends trimmed\n"}]),
    complete(paramKind={"apiVersion": "/v1", "kind": "K"}),
]


@pytest.mark.parametrize("spec", ACCEPTED)
def test_accepted_though_one_might_not_think_so(spec: dict[str, Any]) -> None:
    assert policy_errors(spec) == []


def test_a_broken_variable_does_not_cascade() -> None:
    errors = policy_errors(
        complete(
            variables=[{"name": "v", "expression": "nope"}],
            validations=[{"expression": "variables.v == 1"}],
        )
    )
    assert len(errors) == 1
    assert errors[0].startswith("spec.variables[0].expression")


def update_errors(old: dict[str, Any], new: dict[str, Any]) -> list[str]:
    before, after = (
        decode_policy({"metadata": {"name": "p"}, "spec": s}).value for s in (old, new)
    )
    return [str(error) for error in validate_policy(after, before)]


def test_unchanged_match_conditions_are_not_looked_at() -> None:
    broken = [{"name": "x", "expression": "nope"}]
    old = complete(matchConditions=broken)
    assert update_errors(old, complete(matchConditions=broken, failurePolicy="Ignore")) == []
    kind = {"apiVersion": "v1", "kind": "ConfigMap"}
    assert len(update_errors(old, complete(matchConditions=broken, paramKind=kind))) == 1


METADATA: list[tuple[dict[str, Any], str]] = [
    ({"name": ""}, "metadata.name: Required value: name or generateName is required"),
    (
        {"labels": {"a b": "c"}},
        'metadata.labels: Invalid value: "a b": name part must consist of',
    ),
    ({"labels": {"a": "c d"}}, 'metadata.labels: Invalid value: "c d": a valid label must be'),
    (
        {"annotations": {"a": "x" * 262144}},
        "metadata.annotations: Too long: may not be more than 262144 bytes",
    ),
    (
        {"ownerReferences": [{"kind": "X", "name": "y", "apiVersion": "v1"}]},
        'metadata.ownerReferences.uid: Invalid value: "": must not be empty',
    ),
    (
        {"finalizers": ["orphan", "foregroundDeletion"]},
        'metadata.finalizers: Invalid value: ["orphan","foregroundDeletion"]: finalizer orphan and '
        "foregroundDeletion cannot be both set",
    ),
]


@pytest.mark.parametrize(("metadata", "expected"), METADATA)
def test_metadata(metadata: dict[str, Any], expected: str) -> None:
    (error,) = policy_errors(complete(), **metadata)
    assert error.startswith(expected)


def binding_errors(**spec: Any) -> list[str]:
    given = {"policyName": "p", "validationActions": ["Deny"], **spec}
    document = {"metadata": {"name": "b"}, "spec": given}
    return [str(error) for error in validate_binding(decode_binding(document).value)]


EXCLUSIVE = "name and selector are mutually exclusive"
FITTING_ACTIONS = (("Warn",), ("Audit",), ("Deny", "Audit"), ("Warn", "Audit"))
BINDINGS: list[tuple[dict[str, Any], list[str]]] = [
    ({}, []),
    (
        {"policyName": "", "validationActions": []},
        [
            "spec.policyName: Required value",
            "spec.validationActions: Required value: at least one validation action is required",
        ],
    ),
    (
        {"validationActions": ["Deny", "Deny"]},
        ['spec.validationActions[1]: Duplicate value: "Deny"'],
    ),
    *(({"validationActions": list(actions)}, []) for actions in FITTING_ACTIONS),
    *(
        (
            {"validationActions": actions},
            [
                f"spec.validationActions: Invalid value: {shown}: must not contain both "
                "Deny and Warn (repeating the same validation failure "
                "information in the API response and headers serves no purpose)"
            ],
        )
        for actions, shown in (
            (["Deny", "Warn"], '["Deny","Warn"]'),
            (["Warn", "Audit", "Deny"], '["Warn","Audit","Deny"]'),
        )
    ),
    (
        {"validationActions": ["deny"]},
        [
            'spec.validationActions[0]: Unsupported value: "deny": supported values: "Audit", '
            '"Deny", "Warn"'
        ],
    ),
    (
        {"paramRef": {"name": "a", "selector": {}, "parameterNotFoundAction": "Deny"}},
        [
            f"spec.paramRef.name: Forbidden: {EXCLUSIVE}",
            f"spec.paramRef.selector: Forbidden: {EXCLUSIVE}",
        ],
    ),
    (
        {"paramRef": {"parameterNotFoundAction": "Deny"}},
        ["spec.paramRef: Required value: one of name or selector must be specified"],
    ),
    (
        {"paramRef": {"name": "a"}},
        ["spec.paramRef.parameterNotFoundAction: Required value"],
    ),
    (
        {"paramRef": {"name": "a", "parameterNotFoundAction": "Skip"}},
        [
            'spec.paramRef.parameterNotFoundAction: Unsupported value: "Skip": supported values: '
            '"Deny", "Allow"'
        ],
    ),
    ({"matchResources": {}}, []),
]


@pytest.mark.parametrize(("spec", "expected"), BINDINGS)
def test_bindings(spec: dict[str, Any], expected: list[str]) -> None:
    assert binding_errors(**spec) == expected


def test_decoding_defaults_and_names_unknown_fields() -> None:
    document = {
        "metadata": {"name": "p"},
        "spec": {
            "matchConstraints": {"resourceRules": [{**RULE, "resourceNames": []}], "typo": 1},
            "validations": [{"expression": "true", "message": ""}],
            "variables": [],
        },
    }
    decoded = decode_policy(document)
    assert [path.steps for path in decoded.unknown_fields] == [("spec", "matchConstraints", "typo")]
    assert decoded.document == {
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": "ValidatingAdmissionPolicy",
        "metadata": {"name": "p"},
        "spec": {
            "matchConstraints": {
                "resourceRules": [{**RULE, "scope": "*"}],
                "matchPolicy": "Equivalent",
                "namespaceSelector": {},
                "objectSelector": {},
            },
            "validations": [{"expression": "true"}],
            "failurePolicy": "Fail",
        },
        "status": {},
    }
    assert decoded.value.spec.match_constraints is not None
    assert decoded.value.spec.match_constraints.resource_rules[0].scope == "*"


def test_v1alpha1_has_a_default_of_its_own() -> None:
    document = {"metadata": {"name": "b"}, "spec": {"paramRef": {"name": "x"}}}
    old, new = (decode_binding(document, version) for version in ("v1alpha1", "v1"))
    assert old.value.spec.param_ref is not None
    assert old.value.spec.param_ref.parameter_not_found_action == "Deny"
    assert new.value.spec.param_ref is not None
    assert new.value.spec.param_ref.parameter_not_found_action is None


@pytest.mark.parametrize(
    ("spec", "text"),
    [
        (
            {"validations": "x"},
            "json: cannot unmarshal string into Go struct field "
            "ValidatingAdmissionPolicySpec.spec.validations of type []v1.Validation",
        ),
        (
            {"validations": [{"expression": 1}]},
            "json: cannot unmarshal number into Go struct field "
            "Validation.spec.validations.expression of type string",
        ),
    ],
)
def test_wrong_types_end_decoding(spec: dict[str, Any], text: str) -> None:
    with pytest.raises(RegistrationError) as caught:
        decode_policy({"metadata": {"name": "p"}, "spec": spec})
    assert str(caught.value) == (
        'ValidatingAdmissionPolicy in version "v1" cannot be handled as a '
        f"ValidatingAdmissionPolicy: {text}"
    )


@pytest.mark.parametrize("text", ["", " ", "\n\t"])
def test_annotations_say_something(text: str) -> None:
    (error,) = policy_errors(complete(auditAnnotations=[{"key": "a", "valueExpression": text}]))
    assert error == (
        "spec.auditAnnotations[0].valueExpression: Required value: valueExpression is not specified"
    )
