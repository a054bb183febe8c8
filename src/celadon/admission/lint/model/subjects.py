"""What is linted: policies, bindings and the rules of definitions, decoded and compiled once for
all rules.

A `Bundle` is everything that was given, in one piece, because a binding is judged by its policy and
a policy by its bindings. `PolicyCase.expressions` are all expressions of a policy in the order in
which they are evaluated, each with its tree if it compiles.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field
from functools import cached_property
from typing import Any

from celadon.admission.lint.model.access_facts import Access
from celadon.admission.lint.model.corrections import Renamed
from celadon.admission.lint.model.mutating_subjects import MutatingCase
from celadon.admission.lint.model.policy_expressions import PolicyExpression, Role
from celadon.admission.lint.model.type_mistakes import Mistake
from celadon.admission.policy.typecheck import TypeProblem
from celadon.admission.registration.decoding import RegistrationError
from celadon.admission.registration.registration_types import (
    BindingSpec,
    PolicySpec,
    RegistrationObject,
    ValidatingAdmissionPolicy,
    ValidatingAdmissionPolicyBinding,
    Validation,
)
from celadon.kube import FieldError, GroupVersionKind
from celadon.kube.catalogue import Catalog
from celadon.kube.schemas import Schema, StrayField, ValidationRule, schema_for
from celadon.records import dataclass


@dataclass(frozen=True, slots=True)
class Settings:
    """`version` is the cluster's; `others` are releases that have to run the policies, too.
    `large_object` is the size (bytes of JSON) of an object that must still be affordable."""

    version: str
    others: tuple[str, ...] = ()
    large_object: int = 256 * 1024


@dataclass(frozen=True)
class Registered:
    """One document of the group `admissionregistration.k8s.io`, of whatever kind. `value` is None
    if it cannot be decoded; `failure` says why and where. `source` is corrected: the fields of
    `renamed` were written otherwise."""

    document: int
    kind: GroupVersionKind
    source: Mapping[str, Any]
    value: RegistrationObject | None = None
    failure: RegistrationError | None = None
    unknown_fields: tuple[StrayField, ...] = ()
    errors: tuple[FieldError, ...] = ()
    renamed: tuple[Renamed, ...] = ()


@dataclass(frozen=True)
class PolicyCase:
    """A validating policy. `kinds` are those its rules match, `accesses` all that it reads."""

    document: int
    policy: ValidatingAdmissionPolicy
    expressions: tuple[PolicyExpression, ...]
    accesses: tuple[Access, ...]
    operations: frozenset[str]
    kinds: tuple[GroupVersionKind, ...]

    @property
    def name(self) -> str:
        return self.policy.name

    @property
    def spec(self) -> PolicySpec:
        return self.policy.spec

    @property
    def sources(self) -> tuple[Validation, ...]:
        """Its validations as they are written."""
        return self.spec.validations

    def of(self, *roles: Role) -> list[PolicyExpression]:
        """Its expressions in these roles, in their order."""
        return [one for one in self.expressions if one.role in roles]


@dataclass(frozen=True)
class RuleCase:
    """The validation rules at one node of a definition's schema, and all that they read. `is_root`
    if the node is the whole object."""

    document: int
    node: Schema
    is_root: bool
    expressions: tuple[PolicyExpression, ...]
    accesses: tuple[Access, ...]

    @property
    def sources(self) -> tuple[ValidationRule, ...]:
        """The rules as they are written."""
        return self.node.rules


Case = PolicyCase | RuleCase
"""Expressions that are evaluated together."""


@dataclass(frozen=True)
class BindingCase:
    """A validating binding."""

    document: int
    binding: ValidatingAdmissionPolicyBinding

    @property
    def name(self) -> str:
        return self.binding.name

    @property
    def spec(self) -> BindingSpec:
        return self.binding.spec


@dataclass(frozen=True)
class Bundle:
    """`others` are the remaining objects of the input: params, namespaces, definitions."""

    settings: Settings
    catalog: Catalog
    registered: tuple[Registered, ...] = ()
    policies: tuple[PolicyCase, ...] = ()
    bindings: tuple[BindingCase, ...] = ()
    mutating: tuple[MutatingCase, ...] = ()
    others: Sequence[Mapping[str, Any]] = ()
    custom: Mapping[GroupVersionKind, Schema] = field(default_factory=dict)
    mistakes: tuple[tuple[PolicyCase, Mistake], ...] = ()
    """What our type check found."""
    problems: tuple[tuple[PolicyCase, TypeProblem], ...] = ()
    """What the status controller's type check finds."""
    definitions: tuple[tuple[int, Mapping[str, Any]], ...] = ()
    """CustomResourceDefinitions, with their numbers."""
    rules: tuple[RuleCase, ...] = ()
    """Those in the definitions."""

    @property
    def cases(self) -> tuple[Case, ...]:
        """Of validating policies and of definitions."""
        return (*self.policies, *self.rules)

    def schema(self, kind: GroupVersionKind) -> Schema | None:
        """The schema of a kind, built in or defined in the input; None if nobody knows it."""
        return schema_for(kind) or self.custom.get(kind)

    @cached_property
    def bound(self) -> Mapping[str, list[BindingCase]]:
        """The bindings of each policy, by its name."""
        found: dict[str, list[BindingCase]] = {}
        for case in self.bindings:
            found.setdefault(case.spec.policy_name, []).append(case)
        return found

    @cached_property
    def policy_names(self) -> Mapping[str, PolicyCase]:
        return {case.name: case for case in self.policies}
