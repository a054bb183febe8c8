"""Custom resources in another version of their kind, where a webhook knows how.

A definition with `conversion.strategy: Webhook` keeps its objects in the storage version. What is
read or written in another one is sent to the webhook: `Conversions` says what has to be, and what
of the answers counts. As k8s.io/apiextensions-apiserver `pkg/apiserver/conversion`, with its texts.

A conversion waits for the network, so it belongs to a worker (`celadon.apiserver.workers`), which
gives its place to others meanwhile. Lists and watches share what was converted once; whoever gets
or writes an object asks the webhook anew, as upstream does behind its caches.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
import uuid
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, Protocol, TypeVar

from celadon.admission import ConversionError, webhooks
from celadon.admission.conversion import WebhookNotCalled
from celadon.admission.registration import decode_client_config
from celadon.apiserver.forks import require_server
from celadon.apiserver.object_store import ObjectMemory, weight
from celadon.apiserver.operation.webhook_counts import ConversionCounts
from celadon.apiserver.webhook_routes import as_json
from celadon.apiserver.workers import is_worker, waited_for
from celadon.kube import GroupKind, GroupVersionKind, JsonObject, metadata, parse_api_version
from celadon.kube.crd import CustomKind, KindsOnDemand, RememberedKinds, invalid_version
from celadon.kube.fieldpath import FieldPath, aggregate
from celadon.kube.go import json_text, quote, type_text
from celadon.kube.json_types import JsonDict
from celadon.kube.registry import request_bodies
from celadon.kube.schemas import DecodeError, json_kind, round_trip
from celadon.kube.status import SUCCESS
from celadon.kube.validation import labels, validate_annotations
from celadon.kube.well_known_values import TYPE_FIELDS
from celadon.records import dataclass, field

GROUP: Final = "apiextensions.k8s.io"
KIND: Final = "ConversionReview"
REVIEW_VERSIONS: Final = ("v1", "v1beta1")
# Upstream leaves it at this constant (`webhook_converter.go`): a definition cannot set it.
SECONDS: Final = 30
"""That a webhook has."""

_KEPT_BYTES: Final = 64 << 20
"""What objects may weigh that were converted and are kept for lists and watches."""

# Both bounds are ours. Upstream asks for each object of a list by itself; a webhook sees no
# difference but in the number of its calls.
_MOST_OBJECTS: Final = 500
"""That a webhook is asked for at once."""

_MOST_BYTES: Final = 8 << 20
"""What they weigh."""

T = TypeVar("T")

CALL, MALFORMED, PARTIAL, INVALID = (
    f"conversion_webhook_{item}_failure"
    for item in ("call", "malformed_response", "partial_response", "invalid_converted_object")
)
"""What a conversion can fail at, in upstream's words."""


class ConversionFailed(Exception):
    """The message is that of the API server; `stage` is for metrics."""

    def __init__(self, message: str, stage: str = INVALID) -> None:
        super().__init__(message)
        self.stage = stage


class Unreached(ConversionFailed):
    """Says that nobody has answered; `why` is the reason alone."""

    def __init__(self, source: str, reason: str) -> None:
        super().__init__(f"conversion webhook for {source} failed: {reason}", CALL)
        self.why = reason


class _Malformed(webhooks.CallError):
    """An answer that can be read, and is none to the question."""


# --- What a definition says --------------------------------------------------


@dataclass(frozen=True, slots=True)
class ConversionWebhook:
    """The webhook of one definition. `revision` is that of the definition: what was converted
    under another one is forgotten."""

    client_config: webhooks.WebhookClientConfig
    review_versions: tuple[str, ...]
    served: tuple[GroupVersionKind, ...]
    storage: GroupVersionKind
    revision: str
    definition: str


def conversion_webhooks(definitions: Sequence[JsonObject]) -> Mapping[GroupKind, ConversionWebhook]:
    """Return the conversion webhooks of the definitions that have one, by the kind that they
    convert."""
    result = {}
    for definition in definitions:
        spec = definition["spec"]
        conversion = spec.get("conversion") or {}
        if conversion.get("strategy") != "Webhook":
            continue
        webhook = conversion["webhook"]
        config = webhook["clientConfig"]
        # An empty bundle is the same as none: the system's authorities are trusted then.
        if not _has_text(config.get("caBundle")):
            config = {key: value for key, value in config.items() if key != "caBundle"}
        kind = GroupKind(spec["group"], spec["names"]["kind"])
        versions = {
            GroupVersionKind(kind.group, version["name"], kind.kind): version
            for version in spec["versions"]
        }
        result[kind] = ConversionWebhook(
            decode_client_config(config),
            tuple(webhook.get("conversionReviewVersions") or ()),
            tuple(version for version, member in versions.items() if member.get("served")),
            next(version for version, member in versions.items() if member.get("storage")),
            metadata.resource_version(definition),
            metadata.name(definition),
        )
    return result


