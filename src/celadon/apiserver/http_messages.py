"""HTTP as values: what came in, what goes out. No sockets here; the room `http` has those.

An `HttpRequest` is complete: its body has been read, within the limit the transport keeps. An
`HttpAnswer` is complete too, or it has a `stream` whose chunks the transport sends as they come and
closes (`aclose`) when the client has gone.
"""

from __future__ import annotations

import contextlib
import enum
import functools
import gzip
import json
import urllib.parse
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from dataclasses import field, replace
from itertools import chain
from operator import attrgetter
from typing import Any, Final, Protocol, TypeAlias, cast

import msgspec

from celadon.kube import JsonObject, User
from celadon.kube.go import client_json, go_json, json_text
from celadon.kube.json_types import JsonDict
from celadon.kube.metadata import gvk
from celadon.kube.resources import Resource
from celadon.kube.schemas import keep_raw_of, may_have_raw
from celadon.late_patterns import late_pattern
from celadon.memoization import remembered
from celadon.records import dataclass

# --- JSON in pieces ----------------------------------------------------------
#
# Large JSON, read in pieces.
#
# One call of a reader in C reads all there is, and no other thread of Python runs meanwhile: 40
# ms for two megabytes of labels, wherever the call is made. Here the text is cut where a member
# ends, at whatever depth, each piece is read for itself, and others have their turn between the
# pieces. In all it takes two to six times as long.

PIECE: Final = 64 << 10
"""Bytes that are read at once, or somewhat more."""

_STRING: Final = rb'"(?:[^"\\]++|\\.)*+"'
_RUN: Final = late_pattern(rb'(?:%b|[^"\[\]{},]++|,){1,1000}+' % _STRING)
"""What stands between brackets, as far as a thousand texts."""
_TO_COMMA: Final = late_pattern(rb'(?:%b|[^"\[\]{},]++)*+,' % _STRING)

_OPENING: Final = {b"{": True, b"[": False}
_CLOSING: Final = {b"}": True, b"]": False}
_BRACKETS: Final = frozenset((*_OPENING, *_CLOSING))

Read = Callable[[bytes], Any]


class NotInPieces(Exception):
    """Says that a text is written otherwise than we write JSON, or is no JSON: it has to be read at
    once."""


class _Container:
    """One that has been opened at `at`. What is before `start` has been `made` of its text."""

    __slots__ = ("at", "is_map", "made", "start")

    def __init__(self, index: int, *, is_map: bool) -> None:
        self.at = index
        self.start = index + 1
        self.is_map = is_map
        self.made: Any = {} if is_map else []

    def read_on(self, text: bytes, read: Read) -> None:
        """Read more members, with a comma before them if there were others. Raises NotInPieces."""
        if self.made:
            if text[:1] not in (b",", b""):
                raise NotInPieces
            is_cut, text = bool(text), text[1:]
            if is_cut and not text:
                raise NotInPieces
        result = read(b"{%b}" % text if self.is_map else b"[%b]" % text)
        if self.is_map:
            self.made.update(result)
        else:
            self.made += result

    def take(self, value: object, before: bytes, read: Read) -> None:
        """Take a member that has been read, and the text before it, which ends with its name.
        Raises NotInPieces."""
        name = ""
        if self.is_map:
            if not before.endswith(b'":'):
                raise NotInPieces
            begin = _beginning_of_text(before, len(before) - 2)
            name, before = read(before[begin:-1]), before[:begin]
        if before:
            if not before.endswith(b","):
                raise NotInPieces
            if len(before) > 1:
                self.read_on(before[:-1], read)
            elif not self.made:
                raise NotInPieces
        elif self.made:
            raise NotInPieces
        if self.is_map:
            self.made[name] = value
        else:
            self.made.append(value)


def read_in_pieces(text: bytes, read: Read) -> Any:  # noqa: ANN401 - any JSON
    """Return what `read` reads from the text, if that is the JSON of a map or a list without
    spaces. Raises NotInPieces, and what `read` raises."""
    opened: list[_Container] = []
    index = 0
    while True:
        index = _between_brackets(text, index, opened, read)
        bracket = text[index : index + 1]
        if bracket in _OPENING:
            opened.append(_Container(index, is_map=_OPENING[bracket]))
        elif opened:
            container = opened.pop()
            if container.is_map != _CLOSING.get(bracket):
                raise NotInPieces
            if not opened:
                container.read_on(text[container.start : index], read)
                if index + 1 != len(text):
                    raise NotInPieces
                return container.made
            outer = opened[-1]
            if container.made or index - container.start >= PIECE:
                container.read_on(text[container.start : index], read)
                outer.take(container.made, text[outer.start : container.at], read)
                outer.start = index + 1
            elif index - outer.start >= PIECE:
                outer.read_on(text[outer.start : index + 1], read)
                outer.start = index + 1
        else:
            raise NotInPieces
        index += 1


