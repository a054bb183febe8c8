"""`x-kubernetes-validations`, compiled: the rules at one node of a schema.

As k8s.io/apiextensions-apiserver `pkg/apiserver/schema/cel/compilation.go`. A rule that cannot be
compiled keeps its complaint; an empty one has neither program nor complaint.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final, Protocol

from celadon.cel import CheckedAst, Environment, Program, ProgramError
from celadon.cel.extend import types
from celadon.kube.custom.rules.rule_field_paths import field_path
from celadon.kube.custom.rules.rule_scopes import OLD_SELF, SELF, rule_scopes
from celadon.kube.fieldpath import ROOT, FieldPath
from celadon.kube.go.go_text import trim_space
from celadon.kube.schemas.schema_model import Schema, ValidationRule
from celadon.kube.schemas.schema_types import SchemaSizes, SchemaType
from celadon.records import dataclass

WITHOUT_TYPE: Final = "failed to convert to declType for CEL validation rules"


@dataclass(frozen=True, slots=True)
class Expression:
    """One compiled expression and the most an evaluation can cost."""

    program: Program
    max_cost: int
    is_usable: bool = True
    """False for a message that counts on an optional `oldSelf`: upstream hands it the plain one, on
    which it fails."""


@dataclass(frozen=True, slots=True)
class CompiledRule:
    """A rule ready to run, or what is wrong with it."""

    source: ValidationRule
    rule: Expression | None = None
    error: str = ""
    message: Expression | None = None
    message_error: str = ""
    uses_self: bool = True
    uses_old_self: bool = False
    field: FieldPath = ROOT
    """The `fieldPath`, from the node on."""


@dataclass(frozen=True, slots=True)
class NodeRules:
    """The rules at a node, and the type they see; without a type there is an `error`."""

    rules: tuple[CompiledRule, ...]
    declared: SchemaType | None
    error: str = ""


class ChosenEnvironments(Protocol):
    """Chooses the environment of an expression by its text: what is stored already may use more."""

    def rule_environment(self, text: str) -> Environment:
        """That of a rule."""

    def message_environment(self, text: str) -> Environment:
        """That of a message expression."""


def compile_rules(
    schema: Schema,
    environment: Environment | ChosenEnvironments,
    *,
    is_root: bool,
    place: str = "schema",
) -> NodeRules:
    """Compiles the rules of one node, not of those below it. Tracebacks call the programs by the
    `place` of the node (definition and field) and the rule's index."""
    if not schema.rules:
        return NodeRules((), None)
    scopes = rule_scopes(schema, is_root=is_root)
    if scopes is None:
        return NodeRules((), None, WITHOUT_TYPE)
    compiled = []
    for i, rule in enumerate(schema.rules):
        if isinstance(environment, Environment):
            rule_base = message_base = environment
        else:
            rule_base = environment.rule_environment(rule.rule)
            message_base = environment.message_environment(rule.message_expression)
        environments = (
            scopes.environment(rule_base, optional=rule.optional_old_self),
            scopes.environment(message_base, optional=rule.optional_old_self),
        )
        name = f"{place} x-kubernetes-validations[{i}]"
        compiled.append(_compile(rule, environments, scopes.declared, schema, name))
    return NodeRules(tuple(compiled), scopes.declared)


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
    source: ValidationRule,
    environments: tuple[Environment, Environment],
    found: SchemaType,
    schema: Schema,
    name: str,
) -> CompiledRule:
    """The second environment is that of the message expression."""
    if not trim_space(source.rule):
        return CompiledRule(source)
    try:
        checked, rule = _expression(source.rule, environments[0], found, _RULE, name)
    except _Refused as error:
        return CompiledRule(source, error=str(error))
    message, message_error = None, ""
    if source.message_expression:
        try:
            of_message, message = _expression(
                source.message_expression,
                environments[1],
                found,
                _MESSAGE,
                f"{name}.messageExpression",
            )
            is_usable = not (source.optional_old_self and OLD_SELF in _names(of_message))
            message = replace(message, is_usable=is_usable)
        except _Refused as error:
            message_error = str(error)
    names = _names(checked)
    path = (field_path(source.field_path, schema) if source.field_path else None) or ROOT
    return CompiledRule(
        source, rule, "", message, message_error, SELF in names, OLD_SELF in names, path
    )


def _names(checked: CheckedAst) -> set[str]:
    return {one.name for one in checked.references.values()}


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
