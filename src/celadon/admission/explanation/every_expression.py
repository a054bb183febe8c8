"""All expressions of a policy, compiled, whether anything evaluates them or not.

A run of an expression (`ExpressionRun`) names the same field; the nodes of both have the same ids,
since the same text is parsed in the same way.
"""

from __future__ import annotations

from celadon.admission.expressions.compiled_expressions import Expression
from celadon.admission.mutating.compiled_mutations import compile_mutating_policy
from celadon.admission.policy.compiled_policy import compile_policy
from celadon.admission.registration.registration_types import (
    MutatingAdmissionPolicy,
    ValidatingAdmissionPolicy,
)


def policy_expressions(
    policy: ValidatingAdmissionPolicy | MutatingAdmissionPolicy, version: str
) -> tuple[Expression, ...]:
    """Match conditions, variables, then validations with their messages and audit annotations, or
    mutations; as this version of Kubernetes compiles what it has stored."""
    if isinstance(policy, MutatingAdmissionPolicy):
        mutating = compile_mutating_policy(policy, version)
        conditions, variables = mutating.conditions, mutating.variables
        found = [one.expression for one in mutating.mutations]
    else:
        compiled = compile_policy(policy, version)
        conditions, variables = compiled.conditions, compiled.variables
        found = []
        for one in compiled.validations:
            found.append(one.expression)
            if one.message_expression is not None:
                found.append(one.message_expression)
        found += [annotation.expression for annotation in compiled.annotations]
    return (*(one.expression for one in conditions), *variables.values(), *found)