def _has_text(bundle: object) -> bool:
    """Tell whether there is anything but blanks in a bundle; upstream takes those for nothing."""
    return isinstance(bundle, str) and bool(bundle.strip())


# --- Reviews -----------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class ConversionCall:
    """One call of a conversion webhook."""

    client_config: webhooks.WebhookClientConfig
    api_version: str
    uid: str
    document: JsonDict
    timeout_seconds: int = SECONDS

    @property
    def body(self) -> bytes:
        """Return the text of the review, with the line end that Go's encoder writes."""
        return f"{json_text(self.document)}\n".encode("utf-8", "surrogatepass")


def begin_conversion(
    webhook: ConversionWebhook, objects: Sequence[JsonObject], api_version: str, uid: str
) -> ConversionCall:
    """Ask for objects in a version. Raises ConversionFailed where no version of the review would
    do."""
    version = next(
        (
            review_version
            for review_version in webhook.review_versions
            if review_version in REVIEW_VERSIONS
        ),
        None,
    )
    if version is None:
        raise ConversionFailed("no supported conversion review versions")
    review_version = f"{GROUP}/{version}"
    document = {
        "kind": KIND,
        "apiVersion": review_version,
        "request": {"uid": uid, "desiredAPIVersion": api_version, "objects": list(objects)},
        # Go writes the struct of the answer, too, though a request has none.
        "response": {"uid": "", "convertedObjects": None, "result": {"metadata": {}}},
    }
    return ConversionCall(webhook.client_config, review_version, uid, document)


def read_conversion(
    call: ConversionCall,
    reply: webhooks.Reply | webhooks.NoReply,
    sent: Sequence[JsonObject],
    target: GroupVersionKind,
) -> list[JsonDict]:
    """Return the objects that were sent, in the version that was wanted. Raises
    ConversionFailed."""
    source = _text_of_kind(metadata.gvk(sent[0]))
    if isinstance(reply, webhooks.NoReply):
        raise Unreached(source, reply.text)
    try:
        converted_objects = _converted_objects(call, reply)
    except webhooks.CallError as error:
        stage = MALFORMED if isinstance(error, _Malformed) else CALL
        raise ConversionFailed(f"conversion webhook for {source} failed: {error}", stage) from None
    if len(converted_objects) != len(sent):
        raise ConversionFailed(
            f"conversion webhook for {source} returned {len(converted_objects)} objects, "
            f"expected {len(sent)}",
            PARTIAL,
        )
    return [
        _checked(before, after, target)
        for before, after in zip(sent, converted_objects, strict=True)
    ]


def _text_of_kind(kind: GroupVersionKind) -> str:
    return f"{kind.api_version}, Kind={kind.kind}"


def _converted_objects(call: ConversionCall, reply: webhooks.Reply) -> Sequence[object]:
    """Return what the webhook has answered with. Raises CallError."""
    failure = webhooks.http_failure(reply, as_json)
    if failure is not None:
        raise webhooks.CallError(failure[0])
    review = _decoded(call, reply.body)
    response = review.get("response")
    is_strict = call.api_version == f"{GROUP}/v1"  # v1beta1 needs neither the kind nor the uid
    if is_strict:
        _require_kind(review)
    if response is None:
        raise _Malformed("no response provided")
    result, uid = response["result"], response["uid"]
    if is_strict and uid != call.uid:
        raise _Malformed(f"expected response.uid={quote(call.uid)}, got {quote(uid)}")
    state = result.get("status", "")
    if state != SUCCESS:
        message = result.get("message")
        raise _Malformed(message or f"response.result.status was '{state}', not 'Success'")
    return response["convertedObjects"] or ()


