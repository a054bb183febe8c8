"""A request that is not known, to one endpoint: what expressions see of it, and examples of it."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Final

import z3

from celadon.admission import Operation, Request, default_options
from celadon.admission.registration import Rule
from celadon.kube import GroupVersionKind, GroupVersionResource, JsonObject, User
from celadon.kube.crd import CustomKind, custom_kinds
from celadon.kube.metadata import gvk
from celadon.kube.registry import create
from celadon.kube.resources import Catalog, Resource, custom_resources, known_resources
from celadon.kube.schemas import DecodeError, Schema, component, schema_for
from celadon.kube.well_known_values import NAMESPACES
from celadon.prove.solver_terms import FALSE, TRUE, Formula, Term, both, either, negated, same, text
from celadon.prove.symbolic_functions import literal
from celadon.prove.symbolic_objects import Inputs
from celadon.prove.symbolic_values import (
    FAILS,
    Entry,
    Fields,
    List,
    Map,
    Null,
    Outcome,
    Text,
    Truth,
    Unshaped,
    Value,
    certain,
)

NAMESPACE: Final = GroupVersionKind("", "v1", "Namespace")

PARAM: Final = "proof"
"""The name and namespace of params in examples."""

_LONGEST_LABEL: Final = 63

_LETTERS: Final = z3.Range("a", "z")
_LETTERS_AND_DIGITS: Final = z3.Union(_LETTERS, z3.Range("0", "9"))
_PLAIN_NAME: Final = z3.Concat(_LETTERS, z3.Star(_LETTERS_AND_DIGITS))
"""Names that every kind of object may have; examples have them where they can."""

_LABEL: Final = z3.Concat(
    _LETTERS_AND_DIGITS,
    z3.Option(z3.Concat(z3.Star(z3.Union(_LETTERS_AND_DIGITS, z3.Re("-"))), _LETTERS_AND_DIGITS)),
)
"""Names of namespaces: DNS labels."""

ANYBODY: Final = User("somebody", ("system:authenticated",))
"""Who sends a request where that does not matter."""


# --- Kinds -------------------------------------------------------------------
#
# The kinds whose objects may be unknown: those that are built in, and those of definitions.
#
# Policies see a custom resource as it is written, with all of its metadata, and its numbers as JSON
# has them; rules of its definition see it otherwise (`celadon.prove.definitions`).

_TEXT: Final = Schema(type="string")
_METADATA: Final = "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta"


@dataclass(frozen=True, slots=True)
class KnownKinds:
    """Built-in kinds, and these custom ones."""

    custom: Mapping[GroupVersionKind, CustomKind] = field(default_factory=dict)
    resources: tuple[Resource, ...] = ()
    """Those of the custom ones."""

    @classmethod
    def of(cls, definitions: Iterable[JsonObject]) -> KnownKinds:
        """Return the kinds of definitions; of two definitions of one kind the later one counts."""
        result: dict[GroupVersionKind, CustomKind] = {}
        resources: dict[GroupVersionResource, Resource] = {}
        for definition in definitions:
            result |= custom_kinds(definition)
            resources |= {resource.gvr: resource for resource in custom_resources(definition)}
        return cls(result, tuple(resources.values()))

    @property
    def catalog(self) -> Catalog:
        """Return all of them, as the server of the current release has them."""
        catalog = known_resources()
        return catalog.with_resources(self.resources) if self.resources else catalog

    def has_all(self, rule: Rule) -> bool:
        """Return whether all that a rule may be about is built in or defined. Of built-in groups
        all kinds are known."""
        built_in = {resource.gvr.group for resource in known_resources()}
        defined = {(resource.gvr.group, resource.gvr.resource) for resource in self.resources}
        names = [pattern.partition("/")[0] for pattern in rule.resources]
        return all(
            group in built_in or (group, name) in defined
            for group in rule.api_groups
            for name in names
        )

    def unknown(
        self, inputs: Inputs, kind: GroupVersionKind, path: str, *, is_stored: bool = False
    ) -> Outcome:
        """Return any object of a kind, as it is before or after it was stored."""
        custom = self.custom.get(kind)
        if custom is not None:
            about = {"apiVersion": _TEXT, "kind": _TEXT, "metadata": component(_METADATA)}
            schema = replace(custom.schema, properties={**custom.schema.properties, **about})
            fields = inputs.kind(kind, schema, path, is_custom=True, is_stored=is_stored)
            return certain(fields)
        built_in = schema_for(kind)
        return certain(Unshaped(path) if built_in is None else inputs.kind(kind, built_in, path))

    def completed(self, value: JsonObject, kind: GroupVersionKind) -> JsonObject:
        """Return an object as the server completes it. Raises DecodeError or StatusError for what
        it does not take."""
        custom = self.custom.get(kind)
        if custom is not None:
            value = custom.prepare(dict(value)).value
            if custom.validate(dict(value)).errors:
                raise DecodeError("what the definition does not admit")
        return create.admit_form(value, kind)


BUILT_IN: Final = KnownKinds()
"""No custom kinds."""


# --- Requests ----------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Names a kind and operation that a policy matches. Of subresources those are modelled whose
    requests have the whole object, such as `status`: any change of it is thought possible there."""

    resource: Resource
    kind: GroupVersionKind
    operation: Operation
    subresource: str = ""

    def __str__(self) -> str:
        below = f" ({self.subresource})" if self.subresource else ""
        return f"{self.operation.value} of {self.kind.kind}{below}"


