"""The subjects of lint rules: policies, bindings and the rules of definitions, decoded and compiled
once for all rules; and the record of a rule.

A `Bundle` is everything that was given, in one piece, because a binding is judged by its policy and
a policy by its bindings. `PolicyCase.expressions` are all expressions of a policy in the order in
which they are evaluated, each with its tree if it compiles.
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from typing import Final, TypeAlias

from celadon.admission.lint.findings import (
    FieldPosition,
    Finding,
    Fix,
    Mistake,
    PolicyExpression,
    Renamed,
    Role,
    Severity,
)
from celadon.admission.policies.typecheck import TypeProblem
from celadon.admission.registration import registration_types
from celadon.admission.registration.decoding import RegistrationError
from celadon.admission.registration.registration_types import Rule as ResourceRule
from celadon.cel.syntax import Expr
from celadon.kube import FieldError, GroupVersionKind, JsonObject, schemas
from celadon.kube.releases import per_release
from celadon.kube.resources import Catalog, Resource
from celadon.records import dataclass, field, replace

# --- Matched kinds -----------------------------------------------------------

ALL: Final = "*"
OPERATIONS: Final = frozenset({"CREATE", "UPDATE", "DELETE", "CONNECT"})


def operations_of(rules: Iterable[ResourceRule]) -> frozenset[str]:
    """Return the operations that any of the rules names."""
    named = {operation for rule in rules for operation in rule.operations}
    return OPERATIONS if ALL in named else OPERATIONS & named


def covers(names: Iterable[str], name: str) -> bool:
    return any(pattern in (ALL, name) for pattern in names)


def matched_resources(rule: ResourceRule, catalog: Catalog) -> list[tuple[Resource, str]]:
    """Return the endpoints of a rule: resources and, where it asks for them, subresources."""
    result = []
    for resource in catalog:
        if not resource.served or not covers(rule.api_groups, resource.gvr.group):
            continue
        if not covers(rule.api_versions, resource.gvr.version):
            continue
        names = ["", *(subresource.name for subresource in resource.subresources)]
        result += [
            (resource, name)
            for name in names
            if any(_matches(pattern, resource.gvr.resource, name) for pattern in rule.resources)
        ]
    return result


def _matches(pattern: str, resource: str, subresource: str) -> bool:
    name, slash, below = pattern.partition("/")
    if name not in (ALL, resource):
        return False
    return below in (ALL, subresource) if slash else not subresource


def matched_kinds(
    match: registration_types.MatchResources | None, catalog: Catalog, operation: str = ""
) -> tuple[GroupVersionKind, ...]:
    """Return the kinds of all rules, or of those for an operation, each once, in the order of the
    catalog."""
    result: dict[GroupVersionKind, None] = {}
    for rule in () if match is None else match.resource_rules:
        if operation and operation not in operations_of([rule]):
            continue
        for resource, subresource in matched_resources(rule, catalog):
            kind = resource.kind_of(subresource)
            if kind is not None:
                result[kind] = None
    return tuple(result)


# --- Access facts ------------------------------------------------------------
#
# What an expression has made sure of before it reads something, and what it reads.
#
# A path is a variable and the fields below it: `("object", "spec", "containers", ITEM,
# "image")`.

Path: TypeAlias = tuple[str, ...]

ITEM: Final = "[]"
"""In a path: some item of a list, some value of a map."""


@dataclass(frozen=True, slots=True)
class Facts:
    """Holds what is known wherever an expression is evaluated. `present` are paths that exist and
    are not null; `operations` those that are left; `implied` are pairs of paths, of which the
    second is there if the first is."""

    present: frozenset[Path] = frozenset()
    operations: frozenset[str] = OPERATIONS
    implied: frozenset[tuple[Path, Path]] = frozenset()

    def and_(self, other: Facts) -> Facts:
        """Return what is known when both are."""
        if other == NOTHING:
            return self
        implied = self.implied | other.implied
        present = _with_implied(self.present | other.present, implied)
        return Facts(present, self.operations & other.operations, implied)

    def or_(self, other: Facts) -> Facts:
        """Return what is known when one of the two is known."""
        return Facts(
            self.present & other.present,
            self.operations | other.operations,
            self.implied & other.implied,
        )


def _with_implied(
    present: frozenset[Path], implied: frozenset[tuple[Path, Path]]
) -> frozenset[Path]:
    following: dict[Path, list[Path]] = {}
    for path, other in implied:
        following.setdefault(path, []).append(other)
    if following.keys().isdisjoint(present):
        return present
    found, left = set(present), list(present)
    while left:
        new = set(following.get(left.pop(), ())) - found
        found |= new
        left += new
    return frozenset(found)


NOTHING: Final = Facts()


def there(path: Path | None) -> Facts:
    """Return that a path and everything above it is there."""
    if path is None:
        return NOTHING
    return Facts(frozenset(path[:length] for length in range(1, len(path) + 1)))


class Reading(enum.Enum):
    """Says how a field is read. `READ` fails if it is absent; `VALUE` takes it out of an
    optional, and fails then, too."""

    READ = enum.auto()
    TEST = enum.auto()
    OPTIONAL = enum.auto()
    VALUE = enum.auto()


@dataclass(frozen=True, slots=True)
class Access:
    """One field that is read, by which node of which expression. `within` is the expression that is
    evaluated: not the same for what a variable reads."""

    path: Path
    reading: Reading
    facts: Facts
    node: Expr
    expression: PolicyExpression
    within: PolicyExpression

    @property
    def offset(self) -> int | None:
        """Return where it is in the text of the field."""
        checked = self.expression.checked
        offset = None if checked is None else checked.ast.positions.get(self.node.id)
        return None if offset is None else offset + self.expression.shift


# --- Mutating subjects -------------------------------------------------------
#
# Mutating policies as the rules about them see them: compiled, with what they write.

MutationPath = tuple[str, ...]
"""The names on the way to a field; items of lists have no step of their own."""


@dataclass(frozen=True, slots=True)
class FieldWrite:
    """A field that a configuration sets, or a path that a JSON patch is about (`op` says how).
    `value` is None for an operation without one. `is_absent` is whether the text has made sure that
    the object has nothing there. `conditions` are those of `?` above it, with what they have to
    be."""

    expression: PolicyExpression
    path: MutationPath
    node: Expr
    value: Expr | None
    op: str = ""
    type_name: str = ""
    """Of an object that is constructed in the place of the field."""
    is_absent: bool = False
    conditions: tuple[tuple[Expr, bool], ...] = ()


@dataclass(frozen=True)
class MutatingCase:
    """Holds a mutating policy, as rules of lint look at it. `kinds` are those that the rules of the
    policy match, `updated` those of them that it matches when they are updated; `expressions` its
    mutations."""

    document: int
    policy: registration_types.MutatingAdmissionPolicy
    expressions: tuple[PolicyExpression, ...]
    kinds: tuple[GroupVersionKind, ...]
    updated: frozenset[GroupVersionKind]
    writes: tuple[FieldWrite, ...]

    @property
    def name(self) -> str:
        return self.policy.name


@dataclass(frozen=True, slots=True)
class Settings:
    """Holds the settings that lint rules know. `version` is the cluster's; `further_releases` are
    releases that have to run the policies, too. `large_object` is the size (bytes of JSON) of an
    object that must still be affordable."""

    version: str
    further_releases: tuple[str, ...] = ()
    large_object: int = 256 * 1024


@dataclass(frozen=True)
class Registered:
    """One document of the group `admissionregistration.k8s.io`, of whatever kind. `value` is None
    if it cannot be decoded; `failure` says why and where. `source` is corrected: the fields of
    `renamed` were written otherwise."""

    document: int
    kind: GroupVersionKind
    source: JsonObject
    value: registration_types.RegistrationObject | None = None
    failure: RegistrationError | None = None
    unknown_fields: tuple[schemas.StrayField, ...] = ()
    errors: tuple[FieldError, ...] = ()
    renamed: tuple[Renamed, ...] = ()


@dataclass(frozen=True)
class PolicyCase:
    """A validating policy. `kinds` are those its rules match, `accesses` all that it reads."""

    document: int
    policy: registration_types.ValidatingAdmissionPolicy
    expressions: tuple[PolicyExpression, ...]
    accesses: tuple[Access, ...]
    operations: frozenset[str]
    kinds: tuple[GroupVersionKind, ...]

    @property
    def name(self) -> str:
        return self.policy.name

    @property
    def spec(self) -> registration_types.PolicySpec:
        return self.policy.spec

    @property
    def sources(self) -> tuple[registration_types.Validation, ...]:
        """Return the validations as they are written."""
        return self.spec.validations

    def of(self, *roles: Role) -> list[PolicyExpression]:
        """Return the expressions in these roles, in their order."""
        return [expression for expression in self.expressions if expression.role in roles]


@dataclass(frozen=True)
class RuleCase:
    """The validation rules at one node of a definition's schema, and all that they read. `is_root`
    if the node is the whole object."""

    document: int
    node: schemas.Schema
    is_root: bool
    expressions: tuple[PolicyExpression, ...]
    accesses: tuple[Access, ...]

    @property
    def sources(self) -> tuple[schemas.ValidationRule, ...]:
        """Return the rules as they are written."""
        return self.node.rules


Case = PolicyCase | RuleCase
"""Expressions that are evaluated together."""


@dataclass(frozen=True)
class BindingCase:
    """A validating binding."""

    document: int
    binding: registration_types.ValidatingAdmissionPolicyBinding

    @property
    def name(self) -> str:
        return self.binding.name

    @property
    def spec(self) -> registration_types.BindingSpec:
        return self.binding.spec


@dataclass(frozen=True)
class Bundle:
    """Holds what is linted together. `other_objects` are the remaining objects of the input:
    params, namespaces, definitions."""

    settings: Settings
    catalog: Catalog
    registered: tuple[Registered, ...] = ()
    policies: tuple[PolicyCase, ...] = ()
    bindings: tuple[BindingCase, ...] = ()
    mutating: tuple[MutatingCase, ...] = ()
    other_objects: Sequence[JsonObject] = ()
    custom: Mapping[GroupVersionKind, schemas.Schema] = field(default_factory=dict)
    mistakes: tuple[tuple[PolicyCase, Mistake], ...] = ()
    """What our type check found."""
    problems: tuple[tuple[PolicyCase, TypeProblem], ...] = ()
    """What the status controller's type check finds."""
    definitions: tuple[tuple[int, JsonObject], ...] = ()
    """CustomResourceDefinitions, with their numbers."""
    rules: tuple[RuleCase, ...] = ()
    """Those in the definitions."""

    @property
    def cases(self) -> tuple[Case, ...]:
        """Return the cases of validating policies and of definitions."""
        return (*self.policies, *self.rules)

    def schema(self, kind: GroupVersionKind) -> schemas.Schema | None:
        """Return the schema of a kind, built in or defined in the input; None if nobody knows
        it."""
        return schemas.schema_for(kind) or self.custom.get(kind)

    @cached_property
    def bound(self) -> Mapping[str, list[BindingCase]]:
        """Return the bindings of each policy, by its name."""
        result: dict[str, list[BindingCase]] = {}
        for case in self.bindings:
            result.setdefault(case.spec.policy_name, []).append(case)
        return result

    @cached_property
    def policy_names(self) -> Mapping[str, PolicyCase]:
        return {case.name: case for case in self.policies}


