"""`x-kubernetes-validations`, compiled: the rules at one node of a schema.

As k8s.io/apiextensions-apiserver `pkg/apiserver/schema/cel/compilation.go`. A rule that cannot be
compiled keeps its complaint; an empty one has neither program nor complaint.
"""

from __future__ import annotations

from typing import Final

from celadon.cel import CheckedAst, Environment, Program, ProgramError
from celadon.cel.extend import types
from celadon.kube.custom.rules.rule_field_paths import field_path
from celadon.kube.fieldpath import ROOT, FieldPath
from celadon.kube.go.go_text import trim_space
from celadon.kube.schemas.schema_model import Schema, ValidationRule
from celadon.kube.schemas.schema_types import SchemaSizes, SchemaType, declared_type
from celadon.records import dataclass

SELF: Final = "self"
OLD_SELF: Final = "oldSelf"
TYPE_NAME: Final = "selfType"
"""Upstream appends a number that changes with every CRD, so that nobody relies on the name."""


@dataclass(frozen=True, slots=True)
class Expression:
    """One compiled expression and the most an evaluation can cost."""

    program: Program
    max_cost: int


@dataclass(frozen=True, slots=True)
class CompiledRule:
    """A rule ready to run, or what is wrong with it."""

    source: ValidationRule
    rule: Expression | None = None
    error: str = ""
    message: Expression | None = None
    message_error: str = ""
    uses_old_self: bool = False
    field: FieldPath = ROOT
    """The `fieldPath`, from the node on."""


@dataclass(frozen=True, slots=True)
class NodeRules:
    """The rules at a node, and the type they see; without a type there is an `error`."""

    rules: tuple[CompiledRule, ...]
    declared: SchemaType | None
    error: str = ""


def compile_rules(
    schema: Schema, environment: Environment, *, is_root: bool, place: str = "schema"
) -> NodeRules:
    """Compiles the rules of one node, not of those below it. Tracebacks call the programs by the
    `place` of the node (definition and field) and the rule's index."""
    if not schema.rules:
        return NodeRules((), None)
    found = declared_type(schema, TYPE_NAME, is_root=is_root)
    if found is None:
        keeps = "true" if schema.preserve_unknown else "false"
        error = (
            f"rule declared on schema that does not support validation rules type: '{schema.type}' "
            f"x-kubernetes-preserve-unknown-fields: '{keeps}'"
        )
        return NodeRules((), None, error)
    plain, optional = (
        environment.extend({SELF: found.type, OLD_SELF: old}, found.objects)
        for old in (found.type, types.optional_of(found.type))
    )
    compiled = tuple(
        _compile(
            rule,
            optional if rule.optional_old_self else plain,
            found,
            schema,
            f"{place} x-kubernetes-validations[{i}]",
        )
        for i, rule in enumerate(schema.rules)
    )
    return NodeRules(compiled, found)


@dataclass(frozen=True, slots=True)
class _Texts:
    """What the two kinds of expressions are called in complaints."""

    result: types.Type
    uncompiled: str
    wrong_result: str
    uninstantiated: str


_RULE: Final = _Texts(
    types.BOOL,
    "compilation failed",
    "cel expression must evaluate to a bool",
    "program instantiation failed",
)
_MESSAGE: Final = _Texts(
    types.STRING,
    "messageExpression compilation failed",
    "messageExpression must evaluate to a string",
    "messageExpression instantiation failed",
)


class _Refused(Exception):
    """An expression that cannot be compiled."""


def _compile(
    source: ValidationRule, environment: Environment, found: SchemaType, schema: Schema, name: str
) -> CompiledRule:
    if not trim_space(source.rule):
        return CompiledRule(source)
    try:
        checked, rule = _expression(source.rule, environment, found, _RULE, name)
    except _Refused as error:
        return CompiledRule(source, error=str(error))
    message, message_error = None, ""
    if source.message_expression:
        try:
            _, message = _expression(
                source.message_expression, environment, found, _MESSAGE, f"{name}.messageExpression"
            )
        except _Refused as error:
            message_error = str(error)
    uses_old_self = any(one.name == OLD_SELF for one in checked.references.values())
    path = (field_path(source.field_path, schema) if source.field_path else None) or ROOT
    return CompiledRule(source, rule, "", message, message_error, uses_old_self, path)


def _expression(
    text: str, environment: Environment, found: SchemaType, texts: _Texts, name: str
) -> tuple[CheckedAst, Expression]:
    compilation = environment.compile(text)
    checked = compilation.ast
    if checked is None:
        raise _Refused(f"{texts.uncompiled}: {compilation.issues.display()}")
    if checked.type != texts.result:
        raise _Refused(texts.wrong_result)
    try:
        program = environment.program(checked, name)
    except ProgramError as error:
        raise _Refused(f"{texts.uninstantiated}: {error}") from None
    cost = environment.estimate(checked, SchemaSizes(found)).max
    return checked, Expression(program, cost)