def _require_kind(review: JsonObject) -> None:
    """Raise _Malformed for a review of v1 that does not say that it is one: read it could be, as
    what was expected."""
    group, version = parse_api_version(review.get("apiVersion", ""))
    kind = review.get("kind", "")
    if (group, version, kind) != (GROUP, "v1", KIND):
        raise _Malformed(
            f"expected webhook response of {GROUP}/v1, Kind={KIND}, got {group}/{version}, "
            f"Kind={kind}"
        )


def _decoded(call: ConversionCall, body: bytes) -> JsonDict:
    """Return the review of an answer, decoded as its type. Raises CallError."""
    expected = GroupVersionKind(GROUP, call.api_version.rpartition("/")[2], KIND)
    try:
        gvk, document = request_bodies.interpreted(as_json(body), expected)
        if gvk.group != GROUP or gvk.version not in REVIEW_VERSIONS or gvk.kind != KIND:
            raise webhooks.CallError(webhooks.other_kind(gvk, expected))
        review = round_trip(document.value, gvk)
    except (request_bodies.Uninterpretable, webhooks.UnreadableBody, DecodeError) as error:
        raise webhooks.CallError(str(error)) from None
    if gvk != expected:
        raise webhooks.CallError(webhooks.unknown_conversion(gvk, expected))
    assert review is not None, f"{gvk} is built in"
    return review


# As `validateConvertedObject` of `webhook_converter.go`.
def _checked(before: JsonObject, after: object, target: GroupVersionKind) -> JsonDict:
    """Return a converted object, with the metadata that a webhook must leave alone. Raises
    ConversionFailed."""
    source = f"conversion webhook for {_text_of_kind(metadata.gvk(before))}"
    if after is None:
        raise ConversionFailed("unexpected end of JSON input")
    if not isinstance(after, dict):
        wrong = f"{json_kind(after)} into Go value of type map[string]interface {{}}"
        raise ConversionFailed(f"json: cannot unmarshal {wrong}")
    api_version, kind = _text(after, "apiVersion"), _text(after, "kind")
    if not kind or api_version.count("/") > 1:  # such a version makes the kind unreadable, too
        text = json_text(after)
        raise ConversionFailed(f"Object 'Kind' is missing in '{text}'")
    if api_version != target.api_version:
        raise ConversionFailed(
            f"{source} returned invalid object at index 0: invalid groupVersion (expected "
            f"{target.api_version}, received {api_version})"
        )
    if kind != target.kind:
        raise ConversionFailed(
            f"{source} returned invalid object at index 0: invalid kind (expected {target.kind}, "
            f"received {kind})"
        )
    for name, text in (("name", "name"), ("namespace", "namespace"), ("uid", "UID")):
        was, now = _text(before.get("metadata"), name), _text(after.get("metadata"), name)
        if was != now:
            raise ConversionFailed(
                f"{source} returned invalid object: must have the same {text}: {was} != {now}"
            )
    try:
        return {**after, "metadata": _restored(before, after)}
    except _InvalidMetadata as error:
        raise ConversionFailed(f"{source} returned invalid metadata: {error}") from None


class _InvalidMetadata(Exception):
    """Metadata that a webhook must not make of what it got."""


def _text(value: object, name: str) -> str:
    result = value.get(name) if isinstance(value, dict) else None
    return result if isinstance(result, str) else ""


# As `restoreObjectMeta`. A webhook may change labels and annotations; whatever else it says of
# metadata is quietly put back, for clients rely on uid, owners and finalizers.
def _restored(before: JsonObject, after: JsonObject) -> JsonDict:
    """Return the metadata that an object had, with the labels and annotations that it was given.
    Raises _InvalidMetadata."""
    if "metadata" not in after:
        raise _InvalidMetadata("missing metadata in converted object")
    data = after["metadata"]
    if not isinstance(data, dict):
        raise _InvalidMetadata(f"invalid metadata of type {type_text(data)} in converted object")
    result = dict(metadata.metadata(before))
    for name in ("labels", "annotations"):
        texts = data.get(name)
        # The type by which all metadata is read has no empty map.
        if texts is None or texts == {}:
            result.pop(name, None)
            continue
        if not isinstance(texts, dict):
            raise _InvalidMetadata(
                f"invalid metadata.{name} of type {type_text(texts)} in converted object"
            )
        for key, value in texts.items():
            if not isinstance(value, str):
                raise _InvalidMetadata(
                    f"metadata.{name}[{key}] must be a string, but is {type_text(value)} in "
                    "converted object"
                )
        if texts != result.get(name):
            _require_valid(name, texts)
        result[name] = texts
    return result