# --- Types of kinds ----------------------------------------------------------

_MOST: Final = 64
"""Built-in kinds that are kept; what a large workspace has policies about."""


class KindTypes:
    """The types of built-in kinds, and of custom ones by their schemas; each is made once."""

    __slots__ = ("_custom", "_types")

    def __init__(self, custom: Mapping[GroupVersionKind, schemas.Schema]) -> None:
        self._custom = custom
        self._types: dict[GroupVersionKind, schemas.SchemaType | None] = {}

    def of(self, kind: GroupVersionKind) -> schemas.SchemaType | None:
        """Return the type of a kind; None if nobody knows the kind."""
        if kind not in self._types:
            self._types[kind] = _builtin_type(kind) or self._custom_type(kind)
        return self._types[kind]

    def _custom_type(self, kind: GroupVersionKind) -> schemas.SchemaType | None:
        schema = self._custom.get(kind)
        return None if schema is None else _made(schema, kind)


@per_release(maxsize=_MOST)
def _builtin_type(kind: GroupVersionKind) -> schemas.SchemaType | None:
    """Return the type of a built-in kind. It is the same for all: built-in kinds of a release never
    change."""
    schema = schemas.schema_for(kind)
    return None if schema is None else _made(schema, kind)


def _made(schema: schemas.Schema, kind: GroupVersionKind) -> schemas.SchemaType:
    return schemas.schema_type(schema, kind.kind, schemas.View.ACTUAL)


