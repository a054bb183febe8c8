"""`x-kubernetes-validations`, compiled: the rules at one node of a schema.

As k8s.io/apiextensions-apiserver `pkg/apiserver/schema/cel/compilation.go`. A rule that cannot be
compiled keeps its complaint; an empty one has neither program nor complaint.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Final, Protocol

from celadon.cel import CheckedAst, Environment, Program, ProgramError
from celadon.cel.extend import types
from celadon.kube import fieldpath
from celadon.kube.errors import MalformedText
from celadon.kube.fieldpath import ROOT, FieldError, FieldPath, MapKey, SpelledStep
from celadon.kube.go.go_text import quote, trim_space
from celadon.kube.schemas.definition_schemas import SchemaSizes, SchemaType, declared_type
from celadon.kube.schemas.schema_model import Schema, ValidationRule
from celadon.patterns import late_pattern
from celadon.records import dataclass

# --- Rule field paths --------------------------------------------------------
#
# `fieldPath` of a validation rule, and the paths of selectable fields: `.spec.size`,
# `['a.b'].c`.
#
# As k8s.io/apiextensions-apiserver `pkg/apiserver/schema/cel/validation.go` (`ValidFieldPath`).


_TOKEN: Final = late_pattern(r"'.*?(?<!\\)'|'.*|[.\[\]]|[^.\[\]]+", re.DOTALL)
"""A delimiter, a text in single quotes, or what stands between delimiters."""
_ESCAPE: Final = late_pattern(r"\\(.)", re.DOTALL)
_ESCAPES: Final = {
    "a": "\a",
    "b": "\b",
    "f": "\f",
    "n": "\n",
    "r": "\r",
    "t": "\t",
    "v": "\v",
    "'": "'",
    "\\": "\\",
}
_END: Final = "unexpected end of JSON path"
_NO_FIELD: Final = "does not refer to a valid field"


class FieldPathError(MalformedText):
    """A path that names no field of a schema, with upstream's reason."""


def field_path(text: str, schema: Schema) -> FieldPath | None:
    """The field it names in a schema; None if there is no such field."""
    try:
        return find_field(text, schema)[0]
    except FieldPathError:
        return None


def find_field(
    text: str, schema: Schema, *, arrays: bool = True
) -> tuple[FieldPath, Schema | None]:
    """The field that a path names, and its schema. Without `arrays` names stand behind dots only.
    `FieldPathError` says what is wrong with another path."""
    path: FieldPath = ROOT
    found: Schema | None = schema
    tokens = (token[0] for token in _TOKEN.finditer(text))
    for token in tokens:
        if token == ".":
            name = _next(tokens)
        elif token == "[":
            if not arrays:
                raise FieldPathError("array notation is not allowed")
            name = _quoted(_next(tokens))
        else:
            raise FieldPathError(f"expected [ or . but got: {token}")
        if found is None or not _has_members(found):
            raise FieldPathError(_NO_FIELD)
        path = path.join(_step(name, found, is_first=not path.steps))
        if not found.properties:
            found = found.additional_properties
        elif name in found.properties:
            found = found.properties[name]
        else:
            raise FieldPathError(_NO_FIELD)
        if token == "[" and (closing := _next(tokens)) != "]":
            raise FieldPathError(f"expected ] but got {closing}")
    return path, found


def _has_members(schema: Schema) -> bool:
    return bool(schema.properties or schema.additional_properties or schema.open_values)


def _next(tokens: Iterator[str]) -> str:
    found = next(tokens, None)
    if found is None:
        raise FieldPathError(_END)
    return found


def _quoted(token: str) -> str:
    if len(token) < 2 or token[0] != "'" or token[-1] != "'":
        raise FieldPathError(f"expected single quoted string but got {token}")
    inner = token[1:-1]
    for wrong in _ESCAPE.finditer(inner):
        if wrong[1] not in _ESCAPES:
            raise FieldPathError(f"invalid string literal: invalid escape char {wrong[0]}")
    return _ESCAPE.sub(lambda escape: _ESCAPES[escape[1]], inner)


