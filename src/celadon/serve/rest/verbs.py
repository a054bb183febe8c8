"""A request for a resource, from its endpoint to its answer.

Each verb is one method that reads as the list of its steps; what they do is in `reading`,
`watching`, `writing` and `deleting`.
"""

from __future__ import annotations

import random
from collections.abc import AsyncGenerator, Callable, Mapping
from typing import Any, Final

from celadon.kube import status
from celadon.kube.go import json_text
from celadon.kube.protobuf import STREAM_MEDIA_TYPE, encode_event
from celadon.serve.http_messages import HttpAnswer
from celadon.serve.rest.answers import object_answer
from celadon.serve.rest.calls import Call
from celadon.serve.rest.deleting import Deleter
from celadon.serve.rest.list_options import list_options
from celadon.serve.rest.negotiation import PROTOBUF, Accepted, Form, accepted
from celadon.serve.rest.reading import ObjectList, Reader
from celadon.serve.rest.reviewing import Reviewer
from celadon.serve.rest.watching import ERROR, WatchEvent, Watching, WatchRequest
from celadon.serve.rest.writing import Writer, Written
from celadon.serve.views.served_resources import Served

JsonObject = Mapping[str, Any]
Shape = Callable[[JsonObject, Accepted, Call], JsonObject]

MIN_WATCH_SECONDS: Final = 1800
"""A watch without a time of its own lasts up to twice as long
(`--min-request-timeout` of kube-apiserver)."""


class Verbs:
    """What the server can do with resources."""

    def __init__(
        self,
        reader: Reader,
        watching: Watching,
        writer: Writer,
        deleter: Deleter,
        reviewer: Reviewer,
        shape: Shape,
        randomness: random.Random,
    ) -> None:
        self._reader = reader
        self._watching = watching
        self._writer = writer
        self._deleter = deleter
        self._reviewer = reviewer
        self._shape = shape
        self._random = randomness

    async def answer(self, call: Call, served: Served) -> HttpAnswer:
        """Raises StatusError, Denied."""
        endpoint = call.endpoint
        watch = endpoint.verb == "watch"
        wanted = accepted(
            call.request,
            endpoint.media_types,
            watch=watch,
            collection=endpoint.is_collection and endpoint.verb == "list",
        )
        match endpoint.verb:
            case "get":
                return self._object(await self._reader.get(endpoint, call.request), wanted, call)
            case "list":
                found = await self._reader.collection(endpoint, call.request)
                return self._list(found, wanted, call)
            case "watch":
                return self._watch(wanted, call, served)
            case "create" if self._reviewer.answers(call):
                return self._written(self._reviewer.review(call), wanted, call)
            case "create":
                return self._written(await self._writer.create(call), wanted, call)
            case "update":
                return self._written(await self._writer.update(call), wanted, call)
            case "patch":
                return self._written(await self._writer.patch(call), wanted, call)
            case "delete":
                return self._written(await self._deleter.delete(call), wanted, call)
            case "deletecollection":
                listed = await self._deleter.delete_collection(call)
                return self._list(listed, wanted, call)
        raise status.method_not_allowed()

    def _object(self, obj: JsonObject, wanted: Accepted, call: Call, code: int = 200) -> HttpAnswer:
        if wanted.form is Form.METADATA_LIST:
            message = (
                "you requested PartialObjectMetadataList, but the requested object is not a list "
                f"({_go_type(call)})"
            )
            raise status.wrong_form(message)
        shaped = obj if wanted.form is Form.OBJECT else self._shape(obj, wanted, call)
        return object_answer(code, shaped, wanted, sort=call.endpoint.resource.custom)

    def _written(self, written: Written, wanted: Accepted, call: Call) -> HttpAnswer:
        if written.object.get("kind") == "Status":
            return object_answer(written.code, written.object, wanted)
        return self._object(written.object, wanted, call, written.code)

    def _list(self, found: ObjectList, wanted: Accepted, call: Call) -> HttpAnswer:
        resource = call.endpoint.resource
        meta = found.meta()
        if resource.custom:
            meta = {"continue": "", **meta}
        items = found.objects if resource.custom else [_untyped(obj) for obj in found.objects]
        listed = {
            "kind": resource.list_kind,
            "apiVersion": resource.gvk.api_version,
            "metadata": meta,
            "items": list(items),
        }
        if wanted.form is Form.METADATA:
            message = (
                "you requested PartialObjectMetadata, but the requested object is a list "
                f"({_go_type(call)}List)"
            )
            raise status.wrong_form(message)
        shaped = listed if wanted.form is Form.OBJECT else self._shape(listed, wanted, call)
        return object_answer(200, shaped, wanted, sort=resource.custom)

    def _watch(self, wanted: Accepted, call: Call, served: Served) -> HttpAnswer:
        endpoint = call.endpoint
        options = list_options(call.request, endpoint.resource, watch=True)
        seconds = options.timeout_seconds or MIN_WATCH_SECONDS * (1 + self._random.random())
        definition = served.definition_key(endpoint.resource)
        request = WatchRequest(endpoint, options, float(seconds), definition)
        events = self._watching.open(request)
        media_type = STREAM_MEDIA_TYPE if wanted.media_type == PROTOBUF else wanted.media_type
        return HttpAnswer(200, media_type, stream=self._stream(events, wanted, call))

    async def _stream(
        self, events: AsyncGenerator[WatchEvent, None], wanted: Accepted, call: Call
    ) -> AsyncGenerator[bytes, None]:
        try:
            async for event in events:
                obj = event.object
                if event.type != ERROR and wanted.form is not Form.OBJECT:
                    obj = self._shape(obj, wanted, call)
                yield _event_bytes(event.type, obj, wanted)
        finally:
            await events.aclose()


def _event_bytes(kind: str, obj: JsonObject, wanted: Accepted) -> bytes:
    if wanted.media_type == PROTOBUF:
        return encode_event(kind, obj)
    return json_text({"type": kind, "object": obj}).encode("utf-8", "replace") + b"\n"


def _untyped(obj: JsonObject) -> dict[str, Any]:
    """Items of lists of built-in kinds do not say what they are."""
    return {key: value for key, value in obj.items() if key not in ("apiVersion", "kind")}


def _go_type(call: Call) -> str:
    """The Go type that upstream's text names."""
    resource = call.endpoint.resource
    if resource.custom:
        return "*unstructured.Unstructured"
    package = resource.gvr.group.partition(".")[0] or "core"
    return f"*{package}.{resource.gvk.kind}"