# --- Lint memory -------------------------------------------------------------
#
# What one run of the linter leaves to the next: documents that are prepared already.
#
# An editor lints after every keystroke, and a keystroke changes one document. What is known of
# a document depends on itself, the settings and the definitions among the documents, so it is
# kept under its text as long as those stay what they are. Documents that a run does not have
# any more are forgotten.


@dataclass(frozen=True, slots=True)
class Prepared:
    """Holds all that is known of one registered document alone."""

    registered: Registered
    policy: PolicyCase | None = None
    binding: BindingCase | None = None
    mutating: MutatingCase | None = None
    mistakes: tuple[Mistake, ...] = ()
    problems: tuple[TypeProblem, ...] = ()

    def as_number(self, number: int) -> Prepared:
        """Return the same document at another place of the input."""
        if number == self.registered.document:
            return self
        return replace(
            self,
            registered=replace(self.registered, document=number),
            policy=self.policy and replace(self.policy, document=number),
            binding=self.binding and replace(self.binding, document=number),
            mutating=self.mutating and replace(self.mutating, document=number),
        )


class LintMemory:
    """Keeps what runs of the linter leave to the next ones. It is empty at first, and to be given
    to every run."""

    __slots__ = ("_conditions", "_prepared", "_rules", "_used")

    def __init__(self) -> None:
        self._conditions = ""
        self._prepared: dict[str, Prepared] = {}
        self._rules: tuple[RuleCase, ...] | None = None
        self._used: dict[str, Prepared] = {}

    def begin(self, conditions: Sequence[object]) -> None:
        """Begin a run under these conditions: the settings, and the definitions with their
        numbers."""
        text = repr(conditions)
        if text != self._conditions:
            self._prepared = {}
            self._rules = None
            self._conditions = text
        self._used = {}

    def prepared(self, document: object, number: int, make: Callable[[], Prepared]) -> Prepared:
        """Return what is known of a document, made if it is not."""
        text = repr(document)
        prepared = self._prepared.get(text)
        prepared = make() if prepared is None else prepared.as_number(number)
        self._used[text] = prepared
        return prepared

    def rules(self, make: Callable[[], tuple[RuleCase, ...]]) -> tuple[RuleCase, ...]:
        """Return the rules in the definitions, made if they are not known."""
        if self._rules is None:
            self._rules = make()
        return self._rules

    def end(self) -> None:
        """End the run: what it did not need is forgotten."""
        self._prepared = self._used


