"""A request for a resource, from its endpoint to its answer.

Each verb reads as the list of its steps; what they do is in `reading`, `watching`, `writing`,
`deleting` and `reviewing`, how it is shown in `forms`.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Mapping
from dataclasses import field
from typing import Any, Final

from celadon.kube import name_rules, status
from celadon.kube.go import json_text, quote
from celadon.kube.protobuf import STREAM_MEDIA_TYPE, encode_event
from celadon.kube.registry import shown_object
from celadon.records import dataclass
from celadon.serve.access.authentication import Credentials
from celadon.serve.access.standings import Standings
from celadon.serve.answers import object_answer
from celadon.serve.http_messages import JSON, HttpAnswer
from celadon.serve.objects.object_texts import ObjectTexts
from celadon.serve.operation.request_limits import InFlight
from celadon.serve.operation.server_metrics import ServerMetrics
from celadon.serve.requests.list_options import ListOptions, list_options
from celadon.serve.requests.negotiation import PROTOBUF, Accepted, accepted, require_stream
from celadon.serve.rest.bodies import checked_body, require_body_type
from celadon.serve.rest.calls import Call
from celadon.serve.rest.connections.connecting import Connector
from celadon.serve.rest.connections.pod_logs import LOG, pod_log
from celadon.serve.rest.deleting import Deleter
from celadon.serve.rest.endpoints import NAMED_VERBS
from celadon.serve.rest.forms import Forms
from celadon.serve.rest.object_writes import Writer, Written
from celadon.serve.rest.pod_operations import PodOperations
from celadon.serve.rest.reading import ObjectList, Reader
from celadon.serve.rest.reviewing import Reviewer
from celadon.serve.rest.watching import CHANGES, WatchEvent, Watching, WatchRequest
from celadon.serve.views.served_resources import Served

BODY_VERBS: Final = frozenset({"create", "update", "patch"})


@dataclass(frozen=True, slots=True)
class Verbs:
    """What the server can do with resources. `now` is in seconds, `chance` between 0 and 1; a watch
    without a time of its own lasts `watch_seconds`, up to twice as long."""

    reader: Reader
    watching: Watching
    standings: Standings
    writer: Writer
    deleter: Deleter
    reviewer: Reviewer
    pods: PodOperations
    connector: Connector
    now: Callable[[], float]
    chance: Callable[[], float]
    in_flight: InFlight
    metrics: ServerMetrics
    watch_seconds: float
    texts: ObjectTexts = field(default_factory=ObjectTexts)

    async def answer(self, call: Call, served: Served) -> HttpAnswer:
        """Raises StatusError, Denied."""
        endpoint = call.endpoint
        if call.request.method == "HEAD" and not endpoint.knows_head:
            raise status.method_not_allowed()
        if endpoint.connects:
            raise await self.connector.refused(call)
        if call.target.subresource == LOG:
            return pod_log(call, self.connector.world)
        _check_method(call)
        wanted = await call.work.step(_wanted, call)
        if endpoint.verb in NAMED_VERBS:
            _require_possible_name(endpoint.name)
        _check_body(call)
        if call.request.has_long_head and endpoint.verb in BODY_VERBS:
            await call.work.step(_read_options, call)
        forms = Forms(call, wanted, served, self.now)
        match endpoint.verb:
            case "get":
                found = await self.reader.get(endpoint, call.request)
                if forms.is_plain:
                    return _plain(200, self.texts.whole(found, endpoint.resource))
                return _shown(Written(200, shown_object(found, call.target)), forms)
            case "list":
                options = await call.work.step(list_options, call.request, endpoint.resource)
                found_all = await self.reader.collection(endpoint, options, call.work)
                return await call.work.step(self._listed, found_all, forms)
            case "watch":
                options = await call.work.step(list_options, call.request, endpoint.resource)
                return self._watch(forms, options)
            case "create" if self.reviewer.answers(call):
                return await _answered(await self.reviewer.review(call), forms)
            case "create" if self.pods.answers(call):
                return await _answered(await self.pods.create(call), forms)
            case "create":
                return await _answered(await self.writer.create(call), forms)
            case "update":
                return await _answered(await self.writer.update(call), forms)
            case "patch":
                return await _answered(await self.writer.patch(call), forms)
            case "delete":
                return await _answered(await self.deleter.delete(call), forms)
            case "deletecollection":
                deleted = await self.deleter.delete_collection(call)
                return await call.work.step(self._listed, deleted, forms)
        raise status.method_not_allowed()

    def _watch(self, forms: Forms, options: ListOptions) -> HttpAnswer:
        endpoint = forms.call.endpoint
        if forms.call.info.deprecated_watch and endpoint.name:
            options = _of_one(options, endpoint.name)
        if "watch" not in endpoint.resource.verbs:
            raise status.verb_not_supported(endpoint.resource.gvr.group_resource, "watch")
        seconds = options.timeout_seconds or self.watch_seconds * (1 + self.chance())
        definition = forms.served.definition_key(endpoint.resource)
        standing = self.standings.of(Credentials.of(forms.call.request))
        request = WatchRequest(endpoint, options, float(seconds), definition, standing)
        events = self.watching.open(request)
        forms.check()
        require_stream(forms.wanted, endpoint.answer_types)
        is_protobuf = forms.wanted.media_type == PROTOBUF
        media_type = STREAM_MEDIA_TYPE if is_protobuf else forms.wanted.media_type
        return HttpAnswer(200, media_type, stream=self._stream(events, forms))

    def _listed(self, found: ObjectList, forms: Forms) -> HttpAnswer:
        meta, objects = found.meta(), found.objects
        forms.check()
        if forms.is_plain:
            return HttpAnswer(200, JSON, forms.plain_list(meta, objects, self.texts))
        custom = forms.call.endpoint.resource.custom
        return object_answer(200, forms.list(meta, objects), forms.wanted, sort=custom)

    async def _stream(
        self, events: AsyncGenerator[WatchEvent, None], forms: Forms
    ) -> AsyncGenerator[bytes, None]:
        first, call = True, forms.call
        resource = call.endpoint.resource
        is_plain = forms.is_plain and not resource.custom
        counted = self.metrics.watching(call.request, call.info, resource)
        with self.in_flight.watching(), counted as sent:
            try:
                async for event in events:
                    if is_plain and event.type in CHANGES:
                        line = self.texts.event(event.type, event.object, resource)
                        sent(len(line))
                        yield line
                        continue
                    shown = forms.event(event, first=first)
                    if shown is None:
                        return
                    first = False
                    written = _written(event.type, shown, forms)
                    sent(len(written))
                    yield written
            finally:
                await events.aclose()


def _require_possible_name(name: str) -> None:
    """What is no name is not looked for. Raises StatusError 400."""
    faults = name_rules.path_segment_name(name)
    if faults:
        why = f"Name parameter invalid: {quote(name)}: {';'.join(faults)}"
        raise status.bad_request(why)


def _check_method(call: Call) -> None:
    """The old paths `/watch/...` are for reading; and what is no patch is said before it is asked
    how the answer shall be written. Raises StatusError: 405, 415."""
    if call.info.deprecated_watch and not call.endpoint.resource.custom:
        if call.request.method not in ("GET", "HEAD"):
            raise status.method_not_allowed()
    elif call.endpoint.verb == "patch":
        assert call.patch_type  # else refused


def _check_body(call: Call) -> None:
    """What there is to say about a body before anything else is read, the options included. Raises
    StatusError: 415, 413."""
    if call.endpoint.verb == "create":
        require_body_type(call)
    if call.endpoint.verb in BODY_VERBS:
        checked_body(call)


def _of_one(options: ListOptions, name: str) -> ListOptions:
    """A watch of the one object that the path names; a selector may name the same. Raises
    StatusError 400."""
    if options.fields.terms and options.fields.exact("metadata.name") != name:
        raise status.bad_request("fieldSelector metadata.name doesn't match requested name")
    return options.of_one(name)


def _plain(code: int, text: bytes) -> HttpAnswer:
    return HttpAnswer(code, JSON, text + b"\n")


def _read_options(call: Call) -> None:
    """What is read is remembered. Raises StatusError, as it would where it is asked for."""
    assert call.options is not None


def _wanted(call: Call) -> Accepted:
    """Raises StatusError 406."""
    endpoint = call.endpoint
    return accepted(
        call.request,
        endpoint.answer_types,
        routed=not endpoint.resource.custom,
        collection=endpoint.is_collection,
        tables=endpoint.has_tables,
    )


async def _answered(written: Written, forms: Forms) -> HttpAnswer:
    return await forms.call.work.step(_shown, written, forms)


def _shown(written: Written, forms: Forms) -> HttpAnswer:
    obj, untyped = written.object, forms.call.endpoint.is_untyped
    forms.check()
    if obj.get("kind") == "Status":
        return object_answer(written.code, obj, forms.wanted)
    return object_answer(written.code, forms.object(obj), forms.wanted, sort=untyped)


def _written(kind: str, obj: Mapping[str, Any], forms: Forms) -> bytes:
    if forms.wanted.media_type == PROTOBUF:
        return encode_event(kind, obj)
    return json_text({"type": kind, "object": obj}).encode("utf-8", "replace") + b"\n"
