"""What the expression at a place of a document may name, for editors: leniently, while it is typed.

Other than the engine and the rules, this asks no document to be right. What cannot be decoded is
left out: without rules there is no kind, and the object is of any type. A policy about several
kinds has a scope for each of the first few.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from celadon.admission.expressions.declared_types import (
    OBJECT_TYPES,
    VARIABLES,
    variable_types,
    variables_object,
)
from celadon.admission.lint.subjects import KindTypes, Settings, matched_kinds
from celadon.admission.registration.decoding import RegistrationError, decode_object
from celadon.admission.registration.registration_types import (
    MatchResources,
    ValidatingAdmissionPolicy,
)
from celadon.cel import Environment, types
from celadon.kube import ApiVersionError, GroupVersionKind, JsonObject, metadata, parse_api_version
from celadon.kube.library import environment
from celadon.kube.releases import answering_as
from celadon.kube.resources import Catalog, known_resources
from celadon.kube.schemas import Schema, SchemaType, custom_schemas, schema_type
from celadon.kube.well_known_values import DEFINITION_KIND
from celadon.records import dataclass

MAX_SCOPES: Final = 4
"""Kinds that are looked at; with more, the object might be anything."""

Steps = Sequence[str | int]


@dataclass(frozen=True, slots=True)
class TypedScope:
    """`kind` is that of `object`, `object_type` its fields; None if nobody knows them."""

    environment: Environment
    kind: GroupVersionKind | None = None
    object_type: SchemaType | None = None


class TypedScopes:
    """The scopes of all documents that stand beside these definitions; the types of a kind are
    made once."""

    def __init__(self, definitions: Iterable[JsonObject], settings: Settings) -> None:
        given = [one for one in definitions if metadata.gvk(one)[::2] == DEFINITION_KIND]
        self._version = settings.version
        with answering_as(settings.version):
            self._catalog: Catalog = known_resources()
        self._custom: dict[GroupVersionKind, Schema] = {}
        for one in given:
            try:
                self._catalog = self._catalog.with_crds([one])
                self._custom.update(custom_schemas(one))
            except (AttributeError, KeyError, TypeError, ValueError):
                continue  # half written
        self._types = KindTypes(self._custom)

    def at(self, document: JsonObject, path: Steps) -> list[TypedScope]:
        """The scopes of the expression there, at least one."""
        with answering_as(self._version):
            return self._at(document, path)

    def _at(self, document: JsonObject, path: Steps) -> list[TypedScope]:
        if metadata.gvk(document)[::2] == DEFINITION_KIND:
            return [self._of_rule(document, path)]
        spec = _part(document, path[:2] if path[:1] == ("webhooks",) else ("spec",))
        rules = spec.get("rules") if path[:1] == ("webhooks",) else _rules(spec)
        kinds = matched_kinds(_decoded(rules), self._catalog)
        known = [kind for kind in kinds if self._types.of(kind) is not None][:MAX_SCOPES]
        if len(kinds) > MAX_SCOPES or not known:
            return [TypedScope(self._of_policy(spec, path, None))]
        return [
            TypedScope(self._of_policy(spec, path, kind), kind, self._types.of(kind))
            for kind in known
        ]

    def _of_policy(
        self, spec: JsonObject, path: Steps, kind: GroupVersionKind | None
    ) -> Environment:
        obj = None if kind is None else self._types.of(kind)
        params = self._params(spec.get("paramKind"))
        names = variable_types(
            types.DYN if obj is None else obj.type,
            params=None if params is None else params.type,
            authorizer=path[-1:] != ("messageExpression",),
        )
        objects = [one for given in (obj, params) if given is not None for one in given.objects]
        base = environment(self._version, has_patch_types="mutations" in path)
        env = base.extend(names, (*OBJECT_TYPES, *objects))
        return env if "matchConditions" in path else _with_variables(env, spec, path)

    def _params(self, param_kind: object) -> SchemaType | None:
        """Return the type of `params`; None where there are none."""
        if not isinstance(param_kind, dict):
            return None
        anything = SchemaType(types.DYN)
        try:
            group_version = parse_api_version(str(param_kind.get("apiVersion")))
        except ApiVersionError:
            return anything
        return (
            self._types.of(GroupVersionKind(*group_version, str(param_kind.get("kind"))))
            or anything
        )

    def _of_rule(self, document: JsonObject, path: Steps) -> TypedScope:
        """`self` and `oldSelf` of a rule of a definition."""
        schema = self._schema(document, path)
        found = None if schema is None else schema_type(schema, "self")
        declared = types.DYN if found is None else found.type
        env = environment(self._version).extend(
            {"self": declared, "oldSelf": declared}, () if found is None else found.objects
        )
        return TypedScope(env)

    def _schema(self, document: JsonObject, path: Steps) -> Schema | None:
        """The node of the definition's schema that a rule stands at."""
        version = _part(document, path[:3]).get("name") if path[1:2] == ("versions",) else None
        roots = {kind.version: one for kind, one in self._of_definition(document).items()}
        node: Schema | None = (
            roots.get(str(version)) if version else next(iter(roots.values()), None)
        )
        steps = list(
            path[path.index("openAPIV3Schema") + 1 : path.index("x-kubernetes-validations")]
        )
        while steps and node is not None:
            step = steps.pop(0)
            if step == "properties" and steps:
                node = node.properties.get(str(steps.pop(0)))
            elif step == "items":
                node = node.items
            elif step == "additionalProperties":
                node = node.additional_properties
            else:
                return None
        return node

    def _of_definition(self, document: JsonObject) -> Mapping[GroupVersionKind, Schema]:
        spec = _part(document, ("spec",))
        return {
            kind: schema
            for kind, schema in self._custom.items()
            if kind.group == spec.get("group") and kind.kind == _part(spec, ("names",)).get("kind")
        }


def _with_variables(env: Environment, spec: JsonObject, path: Steps) -> Environment:
    """With the variables that the expression at a path may name: all, or those before it."""
    variables = spec.get("variables")
    if not isinstance(variables, list):
        return env
    if path[1:2] == ("variables",) and isinstance(path[2], int):
        variables = variables[: path[2]]
    known: dict[str, types.Type] = {}
    base = env.extend({"variables": VARIABLES})
    for one in variables:
        if isinstance(one, dict) and isinstance(one.get("name"), str):
            text = one.get("expression")
            typed = base.extend(objects=[variables_object(known)])
            checked = typed.compile(text).ast if isinstance(text, str) else None
            known[one["name"]] = types.DYN if checked is None else checked.type
    return base.extend(objects=[variables_object(known)])


def _part(value: object, path: Steps) -> JsonObject:
    """The map at a path; an empty one where there is none."""
    for step in path:
        if isinstance(value, dict):
            value = value.get(step)
        elif isinstance(value, list) and isinstance(step, int) and step < len(value):
            value = value[step]
        else:
            return {}
    return value if isinstance(value, dict) else {}


def _rules(spec: JsonObject) -> object:
    return _part(spec, ("matchConstraints",)).get("resourceRules")


def _decoded(rules: object) -> MatchResources | None:
    """Rules as a policy has them; None where they cannot be read."""
    document = {
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": "ValidatingAdmissionPolicy",
        "metadata": {"name": "scope"},
        "spec": {"matchConstraints": {"resourceRules": rules}},
    }
    try:
        decoded = decode_object(document, "ValidatingAdmissionPolicy").value
    except RegistrationError:
        return None
    assert isinstance(decoded, ValidatingAdmissionPolicy)
    return decoded.spec.match_constraints