# --- Rules -------------------------------------------------------------------
#
# The record of a rule. Families of rules are the modules `*_rules`; `linter` has them all.

# --- Rule reports ------------------------------------------------------------
#
# What checks give, and the places they give it for.


@dataclass(frozen=True, slots=True)
class Report:
    """Holds what a check gives for one finding; the rule adds its code and, without one, its
    severity."""

    spot: FieldPosition
    message: str
    help: str = ""
    fix: Fix | None = None
    severity: Severity | None = None


def at_node(document: int, expression: PolicyExpression, node: Expr) -> FieldPosition:
    """Return a node of an expression."""
    checked = expression.checked
    offset = None if checked is None else checked.ast.positions.get(node.id)
    return FieldPosition(
        document, expression.path, None if offset is None else offset + expression.shift
    )


def at_access(document: int, access: Access) -> FieldPosition:
    return FieldPosition(document, access.expression.path, access.offset)


def at_offset(document: int, expression: PolicyExpression, offset: int | None) -> FieldPosition:
    """Return the position of an offset in the text that was compiled."""
    return FieldPosition(
        document, expression.path, None if offset is None else offset + expression.shift
    )


def shown(path: Path) -> str:
    """Return a path as text, such as `object.spec.containers[].image`."""
    return ".".join(path).replace(f".{ITEM}", ITEM)


Check = Callable[[Bundle], Iterable[Report]]


@dataclass(frozen=True, slots=True)
class Rule:
    """Records one lint rule: its code, its name, its texts and its function. `doc` is one
    paragraph. `bad` and `good` are YAML, documents or the `spec` of a policy about Deployments that
    are created or updated; the bad one makes the rule speak, the good one not."""

    code: str
    name: str
    severity: Severity
    doc: str
    bad: str
    good: str
    check: Check

    def findings(self, bundle: Bundle) -> Iterable[Finding]:
        """Yield what the rule says about everything that was given, with its code."""
        for report in self.check(bundle):
            severity = report.severity or self.severity
            yield Finding(self.code, report.spot, report.message, report.help, severity, report.fix)
