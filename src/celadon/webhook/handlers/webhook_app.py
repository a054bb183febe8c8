"""`Webhook`: handlers as an ASGI application, and as what an API server has to be told of them.

    app = Webhook("rules.example.com")

    @app.validate("deployments.apps")
    def has_a_team(request: Request) -> bool:
        ...

Each handler is a webhook of its own, asked at `/validate/<name>` or `/mutate/<name>`; `/healthz`
is for probes. What an API server cannot be answered properly is an HTTP error, so that the failure
policy of the webhook decides: 500 for a handler that raises something else than a denial, 504 for
one that takes longer than the API server waits.
"""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Callable, Iterable
from typing import Any, Final, Unpack
from urllib.parse import parse_qs

from celadon.cel.value_functions import parse_duration
from celadon.webhook.handlers import decorated_handlers
from celadon.webhook.handlers.asgi_messages import (
    Disconnected,
    Receive,
    Scope,
    Send,
    Unacceptable,
    answer,
    header,
    lifespan,
    path_of,
    read_body,
    refusal,
)
from celadon.webhook.handlers.decorated_handlers import (
    About,
    AboutMutating,
    Handler,
    Mutating,
    Validating,
)
from celadon.webhook.handlers.generated_configurations import client_config, configuration
from celadon.webhook.handlers.review_handling import handled
from celadon.webhook.reviews.incoming_reviews import Review, ReviewError, decode_review

_LOG: Final = logging.getLogger("celadon.webhook")
_HEALTH: Final = frozenset({"/healthz", "/livez", "/readyz"})
ANYWHERE: Final = "https://127.0.0.1"
"""The URL of an application that is called by no name."""


class Webhook:
    """`name` is that of the configurations, and what follows the names of handlers in those of
    webhooks: a domain with two parts at least."""

    def __init__(self, name: str, handlers: Iterable[Handler] = ()) -> None:
        self.name = name
        self._handlers: dict[str, Handler] = {}
        for handler in handlers:
            self.add(handler)

    @property
    def handlers(self) -> tuple[Handler, ...]:
        """All of them, in the order in which they were added."""
        return tuple(self._handlers.values())

    def add(self, handler: Handler) -> Handler:
        """Let another handler answer. ValueError for a name that is taken, and for one that an API
        server would not accept in a configuration."""
        if handler.path in self._handlers:
            raise ValueError(f"there are two handlers `{handler.name}`: give one another `name`")
        client = client_config(url=ANYWHERE)
        configuration(self.name, [handler], mutating=handler.mutating, client=client)
        self._handlers[handler.path] = handler
        return handler

    def validate(self, *resources: str, **about: Unpack[About]) -> Callable[[Validating], Handler]:
        """As `celadon.webhook.validate`, and the handler is added."""
        decorate = decorated_handlers.validate(*resources, **about)
        return lambda function: self.add(decorate(function))

    def mutate(
        self, *resources: str, **about: Unpack[AboutMutating]
    ) -> Callable[[Mutating], Handler]:
        """As `celadon.webhook.mutate`, and the handler is added."""
        decorate = decorated_handlers.mutate(*resources, **about)
        return lambda function: self.add(decorate(function))

    def configurations(
        self, *, service: str = "", url: str = "", ca_bundle: bytes | str = b""
    ) -> list[dict[str, Any]]:
        """What an API server is to be told, as manifests: a ValidatingWebhookConfiguration, a
        MutatingWebhookConfiguration, or both.

        Either `service` (NAMESPACE/NAME[:PORT][/PATH]) or `url` says where the application is;
        `ca_bundle` is PEM.
        """
        client = client_config(service, url, ca_bundle)
        kinds = sorted({handler.mutating for handler in self.handlers})
        return [
            configuration(self.name, self.handlers, mutating=mutating, client=client)
            for mutating in kinds
        ]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """ASGI 3."""
        if scope["type"] == "lifespan":
            await lifespan(receive, send)
            return
        if scope["type"] != "http":
            raise ValueError(f"not for `{scope['type']}`")
        path = path_of(scope)
        if path in _HEALTH and scope["method"] in {"GET", "HEAD"}:
            await answer(send, 200, "ok")
            return
        try:
            found = await self._answered(scope, path, receive)
        except Unacceptable as error:
            await answer(send, error.code, refusal(error.code, str(error)), error.headers)
        except Disconnected:
            return
        else:
            await answer(send, 200, found)

    async def _answered(self, scope: Scope, path: str, receive: Receive) -> dict[str, Any]:
        handler = self._handlers.get(path)
        if handler is None:
            raise Unacceptable(404, f"there is no handler at {path}")
        if scope["method"] != "POST":
            raise Unacceptable(405, "reviews are posted", ((b"allow", b"POST"),))
        media_type = header(scope, b"content-type").partition(";")[0].strip().lower()
        if media_type != "application/json":
            raise Unacceptable(415, f"a review is application/json, not `{media_type}`")
        review = _review(await read_body(receive))
        try:
            async with asyncio.timeout(_seconds(scope.get("query_string", b""))):
                return await handled(handler, review)
        except TimeoutError:
            _LOG.warning("handler %s took too long", handler.name)
            raise Unacceptable(504, f"handler {handler.name} took too long") from None
        except Exception:  # noqa: BLE001 - whatever a handler does, the failure policy decides
            _LOG.exception("handler %s failed", handler.name)
            raise Unacceptable(500, f"handler {handler.name} failed") from None


def _review(body: bytes) -> Review:
    """Raises Unacceptable 400."""
    try:
        document = json.loads(body)
    except (ValueError, RecursionError) as error:
        raise Unacceptable(400, f"the body is no JSON: {error}") from None
    try:
        return decode_review(document, len(body))
    except ReviewError as error:
        raise Unacceptable(400, f"not an AdmissionReview: {error}") from None


def _seconds(query: bytes) -> float | None:
    """How long the API server waits, `?timeout=5s`; None if it does not say."""
    texts = parse_qs(query.decode("latin-1")).get("timeout", [])
    found = parse_duration(texts[0]) if texts else None
    return found.nanoseconds / 1e9 if found is not None and found.nanoseconds > 0 else None
