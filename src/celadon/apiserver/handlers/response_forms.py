"""Objects, lists and watch events in the form that was accepted: whole, as tables, as metadata."""

from __future__ import annotations

import base64
from collections.abc import Callable, Sequence
from typing import Any, Final

from celadon.apiserver.caches.served_resources import Served
from celadon.apiserver.handlers.request_context import Call
from celadon.apiserver.handlers.resource_endpoints import Endpoint
from celadon.apiserver.handlers.watch import BOOKMARK, ERROR, INITIAL_EVENTS_END, WatchEvent
from celadon.apiserver.http_messages import JSON, json_bytes, sorted_json_bytes
from celadon.apiserver.negotiation import PROTOBUF, Accepted, Form
from celadon.apiserver.object_store import ObjectTexts
from celadon.apiserver.printers import tables
from celadon.apiserver.request_info import WATCH_LIST
from celadon.kube import JsonObject, metadata, status
from celadon.kube.json_types import JsonDict
from celadon.kube.protobuf import encode
from celadon.kube.releases import emulated_release, is_since
from celadon.kube.resources import gates_of
from celadon.records import dataclass

_BLUEPRINT: Final = "kubernetes.io/initial-events-list-blueprint"


def has_blueprints() -> bool:
    """Return whether watches tell how a list of what they have shown looks, as in 1.32 and 1.33."""
    return is_since("1.32") and not is_since("1.34") and gates_of(emulated_release())[WATCH_LIST].on


_NO_LIST: Final = "*unstructured.Unstructured is not a list: no Items field in this object"