def _between_brackets(text: bytes, index: int, opened: Sequence[_Container], read: Read) -> int:
    """Return where the next bracket is. What comes before it is read if it is enough. Raises
    NotInPieces."""
    while text[index : index + 1] not in _BRACKETS:
        run = _RUN.match(text, index)
        if run is None or not opened:
            raise NotInPieces
        index = run.end()
        if index - opened[-1].start >= PIECE:
            comma = _TO_COMMA.match(text, index)
            if comma is not None:
                index = comma.end()
                opened[-1].read_on(text[opened[-1].start : index - 1], read)
                opened[-1].start = index - 1
    return index


def _beginning_of_text(text: bytes, end: int) -> int:
    """Return where the text begins whose closing quotation mark is at the end. Raises
    NotInPieces."""
    index = text.rfind(b'"', 0, end)
    while index > 0:
        before = text[:index]
        if (index - len(before.rstrip(b"\\"))) % 2 == 0:
            break
        index = text.rfind(b'"', 0, index)
    if index < 0:
        raise NotInPieces
    return index


Header: TypeAlias = tuple[str, str]


class Headers(tuple[Header, ...]):
    """The headers of a request, in the order they came. Many requests of a connection share them,
    and what is made of them."""

    @remembered
    def by_name(self) -> Mapping[str, list[str]]:
        """Return the values of each (lower-case) name."""
        result: dict[str, list[str]] = {}
        for name, value in self:
            result.setdefault(name, []).append(value)
        return result


JSON: Final = "application/json"
"""The content type."""

TEXT: Final = "text/plain; charset=utf-8"

_NO_PARAMETERS: Final[Mapping[str, Sequence[str]]] = {}

LONG_HEAD: Final = 8 << 10
"""Bytes of a target with all headers: what may take long to read."""

_SHORT: Final = 128
"""Bytes of a query that is worth remembering: clients ask with the same few again and again."""

_BAD_ESCAPE: Final = late_pattern("%(?![0-9a-fA-F]{2})")


def _read_query(text: str) -> Mapping[str, Sequence[str]]:
    """Leave out what Go does not read: parameters with semicolons or broken escapes."""
    if ";" in text or "%" in text:
        pairs = text.split("&")
        text = "&".join(pair for pair in pairs if ";" not in pair and not _BAD_ESCAPE.search(pair))
    return urllib.parse.parse_qs(text, keep_blank_values=True)


_short_query: Final = functools.lru_cache(maxsize=512)(_read_query)


class Departure:
    """Ends what is done for a request when its client goes."""

    __slots__ = ("_end",)

    def __init__(self) -> None:
        self._end: Callable[[], None] | None = None

    def ends(self, end: Callable[[], None] | None) -> None:
        """Set what is called when the client goes; None when there is nothing left that could
        end."""
        self._end = end

    def tell(self) -> None:
        """Tell that the client has gone."""
        if self._end is not None:
            self._end()


class SignedFor(enum.IntFlag):
    """Says for whom the authorities that have signed a client's certificate may sign."""

    NOBODY = 0
    CLIENTS = 1
    FRONT_PROXIES = 2