class SymbolicRequest:
    """The unknowns of a request: its objects, its namespace, who sends it."""

    def __init__(
        self,
        endpoint: Endpoint,
        inputs: Inputs,
        param: GroupVersionKind | None = None,
        kinds: KnownKinds = BUILT_IN,
    ) -> None:
        self._endpoint = endpoint
        self._inputs = inputs
        self._kinds = kinds
        operation = endpoint.operation
        self.object = self._object("object", is_there=operation is not Operation.DELETE)
        self.old_object = self._object("oldObject", is_there=operation is not Operation.CREATE)
        is_namespace = endpoint.resource.gvr == NAMESPACES
        self._name = self._unknown_name("request.name", is_label=is_namespace)
        self._has_name: Formula = TRUE
        if operation is not Operation.UPDATE:  # generated later, or one of a collection
            self._has_name = inputs.presence("request.name")
        self._dry_run = inputs.unknown("request.dryRun", z3.BoolSort())
        self._namespace_name: Term | None = None
        self.namespace = certain(Null())
        if is_namespace:  # which are in the namespace that they are
            self.namespace = certain(Unshaped("namespaceObject"))
        elif endpoint.resource.namespaced:
            self._namespace_name = self._unknown_name("request.namespace", is_label=True)
            self.namespace = self._object("namespaceObject", NAMESPACE)
            self._assume_metadata(self.namespace, "name", self._namespace_name)
            self._assume_metadata(self.namespace, "namespace", None)
        for outcome in (self.object, self.old_object):
            self._assume_metadata(outcome, "name", self._name)
            self._assume_metadata(outcome, "namespace", self._namespace_name)
        self.user = certain(self._user())
        self.params = certain(Null())
        self._place = {"name": PARAM}
        if param is not None:
            self.params = self._object("params", param)
            resource = kinds.catalog.by_gvk(param)
            if resource is not None and resource.namespaced:
                self._place["namespace"] = PARAM
            self._hide_place(self.params)

    @property
    def endpoint(self) -> Endpoint:
        """Return the endpoint that the request is for."""
        return self._endpoint

    @property
    def namespace_name(self) -> Text | None:
        """The name of its namespace, if it is in one."""
        return None if self._namespace_name is None else Text(self._namespace_name)

    @property
    def name(self) -> Term:
        """The name of its object, whether the request says it or not."""
        return self._name

    def named(self, names: Collection[str] | None) -> Formula:
        """Return where the request has one of these names; None stands for all, and for none."""
        if names is None:
            return TRUE
        return both(self._has_name, either(same(self._name, text(name)) for name in sorted(names)))

    def param(
        self, kind: GroupVersionKind, path: str, name: str, namespace: Text | str | None
    ) -> Outcome:
        """Return an object that a policy is given. Of what is not known the name is, if it is
        empty; the namespace is None for what is in none."""
        outcome = self._object(path, kind)
        called = text(name) if name else self._unknown_name(path, is_label=True)
        self._assume_metadata(outcome, "name", called)
        where = text(namespace) if isinstance(namespace, str) else namespace and namespace.term
        self._assume_metadata(outcome, "namespace", where)
        return outcome

    def _object(
        self, path: str, kind: GroupVersionKind | None = None, *, is_there: bool = True
    ) -> Outcome:
        if not is_there:
            return certain(Null())
        kind, is_stored = kind or self._endpoint.kind, path != "object"
        return self._kinds.unknown(self._inputs, kind, path, is_stored=is_stored)

    def _unknown_name(self, path: str, *, is_label: bool) -> Term:
        """Return an unknown name: of a namespace a label, of other objects what may stand in a URL
        (roles are called `system:node`)."""
        name = self._inputs.unknown(path, z3.StringSort())
        if is_label:
            self._inputs.assumed += [z3.InRe(name, _LABEL), z3.Length(name) <= _LONGEST_LABEL]
        else:
            self._inputs.assumed += [
                z3.Length(name) > 0,
                *(negated(z3.Contains(name, text(word))) for word in "/%"),
                *(name != text(item) for item in (".", "..")),
            ]
        self._inputs.presences.append(negated(z3.InRe(name, _PLAIN_NAME)))
        return name

    def _hide_place(self, params: Outcome) -> None:
        """Params are called as a binding says, and every binding may say something else."""
        (case,) = params.cases
        if isinstance(case.value, Fields):
            _, metadata = case.value.made_field("metadata")
            (inner,) = metadata.cases
            assert isinstance(inner.value, Fields)
            inner.value.members["namespace"] = FALSE, FAILS  # where it is in none
            for name in self._place:
                place = f"params.metadata.{name}"
                inner.value.members[name] = TRUE, certain(Unshaped(place))

    def _assume_metadata(self, outcome: Outcome, field: str, name: Term | None) -> None:
        """Assume that the objects of a request have its name and namespace."""
        (case,) = outcome.cases
        if not isinstance(case.value, Fields):
            return
        _, metadata = case.value.made_field("metadata")
        (inner,) = metadata.cases
        assert isinstance(inner.value, Fields)
        present, text = inner.value.made_field(field)
        if name is None:
            self._inputs.assumed.append(negated(present))
            return
        (leaf,) = text.cases
        assert isinstance(leaf.value, Text)
        self._inputs.assumed += [present, leaf.value.term == name]

    def _user(self) -> Map:
        path, inputs = "request.userInfo", self._inputs
        name = inputs.unknown(f"{path}.username", z3.StringSort())
        inputs.assumed.append(z3.Length(name) > 0)
        groups = inputs.value(_TEXTS, f"{path}.groups")
        return Map(
            (
                Entry(TRUE, _key("username"), certain(Text(name))),
                Entry(_first_is_there(groups), _key("groups"), groups),
                *(
                    Entry(inputs.presence(place), _key(name), certain(Unshaped(place)))
                    for name in ("uid", "extra")
                    for place in (f"{path}.{name}",)
                ),
            )
        )

    def variable(self) -> Outcome:
        """Return the variable `request`."""
        endpoint = self._endpoint
        kind, resource = endpoint.kind, endpoint.resource.gvr
        kinds = literal({"group": kind.group, "version": kind.version, "kind": kind.kind})
        resources = literal(
            {
                "group": resource.group,
                "version": resource.version,
                "resource": resource.resource,
            }
        )
        members: dict[str, Value] = {
            "uid": Unshaped("request.uid"),
            "kind": kinds,
            "resource": resources,
            "requestKind": kinds,
            "requestResource": resources,
            "operation": literal(endpoint.operation.value),
            "object": Null(),
            "oldObject": Null(),
            "dryRun": Truth(self._dry_run),
            "options": Unshaped("request.options"),
        }
        if endpoint.subresource:
            for member in ("subResource", "requestSubResource"):
                members[member] = literal(endpoint.subresource)
        if self._namespace_name is not None:
            members["namespace"] = Text(self._namespace_name)
        entries = [Entry(TRUE, _key(name), certain(value)) for name, value in members.items()]
        entries.append(Entry(self._has_name, _key("name"), certain(Text(self._name))))
        if endpoint.resource.gvr == NAMESPACES:  # which are in themselves, once they have a name
            inside = certain(Unshaped("request.namespace"))
            entries.append(Entry(self._has_name, _key("namespace"), inside))
        return certain(Map((*entries, Entry(TRUE, _key("userInfo"), self.user))))

    def example(self, model: z3.ModelRef) -> tuple[Request, tuple[JsonObject, ...]]:
        """Return the request of a model, its objects as the server completes them; and the objects
        around it, its namespace and the params."""
        endpoint, inputs = self._endpoint, self._inputs
        user = inputs.json(self.user, model)
        assert isinstance(user, dict)
        groups = user.get("groups", [])
        assert isinstance(groups, list)
        request = Request(
            endpoint.operation,
            endpoint.kind,
            endpoint.resource.gvr,
            endpoint.subresource,
            name=str(inputs.scalar(self._name, model))
            if inputs.scalar(self._has_name, model)
            else "",
            object=self.completed(self.object, model),
            old_object=self.completed(self.old_object, model),
            user=User(str(user["username"]), groups=tuple(map(str, groups))),
            dry_run=bool(inputs.scalar(self._dry_run, model)),
            options=default_options(endpoint.operation),
        )
        if self._namespace_name is not None:
            request.namespace = str(inputs.scalar(self._namespace_name, model))
        elif endpoint.resource.gvr == NAMESPACES:
            request.namespace = request.name
        around = [
            self.completed(self.namespace, model),
            self.completed(self.params, model, self._place),
        ]
        return request, tuple(item for item in around if item is not None)

    def written(self, outcome: Outcome, model: z3.ModelRef) -> JsonObject | None:
        """Return an object of a model with no more than the model says of it; None if there is
        none."""
        value = self._inputs.json(outcome, model)
        return value if isinstance(value, dict) and value else None

    def completed(
        self, outcome: Outcome, model: z3.ModelRef, place: Mapping[str, str] | None = None
    ) -> JsonObject | None:
        """Return the same as the server completes it; `place` is its name and namespace, where the
        model does not say them."""
        value = self._inputs.json(outcome, model)
        if not isinstance(value, dict) or not value:
            return None
        if place is not None:
            object_meta = value["metadata"]
            assert isinstance(object_meta, dict)
            object_meta.update(place)
        return self._kinds.completed(value, gvk(value))


_TEXTS: Final = Schema(type="array", items=Schema(type="string"))


def _first_is_there(outcome: Outcome) -> Formula:
    """Return where a list is not empty."""
    (case,) = outcome.cases
    assert isinstance(case.value, List)
    return case.value.items[0].presence


def _key(name: str) -> Text:
    key = literal(name)
    assert isinstance(key, Text)
    return key