def _step(name: str, schema: Schema, *, is_first: bool) -> FieldPath:
    """A key that comes first is written behind a dot, as what follows the path of the rule's node
    is one name to upstream."""
    if schema.properties:
        return FieldPath(name)
    return FieldPath(SpelledStep(name, f".[{name}]") if is_first else MapKey(name))


# --- Rule scopes -------------------------------------------------------------
#
# What the expressions at one node of a schema may name: `self`, and `oldSelf`, which is what
# the node was before an update.
#
# As k8s.io/apiextensions-apiserver `pkg/apiserver/schema/cel/compilation.go`.


SELF: Final = "self"
"""The name of the node's value."""
OLD_SELF: Final = "oldSelf"
"""The name of what it was before."""
TYPE_NAME: Final = "selfType"
"""Upstream appends a number that changes with every CRD, so that nobody relies on the name."""


class RuleScopes:
    """Those of one node, whose values have the type `declared`; each is made once."""

    def __init__(self, declared: SchemaType) -> None:
        self.declared = declared
        self._known: dict[tuple[int, bool], tuple[Environment, Environment]] = {}

    def environment(self, base: Environment, *, optional: bool) -> Environment:
        """The base with both names; with `optional` a rule runs on creation, too, and `oldSelf` is
        an optional."""
        known = self._known.get((id(base), optional))
        if known is None:
            declared = self.declared
            old = types.optional_of(declared.type) if optional else declared.type
            made = base.extend({SELF: declared.type, OLD_SELF: old}, declared.objects)
            known = self._known[id(base), optional] = (base, made)
        return known[1]


def rule_scopes(schema: Schema, *, is_root: bool) -> RuleScopes | None:
    """Return the scopes of rules of a node; None where it has no type."""
    declared = declared_type(schema, TYPE_NAME, is_root=is_root)
    return None if declared is None else RuleScopes(declared)


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


# --- Rule texts --------------------------------------------------------------
#
# What validation rules say when they fail, or cannot be evaluated.
#
# Texts of k8s.io/apiextensions-apiserver `pkg/apiserver/schema/cel/validation.go`.


MESSAGE_OUT_OF_BUDGET: Final = (
    "messageExpression evaluation failed due to running out of cost budget, no further validation "
    "rules will be run"
)
SKIPPED: Final = (
    "some validation rules were not checked because the object was invalid; correct the existing "
    "errors to complete validation"
)


def not_compiled(error: str) -> str:
    """A rule that is stored although it does not compile."""
    return f"rule compile error: {error}"


def not_initialized(error: str) -> str:
    """A node with rules whose type no expression can use."""
    return f"rule compiler initialization error: {error}"


def failed_evaluation(rule: ValidationRule, error: str) -> str:
    """An evaluation that ended in an error."""
    if error.startswith("no such overload"):
        return (
            f"'{error}': call arguments did not match a supported operator, function or macro "
            f"signature for rule: {_named(rule)}"
        )
    return f"{error} evaluating rule: {_named(rule)}"


def too_expensive(rule: ValidationRule, error: str) -> str:
    """A rule that reached the limit of one call."""
    return (
        f"'{error}': no further validation rules will be run due to call cost exceeds limit for "
        f"rule: {_named(rule)}"
    )


def message_too_expensive(expression: str) -> str:
    """The same for a message expression."""
    return (
        "no further validation rules will be run due to call cost exceeds limit for "
        f"messageExpression: {quote(expression)}"
    )


def message_of(rule: ValidationRule) -> str:
    """The message of a rule that does not hold, when no expression makes one."""
    return trim_space(rule.message) if rule.message else f"failed rule: {_named(rule)}"


def broken(rule: ValidationRule, path: FieldPath, value: object, detail: str) -> FieldError:
    """The error of a rule that does not hold, of the type that its `reason` asks for."""
    match rule.reason:
        case "FieldValueForbidden":
            return fieldpath.forbidden(path, detail)
        case "FieldValueRequired":
            return fieldpath.required(path, detail)
        case "FieldValueDuplicate":
            return fieldpath.duplicate(path, value)
        case _:
            return fieldpath.invalid(path, value, detail)


def _named(rule: ValidationRule) -> str:
    return trim_space(rule.message or rule.rule)
