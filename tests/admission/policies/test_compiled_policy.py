"""What a compiled policy knows and keeps in memory, and what its programs are called."""

from __future__ import annotations

import tracemalloc

import pytest

from celadon.admission import Engine, decode_binding, decode_policy
from celadon.admission.policies.compiled_policy import compile_policy
from tests.admission.building import policy

#: Bytes per policy with five expressions, all of them generated.
KEPT = 100 * 1024
EXPRESSIONS = [
    "object.spec.replicas <= 5",
    "object.spec.template.spec.containers.all(c, c.image.startsWith('registry.example.com/'))",
    "has(object.metadata.labels) && 'team' in object.metadata.labels",
    "object.spec.template.spec.containers.all(c, has(c.resources) && has(c.resources.limits))",
    "object.metadata.name.matches('^[a-z]([-a-z0-9]*[a-z0-9])?$')",
]


def engine(policies: int) -> Engine:
    decoded = [
        decode_policy(
            {
                "metadata": {"name": f"policy-{number}"},
                "spec": {
                    "matchConstraints": {
                        "resourceRules": [
                            {
                                "apiGroups": ["apps"],
                                "apiVersions": ["v1"],
                                "operations": ["CREATE", "UPDATE"],
                                "resources": ["deployments"],
                            }
                        ]
                    },
                    "validations": [{"expression": expression} for expression in EXPRESSIONS],
                },
            }
        ).value
        for number in range(policies)
    ]
    bindings = [
        decode_binding(
            {
                "metadata": {"name": policy.name},
                "spec": {"policyName": policy.name, "validationActions": ["Deny"]},
            }
        ).value
        for policy in decoded
    ]
    made = Engine(decoded, bindings)
    made.prepare()
    return made


@pytest.mark.thorough
def test_memory_of_a_policy() -> None:
    engine(1)
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        policies = 5
        kept = engine(policies)
        size = (tracemalloc.get_traced_memory()[0] - before) / policies
    finally:
        tracemalloc.stop()
    assert kept is not None
    assert size <= KEPT, f"{size:.0f} bytes"


def test_programs_are_named_by_policy_and_field() -> None:
    """So that a traceback says where it comes from."""
    policy = decode_policy(
        {
            "metadata": {"name": "require-owner"},
            "spec": {
                "matchConditions": [{"name": "all", "expression": "true"}],
                "variables": [{"name": "owner", "expression": "object.metadata.labels.owner"}],
                "validations": [
                    {"expression": "true"},
                    {"expression": "variables.owner != ''", "messageExpression": "'no'"},
                ],
                "auditAnnotations": [{"key": "owner", "valueExpression": "'owner'"}],
            },
        }
    ).value
    compiled = compile_policy(policy)
    message = compiled.validations[1].message_expression
    assert message is not None
    expressions = [
        compiled.conditions[0].expression,
        compiled.variables["owner"],
        *(validation.expression for validation in compiled.validations),
        message,
        compiled.annotations[0].expression,
    ]
    assert [one.program and one.program.name for one in expressions] == [
        "require-owner matchConditions[0]",
        "require-owner variables[0]",
        "require-owner validations[0]",
        "require-owner validations[1]",
        "require-owner validations[1].messageExpression",
        "require-owner auditAnnotations[0]",
    ]


@pytest.mark.parametrize(("version", "known"), [("1.33", False), ("1.34", True)])
def test_stored_policies_may_use_all_that_the_release_knows(version: str, known: bool) -> None:
    """What is new in a release, too, which nobody may write yet."""
    text, truth = "string([1].sort()[0])", "[2, 1].sort() == [1, 2]"
    made = compile_policy(
        policy(
            validations=[{"expression": truth, "messageExpression": text}],
            matchConditions=[{"name": "c", "expression": truth}],
            variables=[{"name": "v", "expression": truth}],
            auditAnnotations=[{"key": "k", "valueExpression": text}],
        ),
        version,
    )
    messages = [one.message_expression for one in made.validations]
    expressions = [
        *messages,
        *made.variables.values(),
        *(one.expression for one in made.conditions),
        *(one.expression for one in made.validations),
        *(one.expression for one in made.annotations),
    ]
    assert [one is not None and one.program is not None for one in expressions] == [known] * 5
