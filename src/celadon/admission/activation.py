"""The variables of an expression, everything about a request that policies share, and who is told
which parts of policies were reached.

`RequestContext` is made once per review. Whatever several policies need is computed there at its
first use and kept: labels, the Namespace, the `request` value, converted objects, the size that
bounds costs. As k8s.io/apiserver `pkg/admission/plugin/cel/activation.go`.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import Any, Final

from celadon import kube
from celadon.admission.cluster_lookups import World
from celadon.admission.compiled_expressions import Meter, size_bound
from celadon.admission.request import Operation, Request
from celadon.kube.json_types import JsonDict
from celadon.kube.library import Authorizer
from celadon.kube.well_known_values import META_FIELDS
from celadon.records import dataclass

# --- Hits --------------------------------------------------------------------
#
# What matching comes to: a `Hit`, or an error of the policy, binding or webhook.
#
# Apart from `matching` because the variables of expressions depend on the hit, while matching
# asks the request's context for labels.

NAMESPACES: Final = "namespaces"


class MatchError(Exception):
    """Matching failed: a configuration error of the policy or binding, `failure` to the client of a
    webhook. `path` leads to the selector that could not be used, from the match constraints or
    resources on."""

    def __init__(
        self, failure: kube.StatusError, path: kube.FieldPath = kube.fieldpath.ROOT
    ) -> None:
        super().__init__(str(failure))
        self.failure = failure
        self.path = path


@dataclass(frozen=True, slots=True)
class Hit:
    """A rule that covers the target: as which resource and kind, for which names (None: all)."""

    resource: kube.GroupVersionResource
    kind: kube.GroupVersionKind
    names: frozenset[str] | None = None


# --- Authorizer variable -----------------------------------------------------
#
# `authorizer` in expressions: the request's user, asking the world's authorizer.
#
# Answers are kept for the length of one review, so the same question is asked once. As
# k8s.io/apiserver `pkg/admission/plugin/authorizer/caching_authorizer.go`.


class RememberedAnswers:
    """The world's authorizer, with what it said so far."""

    __slots__ = ("_answers", "_world")

    def __init__(self, world: World) -> None:
        self._world = world
        self._answers: dict[Hashable, kube.Answer] = {}

    def authorize(self, attributes: kube.Attributes) -> kube.Answer:
        key = attributes.identity
        answer = self._answers.get(key)
        if answer is None:
            answer = self._answers[key] = self._world.authorize(attributes)
        return answer


def authorizer_values(request: Request, world: World) -> kube.JsonObject:
    """Return `authorizer` and, for what the request is about, `authorizer.requestResource`."""
    authorizer = Authorizer(request.user, RememberedAnswers(world))
    resource = request.resource
    check = authorizer.request_resource(
        resource.group, resource.resource, request.subresource, request.namespace, request.name
    )
    return {"authorizer": authorizer, "authorizer.requestResource": check}


_NAMESPACE_METADATA: Final = tuple(
    name for name in META_FIELDS if name not in {"selfLink", "ownerReferences", "managedFields"}
)
_SMALL_PARTS: Final = 1024  # kinds, resources, the operation and the names of all members


