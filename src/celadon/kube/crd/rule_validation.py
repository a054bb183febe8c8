"""Validation rules of custom resources (`x-kubernetes-validations`): compiled and evaluated.

A rule is compiled with the schema of the node where it stands: what it may name, where its errors
point, its texts. Then the rules run over an object whose parts carry their schema and know what
they were before (`cel_values`).
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, Final, Protocol

from celadon.cel import (
    CheckedAst,
    CostLimitExceeded,
    Environment,
    EvaluationError,
    Program,
    ProgramError,
)
from celadon.cel.extend import NONE, Optional, types
from celadon.kube import fieldpath
from celadon.kube.crd.cel_values import Correlated, ItemsBefore, Unknown, member_before, typed
from celadon.kube.errors import MalformedText
from celadon.kube.fieldpath import OMITTED, ROOT, FieldError, FieldPath, MapKey, SpelledStep
from celadon.kube.go.go_text import quote, trim_space
from celadon.kube.json_types import JsonObject
from celadon.kube.library.costs import (
    MESSAGE_EXPRESSION_BYTES,
    OUT_OF_BUDGET,
    PER_CALL_COST,
    RUNTIME_COST_BUDGET,
)
from celadon.kube.releases import is_since
from celadon.kube.schemas.definition_schemas import (
    SchemaSizes,
    SchemaType,
    declared_type,
    with_type_and_meta,
)
from celadon.kube.schemas.schema_packs import Schema, ValidationRule
from celadon.kube.well_known_values import TYPE_FIELDS
from celadon.late_patterns import late_pattern
from celadon.records import dataclass, field

# --- Compiled rules ----------------------------------------------------------
#
# `x-kubernetes-validations`, compiled: the rules at one node of a schema.
#
# As k8s.io/apiextensions-apiserver `pkg/apiserver/schema/cel/compilation.go`. A rule that cannot be
# compiled keeps its complaint; an empty one has neither program nor complaint.


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
    """Return the field it names in a schema; None if there is no such field."""
    try:
        return find_field(text, schema)[0]
    except FieldPathError:
        return None


def find_field(
    text: str, schema: Schema, *, arrays: bool = True
) -> tuple[FieldPath, Schema | None]:
    """Return the field that a path names, and its schema. Without `arrays` names stand behind dots
    only. `FieldPathError` says what is wrong with another path."""
    path: FieldPath = ROOT
    current: Schema | None = schema
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
        if current is None or not _has_members(current):
            raise FieldPathError(_NO_FIELD)
        path = path.join(_step(name, current, is_first=not path.steps))
        if not current.properties:
            current = current.additional_properties
        elif name in current.properties:
            current = current.properties[name]
        else:
            raise FieldPathError(_NO_FIELD)
        if token == "[" and (closing := _next(tokens)) != "]":
            raise FieldPathError(f"expected ] but got {closing}")
    return path, current


def _has_members(schema: Schema) -> bool:
    return bool(schema.properties or schema.additional_properties or schema.open_values)


def _next(tokens: Iterator[str]) -> str:
    result = next(tokens, None)
    if result is None:
        raise FieldPathError(_END)
    return result


def _quoted(token: str) -> str:
    if len(token) < 2 or token[0] != "'" or token[-1] != "'":
        raise FieldPathError(f"expected single quoted string but got {token}")
    inner = token[1:-1]
    for wrong in _ESCAPE.finditer(inner):
        if wrong[1] not in _ESCAPES:
            raise FieldPathError(f"invalid string literal: invalid escape char {wrong[0]}")
    return _ESCAPE.sub(lambda escape: _ESCAPES[escape[1]], inner)


def _step(name: str, schema: Schema, *, is_first: bool) -> FieldPath:
    """Return the path of a key. One that comes first is written behind a dot, as what follows the
    path of the rule's node is one name to upstream."""
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
    """The environments of the rules of one node, whose values have the type `declared`; each is
    made once."""

    def __init__(self, declared: SchemaType) -> None:
        self.declared = declared
        self._environments: dict[tuple[int, bool], tuple[Environment, Environment]] = {}

    def environment(self, base: Environment, *, optional: bool) -> Environment:
        """Return the base with both names; with `optional` a rule runs on creation, too, and
        `oldSelf` is an optional."""
        cached = self._environments.get((id(base), optional))
        if cached is None:
            declared = self.declared
            old = types.optional_of(declared.type) if optional else declared.type
            environment = base.extend({SELF: declared.type, OLD_SELF: old}, declared.objects)
            cached = self._environments[id(base), optional] = (base, environment)
        return cached[1]


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
    """Holds a rule ready to run, or what is wrong with it."""

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
        """Return the environment in which a rule is compiled."""

    def message_environment(self, text: str) -> Environment:
        """Return the environment in which a message expression is compiled."""


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
    """The words of complaints about one of the two kinds of expressions, and the type that it must
    have."""

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
    schema_type: SchemaType,
    schema: Schema,
    name: str,
) -> CompiledRule:
    """Compile a rule. The second environment is that of the message expression."""
    if not trim_space(source.rule):
        return CompiledRule(source)
    try:
        checked, rule = _expression(source.rule, environments[0], schema_type, _RULE, name)
    except _Refused as error:
        return CompiledRule(source, error=str(error))
    message, message_error = None, ""
    if source.message_expression:
        try:
            of_message, message = _expression(
                source.message_expression,
                environments[1],
                schema_type,
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
    return {reference.name for reference in checked.references.values()}


def _expression(
    text: str, environment: Environment, schema_type: SchemaType, texts: _Texts, name: str
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
    cost = environment.estimate(checked, SchemaSizes(schema_type)).max
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
    """Return the error about a rule that is stored although it does not compile."""
    return f"rule compile error: {error}"


def not_initialized(error: str) -> str:
    """Return the error about a node with rules whose type no expression can use."""
    return f"rule compiler initialization error: {error}"


def failed_evaluation(rule: ValidationRule, error: str) -> str:
    """Return the text for an evaluation that ended in an error."""
    if error.startswith("no such overload"):
        return (
            f"'{error}': call arguments did not match a supported operator, function or macro "
            f"signature for rule: {_named(rule)}"
        )
    return f"{error} evaluating rule: {_named(rule)}"


def too_expensive(rule: ValidationRule, error: str) -> str:
    """Return the error about a rule that reached the limit of one call."""
    return (
        f"'{error}': no further validation rules will be run due to call cost exceeds limit for "
        f"rule: {_named(rule)}"
    )


def message_too_expensive(expression: str) -> str:
    """Return the error of a message expression that reached the limit of one call."""
    return (
        "no further validation rules will be run due to call cost exceeds limit for "
        f"messageExpression: {quote(expression)}"
    )


def message_of(rule: ValidationRule) -> str:
    """Return the message of a rule that does not hold, when no expression makes one."""
    return trim_space(rule.message) if rule.message else f"failed rule: {_named(rule)}"


def broken(rule: ValidationRule, path: FieldPath, value: object, detail: str) -> FieldError:
    """Return the error of a rule that does not hold, of the type that its `reason` asks for."""
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


# --- Rule validation ---------------------------------------------------------
#
# Validation rules, evaluated: the rules of every node against its part of an object.
#
# `RuleValidator` holds the compiled rules of a whole schema; where there are none below a node
# there is no validator. `errors` walks the object, parents before children, and charges every
# expression to one budget: when that is gone, validation ends with the error that says so.
#
# A rule that uses `oldSelf` compares, so it runs only where the part was there before (or if it
# is marked `optionalOldSelf`). Failures of other rules in a part that did not change are
# forgiven on update; they become warnings.
#
# As k8s.io/apiextensions-apiserver `pkg/apiserver/schema/cel/validation.go`.


@dataclass(frozen=True, slots=True)
class RuleValidator:
    """Evaluates the rules at a node of a schema and below it."""

    schema: Schema
    node: NodeRules
    is_root: bool = False
    properties: Mapping[str, RuleValidator] = field(default_factory=dict)
    additional: RuleValidator | None = None
    items: RuleValidator | None = None

    def errors(
        self,
        obj: object,
        before: object | Unknown,
        rules: list[EvaluatedRule] | None = None,
        *,
        spent: int = 0,
        ratchets: bool = True,
    ) -> RuleOutcome:
        """Return what the rules say of a whole object; `before` is the stored object of an update,
        else `Unknown`. Whoever wants to know which rules were asked what gives a list for it.
        `spent` is what other rules of the same request have cost; without `ratchets` nothing is
        forgiven."""
        outcome = RuleOutcome(cost=spent)
        ratchet = _NO_RATCHET
        if ratchets and not isinstance(before, Unknown):
            ratchet = _Ratchet(Correlated(obj, before, self.schema), None)
        with contextlib.suppress(_OutOfBudget):
            _Run(outcome, rules).visit(self, ROOT, obj, before, ratchet)
        return outcome


@dataclass(frozen=True, slots=True)
class EvaluatedRule:
    """Records that a rule was evaluated: for the part of the object at a path, with these
    variables."""

    path: FieldPath
    source: ValidationRule
    program: Program
    activation: JsonObject
    max_cost: int


@dataclass(slots=True)
class RuleOutcome:
    """Holds what the rules of an object say. `warnings` are errors forgiven because nothing
    changed."""

    errors: list[FieldError] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    cost: int = 0


def rule_validator(
    schema: Schema, environment: Environment, owner: str = "schema", *, is_root: bool = True
) -> RuleValidator | None:
    """Compiles all rules of a schema, which is a resource's unless `is_root` is false; None if it
    has none. Tracebacks call the rules by their owner, the definition's name, and the field that
    they are about."""
    return _build(schema, environment, owner, is_root=is_root)


def _build(
    schema: Schema | None, environment: Environment, place: str, *, is_root: bool = False
) -> RuleValidator | None:
    if schema is None:
        return None
    below = f"{place} " if is_root else f"{place}."
    members = (
        (key, _build(schema, environment, below + key)) for key, schema in schema.properties.items()
    )
    properties = {key: member for key, member in members if member is not None}
    additional = _build(schema.additional_properties, environment, f"{place}[*]")
    items = _build(schema.items, environment, f"{place}[*]")
    if not (schema.rules or properties or additional or items):
        return None
    node = compile_rules(schema, environment, is_root=is_root, place=place)
    return RuleValidator(schema, node, is_root, properties, additional, items)


@dataclass(frozen=True, slots=True)
class _Ratchet:
    """A part beside what it was, by which faults are forgiven, or None where nobody can say what it
    was; and the nearest part around it that corresponds to something."""

    current: Correlated | None
    nearest: Correlated | None

    @property
    def forgives(self) -> bool:
        correlated = self.current or self.nearest
        return correlated is not None and correlated.is_same

    def member(self, key: str) -> _Ratchet:
        if self.current is None:
            return self
        if self.nearest is None and key in TYPE_FIELDS:
            return _NO_RATCHET  # what version an object was stored in cannot be seen
        return _Ratchet(self.current.member(key), self.current)

    def item(self, position: int) -> _Ratchet:
        if self.current is None:
            return self
        return _Ratchet(self.current.item(position), self.current)


_NO_RATCHET: Final = _Ratchet(None, None)


def _typed(value: object, schema: Schema, name: str, faults: dict[str, str]) -> Any:
    try:
        return typed(value, schema)
    except EvaluationError as error:
        faults[name] = error.message
        return None


class _OutOfBudget(Exception):
    """No further rule is evaluated."""


class _Discarded(Exception):
    """A message expression whose result cannot be used."""


@dataclass(frozen=True, slots=True)
class _Place:
    """The place where rules are evaluated: the node's type and value as errors show them, and the
    two activations."""

    path: FieldPath
    type: str
    shown_value: object
    plain: JsonObject
    optional: JsonObject
    has_before: bool
    ratchet: _Ratchet
    faults: Mapping[str, str]
    """What does not fit its schema as a whole, by the name of the variable, and why."""


class _Run:
    """The evaluation of all rules about one object."""

    def __init__(self, outcome: RuleOutcome, rules: list[EvaluatedRule] | None = None) -> None:
        self.outcome = outcome
        self.asked = rules

    def visit(
        self,
        validator: RuleValidator,
        path: FieldPath,
        value: object,
        before: object | Unknown,
        ratchet: _Ratchet,
    ) -> None:
        if value is None:
            return
        if validator.schema.rules:
            self._evaluate(validator, path, value, before, ratchet)
        if isinstance(value, dict):
            self._members(validator, path, value, before, ratchet)
        elif isinstance(value, list) and validator.items is not None:
            items = ItemsBefore(validator.schema, before)
            for i, item in enumerate(value):
                self.visit(validator.items, path.index(i), item, items.of(item), ratchet.item(i))

    def _members(
        self,
        validator: RuleValidator,
        path: FieldPath,
        value: Any,
        before: Any | Unknown,
        ratchet: _Ratchet,
    ) -> None:
        for key, member in sorted(value.items()):
            was = member_before(before, key)
            if validator.additional is not None:
                below, place = validator.additional, path.key(key)
            elif key in validator.properties:
                below, place = validator.properties[key], path.child(key)
            else:
                continue
            self.visit(below, place, member, was, ratchet.member(key))

    def _evaluate(
        self,
        validator: RuleValidator,
        path: FieldPath,
        value: object,
        before: object | Unknown,
        ratchet: _Ratchet,
    ) -> None:
        printed = OMITTED if isinstance(value, dict | list) else value
        if not is_since("1.35"):
            printed = validator.schema.type
        if validator.node.error:
            detail = not_initialized(validator.node.error)
            self.outcome.errors.append(fieldpath.invalid(path, validator.schema.type, detail))
            return
        schema = validator.schema
        if validator.is_root or schema.embedded_resource:
            schema = with_type_and_meta(schema)
        has_before = not isinstance(before, Unknown | None)
        faults: dict[str, str] = {}
        itself = _typed(value, schema, SELF, faults)
        plain, optional = {SELF: itself}, {SELF: itself}
        if any(rule.uses_old_self for rule in validator.node.rules):
            optional[OLD_SELF] = NONE
            if has_before:
                plain[OLD_SELF] = _typed(before, schema, OLD_SELF, faults)
                optional[OLD_SELF] = Optional(plain[OLD_SELF])
        place = _Place(path, schema.type, printed, plain, optional, has_before, ratchet, faults)
        for rule in validator.node.rules:
            self._rule(rule, place)

    def _rule(self, rule: CompiledRule, place: _Place) -> None:
        source = rule.source
        if rule.error:
            self._report(place, not_compiled(rule.error))
            return
        optional = source.optional_old_self
        if rule.rule is None or (rule.uses_old_self and not place.has_before and not optional):
            return
        fault = (rule.uses_self and place.faults.get(SELF)) or (
            rule.uses_old_self and place.faults.get(OLD_SELF)
        )
        if fault:
            self._report(place, failed_evaluation(source, fault))
            return
        activation = place.optional if optional else place.plain
        if self.asked is not None:
            program, most = rule.rule.program, rule.rule.max_cost
            self.asked.append(EvaluatedRule(place.path, source, program, activation, most))
        try:
            value, cost = rule.rule.program.evaluate_metered(activation, PER_CALL_COST)
        except EvaluationError as error:
            self._charge(error.cost or 0, place, OUT_OF_BUDGET)
            if isinstance(error, CostLimitExceeded):
                self._report(place, too_expensive(source, error.message))
                raise _OutOfBudget from None
            self._report(place, failed_evaluation(source, error.message))
            return
        self._charge(cost, place, OUT_OF_BUDGET)
        if value is not True:
            self._broken(rule, place)

    def _broken(self, rule: CompiledRule, place: _Place) -> None:
        path = place.path.join(rule.field)
        detail = message_of(rule.source)
        if rule.message is not None:
            with contextlib.suppress(_Discarded):
                detail = self._message(rule, place)
        error = broken(rule.source, path, place.shown_value, detail)
        if not rule.uses_old_self and place.ratchet.forgives:
            self.outcome.warnings.append(str(error))
        else:
            self.outcome.errors.append(error)

    def _message(self, rule: CompiledRule, place: _Place) -> str:
        assert rule.message is not None, "the caller has looked"
        if not rule.message.is_usable:
            raise _Discarded
        try:
            value, cost = rule.message.program.evaluate_metered(place.plain, PER_CALL_COST)
        except EvaluationError as error:
            self._charge(error.cost or 0, place, MESSAGE_OUT_OF_BUDGET)
            if isinstance(error, CostLimitExceeded):
                self._report(place, message_too_expensive(rule.source.message_expression))
                raise _OutOfBudget from None
            raise _Discarded from None
        self._charge(cost, place, MESSAGE_OUT_OF_BUDGET)
        message = trim_space(value)
        if not message or "\n" in message or len(message.encode()) > MESSAGE_EXPRESSION_BYTES:
            raise _Discarded
        return message

    def _charge(self, cost: int, place: _Place, complaint: str) -> None:
        if cost > RUNTIME_COST_BUDGET - self.outcome.cost:
            self._report(place, complaint)
            raise _OutOfBudget
        self.outcome.cost += cost

    def _report(self, place: _Place, detail: str) -> None:
        """Note an error for what went wrong in a rule. That is no fault of the value, so its type
        is shown in its place."""
        self.outcome.errors.append(fieldpath.invalid(place.path, place.type, detail))