# House rule 9: without slots, because `remembered` needs the instance dictionary.
@dataclass(frozen=True)
class HttpRequest:
    """Holds an HTTP request. `target` is the request's path and query as they were sent; `headers`
    have their names in lower case, in the order they came. `client_certificate` is the verified one
    in DER form. `departure` tells when the client goes, if that is known. `signed_for` is about the
    certificate, if there is one. What `is_recorded` has its body in the audit log."""

    method: str
    target: str
    headers: Sequence[Header] = ()
    body: bytes = b""
    client_certificate: bytes | None = None
    remote_address: str = ""
    departure: Departure | None = None
    signed_for: SignedFor = SignedFor.CLIENTS
    is_recorded: bool = False

    @remembered
    def path(self) -> str:
        """Return the path as it was sent: percent-encoded."""
        return self.target.partition("?")[0]

    @remembered
    def query(self) -> Mapping[str, Sequence[str]]:
        """Values by name, in order; a name without `=` has an empty value."""
        text = self.target.partition("?")[2]
        if not text:
            return _NO_PARAMETERS
        return _short_query(text) if len(text) <= _SHORT else _read_query(text)

    def first(self, name: str) -> str:
        """Return the first value of a query parameter; empty if there is none."""
        return self.query.get(name, ("",))[0]

    @remembered
    def head_size(self) -> int:
        """Characters of the target and the headers."""
        return len(self.target) + len("".join(chain.from_iterable(self.headers)))

    @remembered  # asked seven times
    def has_long_head(self) -> bool:
        """Return whether reading the target or some header may take long."""
        return self.head_size > LONG_HEAD

    @property
    def size(self) -> int:
        """Characters of the target and the headers, and bytes of the body."""
        return self.head_size + len(self.body)

    @remembered
    def _by_name(self) -> Mapping[str, list[str]]:
        headers = self.headers
        return (headers if isinstance(headers, Headers) else Headers(headers)).by_name

    def may_name(self, beginning: str) -> bool:
        """Return False if no header has a (lower-case) name with this beginning; a quick look."""
        return beginning in "".join(self._by_name)

    def header(self, name: str) -> str:
        """Return the value of the first header of this (lower-case) name; empty if there is
        none."""
        return self._by_name.get(name, [""])[0]

    def header_values(self, name: str) -> Sequence[str]:
        """Return the values of all headers of this (lower-case) name."""
        return self._by_name.get(name, ())


class Hold(Protocol):
    """Takes notice whether nothing more should come for now."""

    def __call__(self, *, is_held: bool) -> None: ...


class Tunnel(Protocol):
    """Takes the bytes that a client sends when its connection is no HTTP any more: those that come
    back are the answer's `stream`. `head` is what the client is sent before them."""

    @property
    def head(self) -> bytes: ...

    def connect(self, hold: Hold) -> None:
        """Begin, with what holds up the client."""
        ...

    def take(self, data: bytes) -> None:
        """Take what the client has sent."""
        ...

    def end(self) -> None:
        """Note that the client sends no more."""
        ...


class Client(Protocol):
    """Takes parts of a stream."""

    def is_ready(self) -> bool:
        """Return whether it is there, and has read what it was sent before."""
        ...

    def send(self, data: bytes) -> None: ...


def _nobody_is_ready() -> bool:
    return False


def _uncounted(_size: int) -> None:
    """Leave a part uncounted."""


class Outlet:
    """Leads past a stream to its client. Whoever makes the stream may send a part here while the
    client waits for the next one: of a thousand watchers of an event, each costs a few calls then,
    in place of the steps of a task."""

    __slots__ = ("_send", "count", "is_ready")

    def __init__(self) -> None:
        self.is_ready: Callable[[], bool] = _nobody_is_ready
        """Tells whether the client takes a part now. If not, it has to come with the stream."""
        self.count: Callable[[int], None] = _uncounted
        """Is told the size of each part."""
        self._send: Callable[[bytes], None] | None = None

    def connect(self, client: Client) -> None:
        """Begin: the head of the answer is sent."""
        self.is_ready, self._send = client.is_ready, client.send

    def send(self, data: bytes) -> None:
        """Send a part; only to a client that is ready, or was when this began."""
        assert self._send is not None
        self._send(data)
        self.count(len(data))


# House rule 9: nobody assigns to its fields, but it is not frozen: each request makes one, and a
# frozen one takes four times as long.
@dataclass(slots=True)
class HttpAnswer:
    """Holds an answer. It has either `body` or, for a watch, `stream`. Headers are written as given
    here, in order. To HEAD it has what GET would get; the connection leaves that out."""

    code: int
    content_type: str = ""
    body: bytes = b""
    headers: tuple[Header, ...] = ()
    stream: AsyncGenerator[bytes, None] | None = field(default=None, compare=False)
    audit: Mapping[str, str] = field(default_factory=dict, compare=False)
    """Annotations for the request's audit event; they do not go to the client."""
    request_audit: Mapping[str, str] = field(default_factory=dict, compare=False)
    """More of them, for levels that have the request."""
    user: User | None = field(default=None, compare=False)
    """Who asked, for the audit event; None if that was not found out."""
    impersonated_user: User | None = field(default=None, compare=False)
    """As whom they asked, if not as themselves."""
    constraint: str = field(default="", compare=False)
    """Which constrained right let them do so (`impersonate:user-info`); empty for the old one."""
    panic: str = field(default="", compare=False)
    """What was raised that nobody expected, for the audit event."""
    tunnel: Tunnel | None = field(default=None, compare=False)
    """What the connection becomes, if it does: then there is a `stream`, too."""
    outlet: Outlet | None = field(default=None, compare=False)
    """Where parts of the `stream` may come from besides."""
    is_passed_on: bool = field(default=False, compare=False)
    """Whether another server was asked: then the audit event tells nothing of the bodies."""
    sent: Mapping[str, Any] | None = field(default=None, compare=False)
    """What was read from the body of a write, for the audit event; None if nothing was."""