class RequestContext:
    """One review's request and world, with what was computed from them so far."""

    __slots__ = (
        "_activations",
        "_authorizer",
        "_converted",
        "_namespace",
        "_namespace_labels",
        "_namespace_size",
        "_object_labels",
        "_size",
        "name",
        "request",
        "world",
    )

    def __init__(self, request: Request, world: World) -> None:
        self.request = request
        self.world = world
        self.name = request.name
        self._activations: dict[kube.GroupVersionKind, dict[str, object]] = {}
        self._authorizer: kube.JsonObject | None = None
        self._converted: dict[kube.GroupVersionKind, tuple[kube.Json, kube.Json]] = {}
        self._namespace: kube.JsonObject | None = None
        self._namespace_labels: Mapping[str, str] | None = None
        self._object_labels: Sequence[Mapping[str, str]] | None = None
        self._size: int | None = request.size
        self._namespace_size: int | None = None

    # --- budgets; `celadon.admission.explain` looks on from here ---

    @property
    def traces(self) -> bool:
        """Return whether everything has to be counted, since somebody looks on."""
        return False

    def begin(self, policy: str, binding: str, param: str, hit: Hit) -> None:
        """Evaluate a policy for that binding and param (empty for none) from here on."""

    def meter(self, budget: int) -> Meter:
        """Return the meter for the next phase."""
        return Meter(budget)

    # --- labels, for matching ---

    def namespace_labels(self) -> Mapping[str, str] | None:
        """Return what a namespace selector looks at; None when the request is in no namespace."""
        if self._namespace_labels is None:
            request = self.request
            about_namespace = request.resource.resource == NAMESPACES
            if not request.namespace and not about_namespace:
                return None
            writes = request.operation in {Operation.CREATE, Operation.UPDATE}
            if about_namespace and writes and not request.subresource:
                self._namespace_labels = kube.metadata.labels(request.object)
            else:
                self._namespace_labels = kube.metadata.labels(self._stored_namespace())
        return self._namespace_labels

    def _stored_namespace(self) -> kube.JsonObject:
        name = self.request.namespace
        if not name:  # of another kind whose resource has this name
            raise MatchError(kube.status.internal_error("resource name may not be empty"))
        namespace = self.world.namespace(name)
        if namespace is None:
            raise MatchError(kube.status.not_found(kube.GroupResource("", NAMESPACES), name))
        return namespace

    def object_labels(self) -> Sequence[Mapping[str, str]]:
        """Return what an object selector looks at: options objects have no labels to look at."""
        if self._object_labels is None:
            request = self.request
            connects = request.operation is Operation.CONNECT
            objects = (None if connects else request.object, request.old_object)
            self._object_labels = [kube.metadata.labels(o) for o in objects if o is not None]
        return self._object_labels

    # --- values, for evaluation ---

    def namespace_object(self) -> kube.JsonObject | None:
        """Return the request's Namespace as expressions see it. StatusError when it does not exist:
        that goes to the client whatever the failure policy is."""
        stored = self._own_namespace()
        return None if stored is None else trimmed_namespace(stored)

    def whole_namespace_object(self) -> kube.JsonObject | None:
        """Return the request's Namespace as audit annotations see it."""
        stored = self._own_namespace()
        return None if stored is None else whole_namespace(stored)

    def _own_namespace(self) -> kube.JsonObject | None:
        if self._namespace is None and self._is_in_namespace():
            self._namespace = self._found_namespace()
        return self._namespace

    def _is_in_namespace(self) -> bool:
        """Return whether the object is in a namespace: a Namespace is in none, though its requests
        name it."""
        request = self.request
        if not request.namespace:
            return False
        return request.kind.kind != "Namespace" or bool(request.kind.group)

    def _found_namespace(self) -> kube.JsonObject:
        name = self.request.namespace
        namespace = self.world.namespace(name)
        if namespace is None:
            raise kube.status.not_found(kube.GroupResource("", NAMESPACES), name)
        return namespace

    def objects(self, kind: kube.GroupVersionKind) -> tuple[Any, Any]:
        """Object and old object in the matched version; may raise ConversionError."""
        request = self.request
        if kind == request.kind:
            return request.object, request.old_object
        converted = self._converted.get(kind)
        if converted is None:
            old = request.old_object
            converted = (
                None if request.object is None else self.world.convert(request.object, kind),
                None if old is None else self.world.convert(old, kind),
            )
            self._converted[kind] = converted
        return converted

    def own_activation(self) -> dict[str, object]:
        """`activation` of the request as what it is."""
        return self.activation(Hit(self.request.resource, self.request.kind))

    def object_activation(self) -> dict[str, object]:
        """`own_activation` for expressions that read nothing but the objects: the rest takes a
        tenth of the decision on a review. The namespace has to be there all the same."""
        if self._is_in_namespace():
            self._found_namespace()
        return {"object": self.request.object, "oldObject": self.request.old_object, "params": None}

    def activation(self, hit: Hit) -> JsonDict:
        """Return the variables that depend on the request alone, for the phase of validations.
        Shared between policies: callers that add to it copy it first."""
        activation = self._activations.get(hit.kind)
        if activation is None:
            obj, old = self.objects(hit.kind)
            activation = {
                "object": obj,
                "oldObject": old,
                "request": request_value(self.request, hit.kind, hit.resource),
                "namespaceObject": self.namespace_object(),
                "params": None,
            }
            self._activations[hit.kind] = activation
        return activation

    def conditions_request(self, hit: Hit) -> kube.JsonObject:
        """`request` in match conditions: the matched kind, but the original resource."""
        return request_value(self.request, hit.kind, self.request.resource)

    def authorizer(self) -> kube.JsonObject:
        """Return `authorizer` and `authorizer.requestResource`."""
        if self._authorizer is None:
            self._authorizer = authorizer_values(self.request, self.world)
        return self._authorizer

    # --- size, for the choice between the plain and the metered program ---

    def size(self) -> int:
        """Return an upper bound of everything a request brings, the namespace once somebody has
        asked for it."""
        if self._size is None:
            request, user = self.request, self.request.user
            values = (request.object, request.old_object, request.options)
            names = (request.name, request.namespace, user.name, user.uid, user.groups)
            self._size = _SMALL_PARTS + size_bound((values, names, dict(user.extra)))
        namespace = 0
        if self._namespace is not None:
            if self._namespace_size is None:
                self._namespace_size = size_bound(self._namespace)
            namespace = self._namespace_size
        return self._size + namespace