def _require_valid(name: str, value: Mapping[str, str]) -> None:
    """Validate labels or annotations that a webhook has changed. Raises _InvalidMetadata."""
    if name == "labels":
        errors = list(labels(FieldPath("metadata", "labels"), value))
    else:
        errors = list(validate_annotations(FieldPath("metadata", "annotation"), value))
    if errors:
        raise _InvalidMetadata(aggregate(errors))


# --- Conversions of a server -------------------------------------------------


class Caller(Protocol):
    """Makes a call, within so many seconds."""

    def __call__(
        self, call: webhooks.WebhookCall, seconds: float, *, mutating: bool | None
    ) -> Awaitable[webhooks.Reply | webhooks.NoReply]: ...


class CustomKinds(Protocol):
    """Says which custom kinds are served now."""

    @property
    def custom(self) -> Mapping[GroupVersionKind, CustomKind]:
        """Return the custom kinds by version, served or not."""
        ...

    @property
    def conversions(self) -> Mapping[GroupKind, ConversionWebhook]:
        """Return the webhooks of those that have one."""
        ...


_Memory = ObjectMemory[tuple[str, ...], JsonDict]


@dataclass(frozen=True, slots=True)
class Conversions:
    """Makes the conversions of one server. `kinds` gives what is served now, `call` reaches
    webhooks."""

    kinds: Callable[[], CustomKinds]
    call: Caller
    new_uid: Callable[[], str]
    counts: ConversionCounts = field(default_factory=ConversionCounts)
    memory: _Memory = field(default_factory=lambda: _Memory(_KEPT_BYTES))
    ahead: set[asyncio.Future[None]] = field(default_factory=set)
    """Conversions that nobody waits for."""

    def concern(self, kind: GroupKind) -> bool:
        """Tell whether objects of the kind may have to be converted by a webhook."""
        return kind in self.kinds().conversions

    def converted(self, obj: JsonObject, target: GroupVersionKind) -> JsonObject:
        """Return an object in another version, just as the webhook gives it; who is left without a
        field by an apply needs no webhook. Raises ConversionFailed."""
        kind = metadata.gvk(obj)
        if kind == target:
            return obj
        webhook = self._webhook(kind, target)
        if obj.keys() == TYPE_FIELDS:
            return {**obj, "apiVersion": target.api_version}
        (result,) = _waited(lambda: self._asked(webhook, (obj,), target))
        return result

    def stored(self, obj: JsonObject) -> JsonObject:
        """Return an object in the version in which it is stored. Raises ConversionFailed."""
        kind = metadata.gvk(obj)
        target = self.kinds().conversions[kind.group_kind].storage
        if kind == target:
            return obj
        return self.kinds().custom[target].stored(dict(self.converted(obj, target)))

    def shown(self, obj: JsonObject, custom: CustomKind) -> JsonObject:
        """Return a stored object in a version. Raises ConversionFailed."""
        source, target = metadata.gvk(obj), custom.gvk
        if source == target:
            return custom.shown(obj)
        webhook = self._webhook(source, target)
        sent = self.kinds().custom[source].shown(obj)
        (result,) = _waited(lambda: self._asked(webhook, (sent,), target))
        return custom.received(result)

    # Upstream's watch cache holds each served version already converted. Converting early costs a
    # call for each write, and saves lists and watches from failing together with the webhook.
    def written(self, obj: JsonObject) -> None:
        """Note that an object has been stored. It is converted for those who list and watch, as
        upstream's caches do: they see it even if the webhook is out of reach later."""
        webhook = self.kinds().conversions[metadata.gvk(obj).group_kind]
        task = asyncio.ensure_future(self._converted_ahead(obj, webhook.served))
        self.ahead.add(task)
        task.add_done_callback(self.ahead.discard)

    async def _converted_ahead(self, obj: JsonObject, served: Sequence[GroupVersionKind]) -> None:
        for kind in served:
            with contextlib.suppress(ConversionFailed):  # said to who asks
                await self.prepared([obj], self.kinds().custom[kind])

    def all_shown(self, objects: Sequence[JsonObject], custom: CustomKind) -> list[JsonObject]:
        """Return stored objects of one kind in a version, as lists and watches show them: what was
        converted before is not asked for again. Raises ConversionFailed."""
        converted = self._kept(objects, custom)
        missing = [obj for obj, item in zip(objects, converted, strict=True) if item is None]
        return _merged(
            converted, _waited(lambda: self._fetched(missing, custom)) if missing else []
        )

    async def prepared(self, objects: Sequence[JsonObject], custom: CustomKind) -> list[JsonObject]:
        """Convert objects beforehand for who is on the event loop."""
        converted = self._kept(objects, custom)
        missing = [obj for obj, item in zip(objects, converted, strict=True) if item is None]
        return _merged(converted, await self._fetched(missing, custom) if missing else [])

    def _webhook(self, source: GroupVersionKind, target: GroupVersionKind) -> ConversionWebhook:
        """Return the webhook that converts between two versions. Raises ConversionFailed for
        versions that the definition does not have."""
        kinds = self.kinds()
        for kind, direction in ((target, "to"), (source, "from")):
            if kind not in kinds.custom:
                raise ConversionFailed(invalid_version(direction, kind.api_version))
        return kinds.conversions[target.group_kind]

    def _kept(self, objects: Sequence[JsonObject], custom: CustomKind) -> list[JsonObject | None]:
        """Return the objects that are in the version already, or were converted before; None for
        each of the others."""
        webhook = self.kinds().conversions[custom.gvk.group_kind]
        return [
            custom.shown(obj)
            if metadata.gvk(obj) == custom.gvk
            else self.memory.get(_key(obj, custom.gvk, webhook))
            for obj in objects
        ]

    async def _fetched(self, objects: Sequence[JsonObject], custom: CustomKind) -> list[JsonObject]:
        """Ask for objects that are not in the version, and keep what it gets. They may be stored in
        several versions, and be too many for one call."""
        fetched: list[JsonObject] = []
        for batch in _batches(objects):
            webhook = self._webhook(metadata.gvk(batch[0]), custom.gvk)
            for obj, item in zip(batch, await self._received(batch, custom), strict=True):
                fetched.append(item)
                self.memory.keep(_key(obj, custom.gvk, webhook), item, _weight(item))
        return fetched

    async def _received(self, objects: Sequence[JsonObject], custom: CustomKind) -> list[JsonDict]:
        """Return stored objects of one version in another one, as a server shows them."""
        source = metadata.gvk(objects[0])
        webhook = self._webhook(source, custom.gvk)
        sent = [self.kinds().custom[source].shown(obj) for obj in objects]
        return [custom.received(item) for item in await self._together(webhook, sent, custom.gvk)]

    async def all_given(
        self, objects: Sequence[JsonObject], target: GroupVersionKind, *, stored: bool
    ) -> list[JsonObject]:
        """Objects of a kind in another version, so many at once as a webhook may be asked for, and
        nothing kept: as a server shows those that are `stored`, otherwise just as the webhook gives
        them. Raises ConversionFailed."""
        result: list[JsonObject] = []
        for batch in _batches(objects):
            source = metadata.gvk(batch[0])
            webhook = self._webhook(source, target)
            if source == target:
                result += batch
            elif stored:
                result += await self._received(batch, self.kinds().custom[target])
            else:
                result += await self._together(webhook, batch, target)
        return result

    async def _together(
        self, webhook: ConversionWebhook, objects: Sequence[JsonObject], target: GroupVersionKind
    ) -> list[JsonDict]:
        """Ask for objects at once. What the webhook does wrong then is told of a single one, so
        each is asked for by itself, as upstream does. Raises ConversionFailed."""
        try:
            return await self._asked(webhook, objects, target)
        except Unreached:
            raise
        except ConversionFailed:
            if len(objects) == 1:
                raise
        return [(await self._asked(webhook, (obj,), target))[0] for obj in objects]

    async def _asked(
        self, webhook: ConversionWebhook, objects: Sequence[JsonObject], target: GroupVersionKind
    ) -> list[JsonDict]:
        began, stage = time.perf_counter(), ""
        call = begin_conversion(webhook, objects, target.api_version, self.new_uid())
        try:
            reply = await self.call(call, SECONDS, mutating=None)
            return read_conversion(call, reply, objects, target)
        except ConversionFailed as error:
            stage = error.stage
            raise
        finally:
            source = metadata.gvk(objects[0]).version
            versions = webhook.definition, source, target.version
            self.counts.converted(versions, time.perf_counter() - began, stage)