Handler: TypeAlias = Callable[[HttpRequest], Awaitable[HttpAnswer]]
"""What a server is, without its network."""


class PromptHandler(Protocol):
    """Answers without a task for each request: a tenth of what a small request costs."""

    def offer(self, request: HttpRequest, reply: Callable[[HttpAnswer], None]) -> bool:
        """Return whether it takes the request, and calls `reply` once, now or later, with an answer
        that has no stream. It never raises."""
        ...


def plain_text(code: int, text: str, *headers: Header) -> HttpAnswer:
    """Return an answer that is no Status."""
    return HttpAnswer(code, TEXT, text.encode(), headers)


class BrokenStream(Exception):
    """A stream cannot be sent to its end: its client must see that something is missing."""


# --- Compressed answers ------------------------------------------------------
#
# Large answers, compressed for clients that say they can read that.
#
# As k8s.io/apiserver `pkg/endpoints/handlers/responsewriters/writers.go`: quality values are
# not looked at, and an encoding with one is not recognised. Streams stay as they are.

THRESHOLD: Final = 128 * 1024
"""Bytes of a body up to which it is sent as it is."""

_LEVEL: Final = 1
VARY_ENCODING: Final = ("Vary", "Accept-Encoding")


def compressed(answer: HttpAnswer, request: HttpRequest) -> HttpAnswer:
    """Return the same answer, its body in gzip if that is wanted and worth it."""
    if len(answer.body) <= THRESHOLD or not _accepts_gzip(request):
        return answer
    headers = (*answer.headers, ("Content-Encoding", "gzip"))
    if VARY_ENCODING not in headers:
        headers += (VARY_ENCODING,)
    return replace(answer, body=gzip.compress(answer.body, _LEVEL, mtime=0), headers=headers)


def _accepts_gzip(request: HttpRequest) -> bool:
    offers = request.header("accept-encoding").split(",")
    return any(offer.strip() == "gzip" for offer in offers)


# --- Network failures --------------------------------------------------------
#
# That nobody answered.
#
# It stands apart from what opens connections (`go_network`), which takes a tenth of a start to
# load and is needed when somebody is called.


class NetworkFailure(Exception):
    """Says why no answer came."""


# --- Json bytes --------------------------------------------------------------
#
# Objects as bytes of JSON: what `json.dumps` writes, in a tenth of the time.
#
# msgspec writes the same bytes as `json.dumps` but for floating-point numbers with an exponent,
# and refuses what only `json.dumps` can write (a number kept as text, a lone surrogate). So it
# writes the kinds that cannot have such numbers; of an answer of 700 bytes, `json.dumps` takes
# 40 µs and msgspec 4.

WITH_ANY_NUMBERS: Final = frozenset(
    {
        "ControllerRevision",
        "CustomResourceDefinition",
        "DeviceClass",
        "ResourceClaim",
        "ResourceClaimTemplate",
        "ResourceSlice",
        "Table",
    }
)
"""Built-in kinds with a field of any content. Lists are like their items."""

_MANY: Final = 100
"""Items that are written one by one."""

_ENCODER: Final = msgspec.json.Encoder()
_DECODER: Final = msgspec.json.Decoder()

LARGE_JSON: Final = 128 << 10
"""Bytes of a stored object: to read it takes some milliseconds."""
_LESS, _GREATER, _AMPERSAND, _SEPARATOR = b"<>&\xe2"
_ESCAPES: Final = {
    b"<": b"\\u003c",
    b">": b"\\u003e",
    b"&": b"\\u0026",
    b"\xe2\x80\xa8": b"\\u2028",
    b"\xe2\x80\xa9": b"\\u2029",
}
_TO_ESCAPE: Final = late_pattern(b"[<>&]|\xe2\x80[\xa8\xa9]")


