"""A policy to a `CompiledPolicy`: its programs, and what evaluation wants to know beforehand.

Compiling never fails: an expression that does not compile stays in the policy with its error, which
becomes a decision when the policy is evaluated.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import field
from typing import Any, Final

from celadon.admission import decision_source
from celadon.admission.expressions.compiled_expressions import (
    ANNOTATION_RESULT,
    BOOL_RESULT,
    MESSAGE_RESULT,
    Expression,
    ExpressionMemory,
    PolicyScope,
)
from celadon.admission.policy.plain_sizes import Phase, condition_phase, plain_size
from celadon.admission.policy.policy_frame import PolicyFrame, compile_frame, uses_authorizer
from celadon.admission.registration.registration_types import (
    IGNORE,
    AuditAnnotation,
    ValidatingAdmissionPolicy,
    Validation,
)
from celadon.kube.go import trim_space
from celadon.kube.library import DEFAULT_VERSION
from celadon.records import dataclass

_OF_REQUESTS: Final = ("request", "namespaceObject")
"""What a request brings besides objects, as expressions name it."""


@dataclass(frozen=True, slots=True)
class CompiledValidation:
    """`default_message` is the text when no message expression gives one."""

    expression: Expression
    message_expression: Expression | None
    default_message: str
    reason: str


@dataclass(frozen=True, slots=True)
class CompiledAnnotation:
    """An audit annotation: a string to publish, or null for none."""

    key: str
    expression: Expression


@dataclass(frozen=True, slots=True)
class CompiledPolicy(PolicyFrame):
    """`quick` are the programs of the validations, where these alone decide as long as they are
    true; empty for policies that ask for more than the request, or have a broken expression.
    `counted` are the same, counting what they cost; empty where messages cost something, too."""

    validations: tuple[CompiledValidation, ...]
    annotations: tuple[CompiledAnnotation, ...]
    has_messages: bool
    quick: tuple[Callable[[Mapping[str, Any]], Any], ...] = field(init=False)
    counted: tuple[Callable[[Mapping[str, Any], int], tuple[Any, int]], ...] = field(init=False)

    def __post_init__(self) -> None:
        programs = [validation.expression.program for validation in self.validations]
        asks_for_more = (
            self.conditions
            or self.variables
            or self.annotations
            or self.uses_authorizer
            or self.param_kind
        )
        alone = () if asks_for_more or None in programs else programs
        known = tuple(program for program in alone if program is not None)
        object.__setattr__(self, "quick", tuple(one.evaluate for one in known))
        counted = () if self.has_messages else known
        object.__setattr__(self, "counted", tuple(one.evaluate_metered for one in counted))

    @property
    def expressions(self) -> tuple[Expression, ...]:
        """And those of its own."""
        messages = (one.message_expression for one in self.validations)
        return (
            *self.frame_expressions,
            *(one.expression for one in self.validations),
            *(one for one in messages if one is not None),
            *(one.expression for one in self.annotations),
        )

    @property
    def reads_objects_only(self) -> bool:
        """Whether no validation may read the request or its namespace."""
        texts = [one.expression.text for one in self.validations]
        return not any(name in text for text in texts for name in _OF_REQUESTS)


def compile_policy(
    policy: ValidatingAdmissionPolicy,
    version: str = DEFAULT_VERSION,
    memory: ExpressionMemory | None = None,
) -> CompiledPolicy:
    """As a stored policy: everything this version of Kubernetes knows may be used. Expressions in
    the `memory` are not compiled again."""
    spec = policy.spec
    scope, variables, conditions = compile_frame(policy.name, spec, version, memory)
    validations = tuple(_validation(i, v, scope) for i, v in enumerate(spec.validations))
    annotations = tuple(_annotation(i, a, scope) for i, a in enumerate(spec.audit_annotations))
    messages = [v.message_expression for v in validations if v.message_expression is not None]
    phases = (
        condition_phase(conditions),
        Phase((*(v.expression for v in validations), *messages), computed=2),
        Phase(tuple(a.expression for a in annotations)),
    )
    return CompiledPolicy(
        name=policy.name,
        param_kind=spec.param_kind,
        ignores_failures=spec.failure_policy == IGNORE,
        conditions=conditions,
        variables=variables,
        uses_authorizer=uses_authorizer(variables, phases),
        plain_size=plain_size(variables, phases),
        validations=validations,
        annotations=annotations,
        has_messages=bool(messages),
    )


def _annotation(index: int, annotation: AuditAnnotation, scope: PolicyScope) -> CompiledAnnotation:
    source, text = decision_source.annotation(index), annotation.value_expression
    compiled = scope.compile(text, ANNOTATION_RESULT, stored=True, source=source)
    return CompiledAnnotation(annotation.key, compiled)


def _validation(index: int, validation: Validation, scope: PolicyScope) -> CompiledValidation:
    message = None
    if validation.message_expression:
        message = scope.compile(
            validation.message_expression,
            MESSAGE_RESULT,
            authorizer=False,
            stored=True,
            source=decision_source.message(index),
        )
    default = trim_space(validation.message)
    source = decision_source.validation(index)
    return CompiledValidation(
        scope.compile(validation.expression, BOOL_RESULT, stored=True, source=source),
        message,
        default or f"failed expression: {trim_space(validation.expression)}",
        validation.reason or "",
    )