# Whoever is on the event loop converts first (`prepared`), so this is reached in workers only; a
# call that blocked the loop would stop the very server that may have to answer it.
def _waited(fetch: Callable[[], Coroutine[Any, Any, T]]) -> T:
    """Wait for what a webhook has to say. Raises ConversionFailed on the event loop, which must not
    wait: who asks there has to be mended."""
    require_server("webhooks")
    if not is_worker():
        raise ConversionFailed("a conversion webhook was needed where nobody may wait for one")
    return waited_for(fetch)


def _merged(converted: list[JsonObject | None], fetched: list[JsonObject]) -> list[JsonObject]:
    rest = iter(fetched)
    return [next(rest) if item is None else item for item in converted]


def _key(obj: JsonObject, target: GroupVersionKind, webhook: ConversionWebhook) -> tuple[str, ...]:
    """Return what tells one conversion from others: the webhook, the object's version, and the
    version to convert to."""
    version = metadata.resource_version(obj)
    return webhook.revision, metadata.uid(obj), version, target.api_version


def _weight(obj: JsonObject) -> int:
    return weight(json_text(obj).encode("utf-8", "replace"))


# One call has objects of one version only: the texts of failures name the version that was
# converted from.
def _batches(objects: Sequence[JsonObject]) -> Iterator[list[JsonObject]]:
    """Yield objects of one version in the order given, so many that a webhook may be asked at
    once."""
    some: list[JsonObject] = []
    size = 0
    for obj in objects:
        weight = _weight(obj)
        is_other = some and obj.get("apiVersion") != some[0].get("apiVersion")
        if some and (is_other or len(some) == _MOST_OBJECTS or size + weight > _MOST_BYTES):
            yield some
            some, size = [], 0
        some.append(obj)
        size += weight
    if some:
        yield some