def request_value(
    request: Request, kind: kube.GroupVersionKind, resource: kube.GroupVersionResource
) -> kube.JsonObject:
    """`request` in expressions: the JSON form of an AdmissionRequest, empty members left out."""
    value: dict[str, kube.Json] = {
        "uid": "",
        "kind": _kind_value(kind),
        "resource": _resource_value(resource),
        "requestKind": _kind_value(request.original_kind),
        "requestResource": _resource_value(request.original_resource),
        "operation": request.operation.value,
        "userInfo": _user_value(request.user),
        "object": None,
        "oldObject": None,
        "dryRun": request.dry_run,
        "options": request.options,
    }
    if request.subresource:
        value["subResource"] = request.subresource
    if request.original_subresource:
        value["requestSubResource"] = request.original_subresource
    if request.name:
        value["name"] = request.name
    if request.namespace:
        value["namespace"] = request.namespace
    return value


def _kind_value(kind: kube.GroupVersionKind) -> dict[str, str]:
    group, version, name = kind
    return {"group": group, "version": version, "kind": name}


def _resource_value(resource: kube.GroupVersionResource) -> dict[str, str]:
    group, version, name = resource
    return {"group": group, "version": version, "resource": name}


def _user_value(user: kube.User) -> dict[str, kube.Json]:
    value: dict[str, kube.Json] = {}
    if user.name:
        value["username"] = user.name
    if user.uid:
        value["uid"] = user.uid
    if user.groups:
        value["groups"] = list(user.groups)
    if user.extra:
        value["extra"] = {key: list(values) for key, values in user.extra.items()}
    return value


def trimmed_namespace(namespace: kube.JsonObject) -> dict[str, kube.Json]:
    """Return the fields of a Namespace that validations may read."""
    value = kube.metadata.metadata(namespace)
    return {
        "metadata": {key: value[key] for key in _NAMESPACE_METADATA if key in value},
        "spec": namespace.get("spec", {}),
        "status": namespace.get("status", {}),
    }


def whole_namespace(namespace: kube.JsonObject) -> dict[str, kube.Json]:
    """Return the Namespace as audit annotations see it: the server's cache drops
    `managedFields`."""
    data = kube.metadata.metadata(namespace)
    return {
        **namespace,
        "metadata": {key: value for key, value in data.items() if key != "managedFields"},
    }
