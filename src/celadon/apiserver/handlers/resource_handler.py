"""A request for a resource, from its endpoint to its answer.

Each verb reads as the list of its steps; what they do is in `read`, `watch`, `write` and `delete`,
how it is shown in `response_forms`. Reviews, which are created and never stored, come this way,
too.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable
from datetime import datetime
from functools import partial
from typing import Final

from celadon import kube
from celadon.admission import Operation
from celadon.apiserver import negotiation
from celadon.apiserver.authn.authentication import Authenticator, Credentials
from celadon.apiserver.authz.authorizer_chain import AuthorizerChain, Standings
from celadon.apiserver.caches.served_resources import Served
from celadon.apiserver.caches.store_informers import RoleView
from celadon.apiserver.discovery.discovery_documents import version_rank
from celadon.apiserver.handlers import reviews
from celadon.apiserver.handlers.bindings_and_evictions import PodOperations
from celadon.apiserver.handlers.connect import LOG, SPLIT_STREAMS, Connector, pod_log
from celadon.apiserver.handlers.delete import Deleter
from celadon.apiserver.handlers.read import ObjectList, Reader
from celadon.apiserver.handlers.request_context import (
    Call,
    Notes,
    checked_body,
    note_sent,
    read_sent,
    require_body_type,
)
from celadon.apiserver.handlers.response_forms import Forms, has_blueprints
from celadon.apiserver.handlers.watch import CHANGES, LineWriter, WatchEvent, Watching, WatchRequest
from celadon.apiserver.handlers.write import FieldManagers, Writer, WriteResult
from celadon.apiserver.handlers.write_admission import Admission
from celadon.apiserver.http_messages import JSON, HttpAnswer, Outlet
from celadon.apiserver.loop_offloading import LARGE_BYTES
from celadon.apiserver.object_store import ObjectTexts, StoredObject
from celadon.apiserver.operation.request_limits import InFlight
from celadon.apiserver.operation.server_metrics import ServerMetrics
from celadon.apiserver.request_info import ListOptions, consistent_options, list_options
from celadon.kube.defaulting import DefaultingContext
from celadon.kube.go import go_json, json_text
from celadon.kube.protobuf import STREAM_MEDIA_TYPE, encode_event, in_message_order
from celadon.kube.registry import create, require_namespace, require_version, shown_object
from celadon.kube.releases import is_since
from celadon.kube.resources import Resource, deprecation_of
from celadon.kube.schemas import may_have_raw
from celadon.kube.well_known_values import AUTHENTICATION_GROUP, AUTHORIZATION_GROUP
from celadon.records import dataclass, field

# --- Reviewing ---------------------------------------------------------------
#
# Reviews and token requests: creates that are answered at once, and stored nowhere.

TOKEN: Final = "token"


@dataclass(frozen=True, slots=True)
class Reviewer:
    """Answers the reviews of one server."""

    authenticator: Authenticator
    authorizer: AuthorizerChain
    roles: RoleView
    issuer: reviews.TokenIssuer
    now: Callable[[], datetime]
    new_uid: Callable[[], str]
    new_context: Callable[[kube.User], DefaultingContext]
    admission: Admission
    managers: FieldManagers

    def answers(self, call: Call) -> bool:
        """Return whether the endpoint is one of these."""
        target = call.target
        if target.subresource:
            return target.subresource == TOKEN and target.kind.group == AUTHENTICATION_GROUP
        return target.resource.gvr.group in (AUTHORIZATION_GROUP, AUTHENTICATION_GROUP)

    async def review(self, call: Call) -> WriteResult:
        """Answer a review. Raises StatusError, Denied."""
        assert call.options is not None  # refused before the body is read
        context = self.new_context(call.user)
        read = await call.work.step(read_sent, call, context)
        call.notes.warnings += read.warnings
        require_version(read, call.target)
        await call.work.step(note_sent, call, read)
        await call.work.step(self.managers.created, call, read)
        draft = read.draft
        if call.target.subresource:
            create.prepare_create(draft, call.target)
        else:
            require_namespace(draft, call.target)
            create.wipe_metadata(draft)  # but not its status
        draft = await self.admission.mutate(call, Operation.CREATE, draft)
        review, now = await call.work.step(draft.form), self.now()
        if call.target.subresource:
            target, uid = call.target, kube.metadata.uid(read.body)
            review = self.issuer.prepared(review, target.namespace, target.name, now, uid)
        await self.admission.admit(call, Operation.CREATE, review, None)
        if call.target.kind.group == AUTHORIZATION_GROUP:  # the others belong to the loop
            typed_review = reviews.readable(review, context.gates)
            # Of this kind only the answer is large.
            call.work.is_large |= call.target.kind.kind == "SelfSubjectRulesReview"
            answer = await call.work.step(self._reviewed, call, typed_review, now)
        else:
            answer = self._reviewed(call, review, now)
        return WriteResult(201, await call.work.step(in_message_order, dict(answer)))

    def _reviewed(self, call: Call, review: kube.JsonObject, now: datetime) -> kube.JsonObject:
        if call.target.subresource:
            answer, annotations = self.issuer.issued(review, now, self.new_uid())
            call.notes.annotate(dict(annotations))
            return answer
        match call.target.group_resource:
            case kube.GroupResource(resource="selfsubjectaccessreviews"):
                return reviews.self_subject_access_review(review, call.user, self.authorizer)
            case kube.GroupResource(resource="subjectaccessreviews"):
                return reviews.subject_access_review(review, self.authorizer)
            case kube.GroupResource(resource="localsubjectaccessreviews"):
                return reviews.local_subject_access_review(
                    review, call.target.namespace, self.authorizer
                )
            case kube.GroupResource(resource="selfsubjectrulesreviews"):
                return reviews.self_subject_rules_review(
                    review, call.user, self.roles.current(), self.authorizer.unlisted(call.user)
                )
            case kube.GroupResource(resource="selfsubjectreviews"):
                return reviews.self_subject_review(call.user, now)
        answer, warnings = reviews.token_review(review, self.authenticator, now)
        call.notes.warnings += warnings
        return answer


BODY_VERBS: Final = frozenset({"create", "update", "patch"})


@dataclass(frozen=True, slots=True)
class Verbs:
    """Does what the server can do with resources. `now` is in seconds, `chance` between 0 and 1; a
    watch without a time of its own lasts `watch_seconds`, up to twice as long."""

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
    lines: LatestLines = field(default_factory=lambda: LatestLines())

    async def answer(self, call: Call, served: Served) -> HttpAnswer:
        """Answer a request. Raises StatusError, Denied."""
        endpoint = call.endpoint
        if call.request.method == "HEAD" and not endpoint.knows_head:
            raise kube.status.method_not_allowed()
        if endpoint.connects:
            if not endpoint.verb and call.request.method != "OPTIONS":
                # Of those that are no verbs, proxies pass on one.
                raise kube.status.method_not_allowed()
            raise await self.connector.refused(call)
        if call.target.subresource == LOG:
            split = self.connector.has_gate(SPLIT_STREAMS)
            return pod_log(call, self.connector.world, split_streams=split)
        _check_method(call)
        step = await call.work.step(_wanted, call)
        _check_body(call)
        if call.request.has_long_head and endpoint.verb in BODY_VERBS:
            await call.work.step(_read_options, call)
        forms = Forms(call, step, served, self.now)
        call.work.is_large |= self.reader.takes_long(endpoint.resource)
        match endpoint.verb:
            case "get":
                stored = await self.reader.get(endpoint, call.request)
                call.work.is_large |= stored.size > LARGE_BYTES
                return await call.work.step(self._got, stored, forms, aside=forms.has_own_columns)
            case "list":
                options = await call.work.step(list_options, call.request, endpoint.resource)
                found_all = await self.reader.collection(endpoint, options, call.work)
                aside = forms.has_own_columns
                return await call.work.step(self._listed, found_all, forms, aside=aside)
            case "watch":
                return self._watch(forms, await call.work.step(_watch_options, call))
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
                aside = forms.has_own_columns
                return await call.work.step(self._listed, deleted, forms, aside=aside)
        raise kube.status.method_not_allowed()

    def _watch(self, forms: Forms, options: ListOptions) -> HttpAnswer:
        endpoint = forms.call.endpoint
        if "watch" not in endpoint.resource.verbs:
            raise kube.status.verb_not_supported(endpoint.resource.gvr.group_resource, "watch")
        seconds = options.timeout_seconds or self.watch_seconds * (1 + self.chance())
        definition = forms.served.definition_key(endpoint.resource)
        standing = self.standings.of(Credentials.of(forms.call.request))
        outlet = Outlet() if forms.are_shared else None
        line = self.lines.writer(forms, self.texts)
        request = WatchRequest(
            endpoint, options, float(seconds), definition, standing, forms.call.work, outlet, line
        )
        events = self.watching.open(request)
        forms.check()
        negotiation.require_stream(forms.accepted, endpoint.answer_types)
        is_protobuf = forms.accepted.media_type == negotiation.PROTOBUF
        media_type = STREAM_MEDIA_TYPE if is_protobuf else forms.accepted.media_type
        stream = self._stream(events, forms, outlet, line)
        return HttpAnswer(200, media_type, stream=stream, outlet=outlet)

    def _got(self, stored: StoredObject, forms: Forms) -> HttpAnswer:
        call = forms.call
        obj = self.reader.shown(stored.object, call.endpoint.resource)
        if forms.is_plain:
            forms.require_no_list(obj)
            return _plain(200, self.texts.whole(obj, call.endpoint.resource))
        return _shown(WriteResult(200, shown_object(obj, call.target)), forms)

    def _listed(self, object_list: ObjectList, forms: Forms) -> HttpAnswer:
        meta, objects = object_list.meta(), object_list.objects
        forms.check()
        if forms.is_plain:
            return HttpAnswer(200, JSON, forms.plain_list(meta, objects, self.texts))
        return negotiation.object_answer(
            200, forms.list(meta, objects), forms.accepted, sort=forms.sorts
        )

    async def _stream(
        self,
        events: AsyncGenerator[WatchEvent, None],
        forms: Forms,
        outlet: Outlet | None,
        write: LineWriter,
    ) -> AsyncGenerator[bytes, None]:
        first, call, are_shared = True, forms.call, forms.are_shared
        counted = self.metrics.watching(call.request, call.info, call.endpoint.resource)
        with self.in_flight.watching(call.info), counted as sent:
            if outlet is not None:
                outlet.count = sent
            try:
                async for event in events:
                    if are_shared and event.type in CHANGES:
                        line = write(event)
                        sent(len(line))
                        yield line
                        continue
                    document = await _event(event, forms, first=first)
                    if document is None:
                        return
                    first = False
                    written = _written(event.type, document, forms)
                    sent(len(written))
                    yield written
            finally:
                await events.aclose()


def _check_method(call: Call) -> None:
    """Check the method. The old paths `/watch/...` are for reading; and what is no patch is said
    before it is asked how the answer shall be written. Raises StatusError: 405, 415."""
    if call.info.deprecated_watch and not call.endpoint.resource.custom:
        if call.request.method not in ("GET", "HEAD"):
            raise kube.status.method_not_allowed()
    elif call.endpoint.verb == "patch":
        assert call.patch_type  # else refused


def _check_body(call: Call) -> None:
    """Refuse a body that is too large or of a wrong type before anything else is read, the options
    included. Raises StatusError: 415, 413."""
    if call.endpoint.verb == "create":
        require_body_type(call)
    if call.endpoint.verb in BODY_VERBS:
        checked_body(call)


def _watch_options(call: Call) -> ListOptions:
    """Read the options of a watch, and all that it selects by. Raises StatusError."""
    options = list_options(call.request, call.endpoint.resource)
    if call.info.deprecated_watch and call.endpoint.name:
        options = _of_one(options, call.endpoint.name)
    _ = options.conditions
    return options


def _of_one(options: ListOptions, name: str) -> ListOptions:
    """Return the options of a watch of the one object that the path names; a selector may name the
    same. Raises StatusError 400."""
    if options.fields.terms and options.fields.exact("metadata.name") != name:
        raise kube.status.bad_request("fieldSelector metadata.name doesn't match requested name")
    return options.of_one(name)


def _plain(code: int, text: bytes) -> HttpAnswer:
    return HttpAnswer(code, JSON, text + b"\n")


def _read_options(call: Call) -> None:
    """Read the options of a write; they are remembered. Raises StatusError, as it would where they
    are asked for."""
    assert call.options is not None


def _wanted(call: Call) -> negotiation.Accepted:
    """Return the form in which the answer is wanted. Raises StatusError 406; from 1.32 to 1.35 for
    wrong options of a list or watch before, but behind the router."""
    endpoint = call.endpoint
    if endpoint.verb in ("list", "watch") and is_since("1.32") and not is_since("1.36"):
        if not endpoint.resource.custom:
            negotiation.require_route(call.request, endpoint.answer_types, collection=True)
        consistent_options(call.request)
    return negotiation.accepted(
        call.request,
        endpoint.answer_types,
        routed=not endpoint.resource.custom,
        collection=endpoint.is_collection,
        tables=endpoint.has_tables and not _begins_with_a_list(call),
        whole=endpoint.body_types,
    )


def _begins_with_a_list(call: Call) -> bool:
    """Return whether a watch tells at the end of what is there how a list of it looks: there is no
    table of that. Raises StatusError for options that cannot be read."""
    if call.endpoint.verb != "watch" or not has_blueprints():
        return False
    options = list_options(call.request, call.endpoint.resource)
    return bool(options.send_initial_events and options.allow_bookmarks)


async def _event(event: WatchEvent, forms: Forms, *, first: bool) -> kube.JsonObject | None:
    if not forms.has_own_columns:
        return forms.event(event, first=first)
    return await forms.call.work.aside(partial(forms.event, event, first=first))


async def _answered(written: WriteResult, forms: Forms) -> HttpAnswer:
    return await forms.call.work.step(_shown, written, forms, aside=forms.has_own_columns)


def _shown(written: WriteResult, forms: Forms) -> HttpAnswer:
    obj = written.object
    forms.check()
    if kube.status.is_status(obj):
        return negotiation.object_answer(written.code, obj, forms.accepted)
    return negotiation.object_answer(
        written.code, forms.object(obj), forms.accepted, sort=forms.sorts
    )


class LatestLines:
    """Holds the last change as it was written in each form: watchers come one after the other."""

    def __init__(self) -> None:
        self._lines: dict[negotiation.Accepted, tuple[WatchEvent, bytes]] = {}
        self._plain: dict[kube.GroupVersionResource, LineWriter] = {}
        """What writes changes of built-in resources as they are stored."""

    def writer(self, forms: Forms, texts: ObjectTexts) -> LineWriter:
        """Return what writes changes in a form that all share."""
        resource = forms.call.endpoint.resource
        if not forms.is_plain or resource.custom:
            return partial(self._of, forms)
        if resource.gvr not in self._plain:
            self._plain[resource.gvr] = partial(_plain_line, texts, resource)
        return self._plain[resource.gvr]

    def _of(self, forms: Forms, event: WatchEvent) -> bytes:
        """Return a line or a frame with a change."""
        line = self._lines.get(forms.accepted)
        if line is None or line[0].object is not event.object or line[0].type != event.type:
            document = forms.event(event, first=False)
            assert document is not None
            line = self._lines[forms.accepted] = event, _written(event.type, document, forms)
        return line[1]


def _plain_line(texts: ObjectTexts, resource: Resource, event: WatchEvent) -> bytes:
    return texts.event(event.type, event.object, resource)


def _written(kind: str, obj: kube.JsonObject, forms: Forms) -> bytes:
    if forms.accepted.media_type == negotiation.PROTOBUF:
        return encode_event(kind, obj)
    write = go_json.json_with_raw if may_have_raw(obj) else json_text
    return write({"type": kind, "object": obj}).encode("utf-8", "replace") + b"\n"


# --- Deprecations ------------------------------------------------------------
#
# What a request for a deprecated version is told, whatever becomes of it.

DEPRECATED_NOTE: Final = "k8s.io/deprecated"
REMOVED_NOTE: Final = "k8s.io/removed-release"


def forget_deprecation(notes: Notes) -> None:
    """Forget a deprecation, since the router refuses before anybody knows the resource."""
    notes.warnings.clear()
    for name in (DEPRECATED_NOTE, REMOVED_NOTE):
        notes.audit.pop(name, None)


def note_deprecation(
    notes: Notes, gvk: kube.GroupVersionKind, definition: kube.JsonObject | None
) -> None:
    """`definition` is that of a custom resource. Subresources count as their resource."""
    if definition is not None:
        warning = _of_version(definition, gvk)
        if warning:
            notes.warnings.append(warning)
            notes.annotate({DEPRECATED_NOTE: "true"})
        return
    deprecation = deprecation_of(gvk)
    if deprecation is None or not deprecation.is_noted:
        return
    if warning := deprecation.warning(gvk):
        notes.warnings.append(warning)
    notes.annotate({DEPRECATED_NOTE: "true"})
    if deprecation.until:
        notes.annotate({REMOVED_NOTE: deprecation.until})


def _of_version(definition: kube.JsonObject, gvk: kube.GroupVersionKind) -> str:
    """Return the definition's own words, or the general ones; empty where it is not deprecated."""
    versions = definition["spec"]["versions"]
    served = [version for version in versions if version.get("name") == gvk.version]
    if not served or not served[0].get("deprecated"):
        return ""
    text = served[0].get("deprecationWarning")
    if text is not None:
        return str(text)
    newer = _newer(versions, gvk.version)
    use = f"; use {gvk.group}/{newer} {gvk.kind}" if newer else ""
    return f"{gvk.api_version} {gvk.kind} is deprecated{use}"


def _newer(versions: list[kube.JsonObject], version: str) -> str:
    """Return the newest other version that is served and not deprecated itself; empty without
    one."""
    usable = [
        str(item["name"])
        for item in versions
        if item.get("served") and not item.get("deprecated") and item["name"] != version
    ]
    newest = min(usable, key=version_rank, default="")
    return newest if newest and version_rank(newest) < version_rank(version) else ""