# --- Objects that others keep ------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Conversions:
    """Holds what definitions say of their kinds."""

    custom: KindsOnDemand
    conversions: Mapping[GroupKind, ConversionWebhook]


class CalledWebhooks:
    """Asks the webhooks of definitions for whoever judges objects of files, logs or reviews. With
    `once`, one that is out of reach is not asked again."""

    def __init__(
        self, objects: Iterable[JsonObject], version: str, call: Caller, *, once: bool = False
    ) -> None:
        """Take the objects, among which the definitions are."""
        definitions = [obj for obj in objects if _says_whom_to_ask(obj)]
        conversions = _Conversions(
            RememberedKinds(version).of(definitions), conversion_webhooks(definitions)
        )
        self._conversions = Conversions(lambda: conversions, call, lambda: str(uuid.uuid4()))
        self._once = once
        self._unreached: dict[GroupKind, str] = {}

    async def ask(
        self, objects: Sequence[JsonObject], kind: GroupVersionKind, *, stored: bool
    ) -> Sequence[JsonObject]:
        """Convert as `Conversions.all_given` does. Raises ConversionError; WebhookNotCalled for a
        webhook that is out of reach."""
        source = next(item for item in map(metadata.gvk, objects) if item != kind)
        group_kind = kind.group_kind
        if not self._conversions.concern(group_kind):
            raise WebhookNotCalled(source, kind)
        if group_kind in self._unreached:
            raise WebhookNotCalled(source, kind, self._unreached[group_kind])
        try:
            return await self._conversions.all_given(objects, kind, stored=stored)
        except Unreached as error:
            reason = f"cannot be reached ({error.why})"
            if self._once:
                self._unreached[group_kind] = reason
            raise WebhookNotCalled(source, kind, reason) from None
        except ConversionFailed as error:
            raise ConversionError(str(error)) from None


def _says_whom_to_ask(obj: JsonObject) -> bool:
    """Tell whether the object is a definition with a webhook that can be called: those of files may
    lack what a server asks for."""
    if not metadata.is_definition(obj):
        return False
    spec = obj.get("spec") or {}
    webhook = (spec.get("conversion") or {}).get("webhook") or {}
    return isinstance(webhook.get("clientConfig"), dict) and any(
        version.get("storage") for version in spec.get("versions") or ()
    )
