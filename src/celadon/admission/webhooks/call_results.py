"""What comes back from the network when a webhook is called, and what a failed call is told as.

The caller makes a `Reply` of an HTTP answer and a `NoReply` of everything that kept it from getting
one. `require_success` is the HTTP side of the API server's client: texts by status code.
As k8s.io/client-go `rest/request.go` and k8s.io/apimachinery `pkg/api/errors`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from celadon.kube import GroupVersionKind, JsonObject, StatusError, status
from celadon.kube.go import quote
from celadon.kube.registry import request_bodies
from celadon.kube.releases import is_since
from celadon.records import dataclass

AsJson = Callable[[bytes], bytes]
"""A body to JSON, should it be YAML; UnreadableBody where it is neither."""

STATUS_KIND: Final = GroupVersionKind("", "v1", "Status")
SERVER_TEXT_BYTES: Final = 2048
BAD_REQUEST: Final = 400
UNAVAILABLE: Final = 503
_CODE_TEXTS: Final[Mapping[int, str]] = {
    400: "the server rejected our request for an unknown reason",
    401: "the server has asked for the client to provide credentials",
    404: "the server could not find the requested resource",
    405: "the server does not allow this method on the requested resource",
    409: "the server reported a conflict",
    422: "the server rejected our request due to an error in our request",
    429: "the server has received too many requests and has asked us to try again later",
    503: "the server is currently unable to handle the request",
    504: "the server was unable to return a response in the time allotted, but may still be "
    "processing the request",
}
_SERVER_TEXT_CODES: Final = frozenset({403, 406, 415})
_NOT_ACCEPTABLE: Final = (
    "the server was unable to respond with a content type that the client supports"
)


@dataclass(frozen=True, slots=True)
class Reply:
    """An HTTP answer. `content_type` is None when there is no such header."""

    code: int
    body: bytes
    content_type: str | None = None


@dataclass(frozen=True, slots=True)
class NoReply:
    """Says why there is no answer, in the words of Go's HTTP client (`Post "https://...": dial tcp
    127.0.0.1:1: connect: connection refused`), said after `stage`. `canceled` is when the client
    has gone, which is nobody's failure."""

    text: str
    code: int = UNAVAILABLE
    stage: str = "failed to call webhook"
    canceled: bool = False


class UnreadableBody(Exception):
    """A body that is no document; the text is what Go's reader says."""


class CallError(Exception):
    """A call that failed, which the failure policy decides upon. `code` is for metrics."""

    def __init__(self, text: str, code: int = UNAVAILABLE, *, canceled: bool = False) -> None:
        super().__init__(text)
        self.code = code
        self.canceled = canceled

    def of(self, hook: str) -> str:
        """The sentence about the hook."""
        return f"failed calling webhook {quote(hook)}: {self}"


def failed_call(why: str, code: int | None = None) -> CallError:
    """A call that was made and went wrong, by what answered or (without `code`) on the way."""
    code = code_of_failure(UNAVAILABLE) if code is None else code
    return CallError(f"failed to call webhook: {why}", code)


def code_of_failure(code: int) -> int:
    """What metrics say where no server has said anything; before 1.34 that the request was bad."""
    return code if is_since("1.34") else BAD_REQUEST


def require_success(reply: Reply, media_type: str, as_json: AsJson) -> None:
    """CallError unless the HTTP status says that the body is an answer, and there is one."""
    failed = http_failure(reply, media_type, as_json)
    if failed is not None:
        raise failed_call(*failed)


def http_failure(reply: Reply, media_type: str, as_json: AsJson) -> tuple[str, int] | None:
    """Return why the body is no answer, and the code of that; None if it is one."""
    if reply.code != 101 and not 200 <= reply.code <= 206:
        said = _said_status(reply.body, as_json)
        if said is not None:
            return str(said.get("message") or ""), int(said.get("code") or 0)
        return _code_text(reply, media_type), reply.code
    if not reply.body:
        shown = "application/json" if reply.content_type is None else reply.content_type
        text = f"0-length response with status code: {reply.code} and content type: {shown}"
        return text, code_of_failure(UNAVAILABLE)
    return None


def _said_status(body: bytes, as_json: AsJson) -> JsonObject | None:
    """A Status of failure that the webhook has answered with."""
    if not body:
        return None
    try:
        found, document = request_bodies.interpret(as_json(body), STATUS_KIND)
    except (StatusError, UnreadableBody):
        return None
    said = document.value
    failed = found == STATUS_KIND and said.get("status") == status.FAILURE
    return said if failed else None


def _code_text(reply: Reply, media_type: str) -> str:
    code = reply.code
    text = "unknown"
    if reply.content_type is None or media_type.startswith("text/"):
        text = reply.body[:SERVER_TEXT_BYTES].decode("utf-8", "replace").strip()
    if code == 406 and text in {"", "unknown"}:
        return _NOT_ACCEPTABLE
    if code in _SERVER_TEXT_CODES:
        return text
    known = _CODE_TEXTS.get(code)
    if known is not None:
        return known
    if code >= 500:
        return f"an error on the server ({quote(text)}) has prevented the request from succeeding"
    return f"the server responded with the status code {code} but did not return more information"