@dataclass(frozen=True, slots=True)
class Forms:
    """Shows what one request gets in the form that it wants. `now` is in seconds."""

    call: Call
    accepted: Accepted
    served: Served
    now: Callable[[], float]

    # Most requests are: their bytes come from what was written once for all who read it.
    @property
    def is_plain(self) -> bool:
        """Return whether stored objects are shown as they are, as compact JSON."""
        accepted = self.accepted
        plain = accepted.form is Form.OBJECT and accepted.media_type == JSON and not accepted.pretty
        return plain and self.call.endpoint.subresource is None

    @property
    def are_shared(self) -> bool:
        """Return whether the events of a watch look alike to all who want them in this form: tables
        tell ages, and what their reader includes."""
        return self.accepted.form in (Form.OBJECT, Form.METADATA) and self._can_be_written()

    @property
    def has_own_columns(self) -> bool:
        """Return whether it is a table whose columns a definition has: each of its paths may take
        long."""
        return self.accepted.form is Form.TABLE and self.call.endpoint.resource.custom

    @property
    def sorts(self) -> bool:
        """Return whether members are sorted: of objects that have no Go type, shown as they are."""
        return self.accepted.form is Form.OBJECT and self.call.endpoint.is_untyped

    def object(self, obj: JsonObject) -> JsonObject:
        """Return one object in the form of the answer. Raises StatusError: 400, or 406 for a list
        form."""
        endpoint = self.call.endpoint
        match self.accepted.form:
            case Form.OBJECT:
                self.require_no_list(obj)
                return obj
            case Form.TABLE:
                return tables.object_table(self._shape(), obj, self._table(), self.now())
            case Form.METADATA:
                return tables.partial_object(obj, self.accepted.version)
        # Go's conversion fails here with the type of what it has, so that the text has to name it.
        raise tables.not_a_list(_go_type(endpoint), custom=endpoint.is_untyped)

    # `ensureNonNilItems` of k8s.io/apiserver `pkg/endpoints/handlers/response.go`.
    def require_no_list(self, obj: JsonObject) -> None:
        """Raise StatusError (500) for a custom resource with a list of `items`, which upstream
        takes for a list of objects and then misses the Go field."""
        if self.call.endpoint.resource.custom and isinstance(obj.get("items"), list):
            raise status.plain_error(_NO_LIST)

    def list(self, meta: JsonObject, objects: Sequence[JsonObject]) -> JsonObject:
        """Return a list in the form of the answer. Raises StatusError: 400, or 406 for the form of
        one object."""
        resource = self.call.endpoint.resource
        match self.accepted.form:
            case Form.OBJECT:
                return self._whole_list(meta, objects)
            case Form.TABLE:
                return tables.list_table(self._shape(), meta, objects, self._table(), self.now())
            case Form.METADATA_LIST:
                return tables.partial_list(meta, objects, self.accepted.version)
        raise tables.not_an_object(resource.gvk, custom=resource.custom)

    def _whole_list(self, meta: JsonObject, objects: Sequence[JsonObject]) -> JsonObject:
        resource = self.call.endpoint.resource
        custom = resource.custom
        return {
            "kind": resource.list_kind,
            "apiVersion": resource.gvk.api_version,
            # An unstructured list always has the member; that of a built-in kind leaves an empty
            # one out.
            "metadata": {"continue": "", **meta} if custom else meta,
            "items": list(objects) if custom else [_untyped(obj) for obj in objects],
        }

    def plain_list(
        self, meta: JsonObject, objects: Sequence[JsonObject], texts: ObjectTexts
    ) -> bytes:
        """Return a whole list as compact JSON, joined from the texts of its objects."""
        resource = self.call.endpoint.resource
        empty = self._whole_list(meta, ())
        written = sorted_json_bytes(empty) if resource.custom else json_bytes(empty)
        before, after = written.split(b'"items":[]')
        return texts.items(objects, resource, before + b'"items":[', b"]" + after + b"\n")

    def event(self, event: WatchEvent, *, first: bool) -> JsonObject | None:
        """Return the object of an event; None where the form has no place for any."""
        obj = event.object
        if event.type == ERROR:
            return obj
        if event.type == BOOKMARK and has_blueprints():
            obj = self._with_blueprint(obj)
        if self.accepted.form is Form.OBJECT:
            return obj if self._can_be_written() else None
        if self.accepted.form is Form.TABLE:
            return tables.event_table(self._shape(), obj, self._table(), self.now(), first=first)
        if self.accepted.form is Form.METADATA:
            return tables.partial_object(obj, self.accepted.version)
        return None

    def _with_blueprint(self, obj: JsonObject) -> JsonObject:
        """Return a bookmark that ends the initial events, with the list of nothing as this watch
        would write it, in base64."""
        annotations = metadata.annotations(obj)
        if INITIAL_EVENTS_END not in annotations:
            return obj
        resource, empty = self.call.endpoint.resource, dict[str, Any]()
        if self.accepted.form is Form.METADATA:
            empty = tables.partial_list({}, (), self.accepted.version)
        elif resource.custom:
            empty = {"apiVersion": resource.gvk.api_version, "items": []}
            empty["kind"] = resource.list_kind
        else:
            empty = {"kind": resource.list_kind, "apiVersion": resource.gvk.api_version}
            empty |= {"metadata": {}, "items": None}
        is_message = self.accepted.media_type == PROTOBUF and self._can_be_written()
        text = encode(empty) if is_message else json_bytes(empty) + b"\n"
        blueprint = {_BLUEPRINT: base64.b64encode(text).decode()}
        meta = {**obj["metadata"], "annotations": {**annotations, **blueprint}}
        return {**obj, "metadata": meta}

    def _can_be_written(self) -> bool:
        """Tell whether there is a message in protobuf, where one is wanted: what has no Go type has
        none."""
        return self.accepted.media_type != PROTOBUF or not self.call.endpoint.is_untyped

    def _table(self) -> tables.TableForm:
        included = tables.included_object(self.call.request)
        return tables.TableForm(
            self.accepted.version, included, sorts=self.call.endpoint.is_untyped
        )

    def _shape(self) -> tables.TableShape:
        endpoint = self.call.endpoint
        if endpoint.subresource is not None and endpoint.subresource.name == "scale":
            return tables.custom_scale_shape() if endpoint.resource.custom else tables.scale_shape()
        definition = self.served.definition_of(endpoint.resource)
        if definition is None:
            return tables.built_in_shape(endpoint.resource.gvr)
        return tables.custom_shape(endpoint.resource, definition)

    def check(self) -> None:
        """Raise StatusError for what no table can include. Call it after everything is done, even
        if an error is what is shown."""
        if self.accepted.form is Form.TABLE:
            tables.included_object(self.call.request)


def _go_type(endpoint: Endpoint) -> str:
    """Return the type of one object that the endpoint shows: of scales, whatever they scale, one of
    their own, which those of custom resources have in their version."""
    is_scale = endpoint.subresource is not None and endpoint.subresource.name == "scale"
    if is_scale and endpoint.resource.custom:
        return f"{endpoint.kind.version}.{endpoint.kind.kind}"
    return tables.go_type(endpoint.kind if is_scale else endpoint.resource.gvk)


def _untyped(obj: JsonObject) -> JsonDict:
    """Items of lists of built-in kinds do not say what they are."""
    return {key: value for key, value in obj.items() if key not in ("apiVersion", "kind")}