def has_exact_numbers(resource: Resource) -> bool:
    """Return whether all numbers of its objects are integers."""
    return not resource.custom and resource.gvk.kind not in WITH_ANY_NUMBERS


def json_bytes(obj: JsonObject) -> bytes:
    """Return JSON for clients, without a line feed. Custom resources, which may hold any number,
    have `sorted_json_bytes`."""
    text = _fast(obj)
    if text is None:
        written = _in_parts(obj, json_bytes)
        if written is not None:
            return written
        write = go_json.json_with_raw if may_have_raw(obj) else json_text
        return write(obj).encode("utf-8", "replace")
    # Four searches for a byte are ten times as quick as one `translate`: 1 % of a patch.
    if not (_LESS in text or _GREATER in text or _AMPERSAND in text or _SEPARATOR in text):
        return text
    return _TO_ESCAPE.sub(lambda match: _ESCAPES[match[0]], text)


def sorted_json_bytes(obj: JsonObject) -> bytes:
    """Return JSON of a custom resource for clients: its members have no order of their own."""
    written = _in_parts(obj, sorted_json_bytes)
    if written is not None:
        return written
    text = json.dumps(obj, ensure_ascii=False, separators=(",", ":"), sort_keys=True)
    return client_json(text).encode("utf-8", "replace")


def _in_parts(obj: JsonObject, write: Callable[[JsonObject], bytes]) -> bytes | None:
    """Write a long list or table item by item, since no other thread runs while one call writes
    JSON. Return None for anything else."""
    for member in ("items", "rows"):
        parts = obj.get(member)
        if isinstance(parts, list) and len(parts) > _MANY:
            empty = f'"{member}":[]'.encode()
            before, separator, after = write({**obj, member: []}).partition(empty)
            if separator and empty not in after:
                items = b",".join([write(part) for part in parts])
                return b"".join((before, separator[:-1], items, b"]", after))
    return None


def stored_bytes(obj: JsonObject, *, custom: bool) -> bytes:
    """Return JSON for the store: nothing is escaped, lone surrogates are kept; a custom resource is
    sorted."""
    fast = None if custom else _fast(obj)
    if fast is not None:
        return fast
    if not custom and may_have_raw(obj):
        return go_json.json_with_raw(obj, attrgetter("text")).encode("utf-8", "surrogatepass")
    text = json.dumps(obj, ensure_ascii=False, separators=(",", ":"), sort_keys=custom)
    return text.encode("utf-8", "surrogatepass")


def read_stored(value: bytes) -> JsonDict:
    """Return what `stored_bytes` has written, as `json.loads` reads it."""
    try:
        if len(value) > LARGE_JSON:
            with contextlib.suppress(NotInPieces):
                return cast("JsonDict", read_in_pieces(value, _DECODER.decode))
        document: JsonDict = _DECODER.decode(value)
    except (msgspec.DecodeError, UnicodeDecodeError):  # what only `json.loads` can read
        document = json.loads(value)
    if isinstance(document, dict):
        keep_raw_of(gvk(document), document, value)
    return document


def _fast(obj: JsonObject) -> bytes | None:
    kind = obj.get("kind")
    if not isinstance(kind, str) or kind in WITH_ANY_NUMBERS or kind.endswith("List"):
        return None
    try:
        return _ENCODER.encode(obj)
    except (TypeError, UnicodeEncodeError):
        return None


# --- Room for answers --------------------------------------------------------
#
# What the answers of all webhooks together may take of a server's memory, until they were read.

FREE_BYTES: Final = 256 << 10
"""Of each answer, which are not counted."""
MAX_HELD_BYTES: Final = 128 << 20
"""Of all answers, beyond these."""


class AnswerRoom:
    """Counts the bytes that answers of webhooks may still take of one server; `free` are left."""

    __slots__ = ("free",)

    def __init__(self, free: int = MAX_HELD_BYTES) -> None:
        self.free = free


class HeldBytes:
    """Counts the bytes that one call has taken of the room."""

    __slots__ = ("_count", "_room")

    def __init__(self, room: AnswerRoom | None = None) -> None:
        self._room = AnswerRoom() if room is None else room
        self._count = 0

    def take(self, count: int) -> bool:
        """Take so many bytes of the room; return False if there is no room."""
        if count > self._room.free:
            return False
        self._room.free -= count
        self._count += count
        return True

    def give_back(self) -> None:
        """Give back all that was taken."""
        self._room.free += self._count
        self._count = 0
