"""Type checking as the policy status controller does it: `status.typeChecking` to the letter.

The controller checks validations and their message expressions, nothing else, against the schema
of each kind that the policy's resource rules name outright: at most ten of them, none behind a
wildcard. What it finds never influences a decision. As k8s.io/apiserver
`pkg/admission/plugin/policy/validating/typechecking.go`.

Object types are named after their kind and a number that upstream takes from the clock, so texts
can be compared only without it. Here the caller gives the number; each type of a policy has the
next one, since two types with the same name would be the same type. Who gives the same number for
the next policy need not wait for the types of its kinds again.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Final, NamedTuple

from celadon.admission import compiled_expressions, decision_source
from celadon.admission.registration import registration_types
from celadon.cel import Environment, Issues, types
from celadon.kube import ApiVersionError, FieldPath, GroupVersionKind, metadata, parse_api_version
from celadon.kube.json_types import JsonDict
from celadon.kube.library import AUTHORIZER, environment
from celadon.kube.releases import current_release
from celadon.kube.resources import Catalog
from celadon.kube.schemas import Schema, SchemaType, schema_for, schema_type
from celadon.records import dataclass

MAX_TYPES: Final = 10
"""Kinds of one resource rule; reaching it ends the collection (`maxTypesToCheck` upstream)."""


@dataclass(frozen=True, slots=True)
class ExpressionWarning:
    """Holds what `status.typeChecking` says of one field."""

    field_ref: str
    warning: str

    def to_json(self) -> dict[str, str]:
        """Return the warning as it stands in the status."""
        return {"fieldRef": self.field_ref, "warning": self.warning}


@dataclass(frozen=True, slots=True)
class TypeProblem:
    """Holds what is wrong with one expression if the object is of this kind."""

    path: FieldPath
    kind: GroupVersionKind
    issues: Issues


class _NamedKind(NamedTuple):
    """A kind, and the number that its object type is named after."""

    kind: GroupVersionKind
    number: int

    @property
    def name(self) -> str:
        return f"{self.kind.kind}{self.number}"


_UNKNOWN: Final = _NamedKind(GroupVersionKind("", "", ""), 0)

#: Environments that are kept for policies about the same kinds. One has up to a megabyte.
_REMEMBERED: Final = 16


class TypeChecker:
    """Checks policies against the resources of `catalog` and the schemas of built-in kinds and
    `custom` ones, with the expressions that Kubernetes `version` knows, or the current release."""

    def __init__(
        self,
        catalog: Catalog,
        custom: Mapping[GroupVersionKind, Schema] | None = None,
        version: str | None = None,
    ) -> None:
        self._custom = custom or {}
        self._names = _ResourceNames(catalog)
        self._remembered: dict[tuple[_NamedKind, _NamedKind | None], Environment] = {}
        self._environment = environment(version or current_release()).extend(
            {
                "request": compiled_expressions.REQUEST,
                "namespaceObject": compiled_expressions.NAMESPACE,
                "authorizer": AUTHORIZER,
            },
            compiled_expressions.OBJECT_TYPES,
        )

    def status(self, policy: registration_types.ValidatingAdmissionPolicy, number: int) -> JsonDict:
        """Return what the controller writes as the status of a policy."""
        warnings = [warning.to_json() for warning in self.warnings(policy, number)]
        return {
            "observedGeneration": metadata.generation({"metadata": policy.metadata}),
            "typeChecking": {"expressionWarnings": warnings} if warnings else {},
        }

    def warnings(
        self, policy: registration_types.ValidatingAdmissionPolicy, number: int
    ) -> tuple[ExpressionWarning, ...]:
        """Return one warning for each field with problems, about all kinds that have them."""
        parts: dict[FieldPath, list[str]] = {}
        for problem in self.problems(policy, number):
            text = f"{problem.kind}: {problem.issues.display()}\n"
            parts.setdefault(problem.path, []).append(text)
        return tuple(ExpressionWarning(path.text, "\n".join(part)) for path, part in parts.items())

    def problems(
        self, policy: registration_types.ValidatingAdmissionPolicy, number: int
    ) -> Iterator[TypeProblem]:
        """Yield what the warnings are made of, by field and kind."""
        spec = policy.spec
        kinds = [kind for kind in types_to_check(spec, self._names) if self.schema(kind)]
        params = self._params(spec.param_kind, number + len(kinds))
        scopes = [
            (kind, self._scope(spec, _NamedKind(kind, number + i), params))
            for i, kind in enumerate(kinds)
        ]
        for path, source in _checked_fields(spec):
            for kind, env in scopes:
                issues = env.compile_once_more(source).issues
                if issues:
                    yield TypeProblem(path, kind, issues)

    def schema(self, kind: GroupVersionKind) -> Schema | None:
        """Return the schema of a kind; None if nobody knows it."""
        return schema_for(kind) or self._custom.get(kind)

    def _params(
        self, param_kind: registration_types.ParamKind | None, number: int
    ) -> _NamedKind | None:
        """Return the kind of params; None without one, and a kind of no name for one that nobody
        knows."""
        if param_kind is None:
            return None
        try:
            group_version = parse_api_version(param_kind.api_version)
        except ApiVersionError:
            return _UNKNOWN
        kind = GroupVersionKind(*group_version, param_kind.kind)
        return _UNKNOWN if self.schema(kind) is None else _NamedKind(kind, number)

    def _scope(
        self, spec: registration_types.PolicySpec, about: _NamedKind, params: _NamedKind | None
    ) -> Environment:
        """Return the environment of a policy's expressions for one kind. Variables are typed anew
        for each kind; a broken one is dyn."""
        env = self._environment_for(about, params)
        if not spec.variables:
            return env
        variable_types: dict[str, types.Type] = {}
        env = env.extend(objects=[compiled_expressions.variables_object(variable_types)])
        for variable in spec.variables:
            checked = env.compile_once_more(variable.expression).ast
            variable_types[variable.name] = (
                types.DYN if checked is None else compiled_expressions.variable_type(checked.type)
            )
        return env

    def _environment_for(self, about: _NamedKind, params: _NamedKind | None) -> Environment:
        """Return what expressions may name if there are no variables: hundreds of types, for the
        next policy about this kind, too."""
        env = self._remembered.get((about, params))
        if env is None:
            if len(self._remembered) >= _REMEMBERED:
                self._remembered.clear()
            obj = self._type(about)
            names, objects = {"object": obj.type, "oldObject": obj.type}, obj.objects
            if params is not None:
                declared = self._type(params)
                names["params"] = declared.type
                objects += declared.objects
            objects += (compiled_expressions.variables_object({}),)
            env = self._environment.extend(
                {**names, "variables": compiled_expressions.VARIABLES}, objects
            )
            self._remembered[about, params] = env
        return env

    def _type(self, named: _NamedKind) -> SchemaType:
        schema = self.schema(named.kind)
        return SchemaType(types.DYN) if schema is None else schema_type(schema, named.name)


def _checked_fields(spec: registration_types.PolicySpec) -> Iterator[tuple[FieldPath, str]]:
    for i, validation in enumerate(spec.validations):
        yield decision_source.validation(i).path, validation.expression
        if validation.message_expression:
            yield decision_source.message(i).path, validation.message_expression


class _ResourceNames:
    """The kinds that a resource name may mean, as upstream's REST mapper answers: plural or
    singular, in any case, lists of objects too, and in any group when none is given."""

    def __init__(self, catalog: Catalog) -> None:
        self._kinds: dict[tuple[str, str], dict[GroupVersionKind, None]] = {}
        for resource in catalog:
            if resource.served:
                self._add(resource.gvk, resource.gvr.resource, resource.singular)
                items = resource.gvk.kind.lower()
                kind = resource.gvk._replace(kind=f"{resource.gvk.kind}List")
                self._add(kind, f"{items}lists", f"{items}list")

    def _add(self, kind: GroupVersionKind, *names: str) -> None:
        for name in names:
            self._kinds.setdefault((kind.version, name.lower()), {})[kind] = None

    def kinds(self, group: str, version: str, resource: str) -> list[GroupVersionKind]:
        result = self._kinds.get((version, resource.lower()), {})
        return [kind for kind in result if not group or kind.group == group]


def types_to_check(
    spec: registration_types.PolicySpec, names: _ResourceNames
) -> list[GroupVersionKind]:
    """Return the kinds that the controller looks at, sorted."""
    result: set[GroupVersionKind] = set()
    constraints = spec.match_constraints
    for rule in () if constraints is None else constraints.resource_rules:
        count = 0
        for group, version, resource in _named_resources(rule):
            for kind in names.kinds(group, version, resource):
                result.add(kind)
                count += 1
                if count == MAX_TYPES:
                    return sorted(result)
    return sorted(result)


def _named_resources(rule: registration_types.Rule) -> Iterable[tuple[str, str, str]]:
    if any("*" in name for name in (*rule.api_groups, *rule.api_versions)):
        return
    resources = sorted(name for name in rule.resources if "*" not in name and "/" not in name)
    for group in sorted(rule.api_groups):
        for version in sorted(rule.api_versions):
            for resource in resources:
                yield group, version, resource
