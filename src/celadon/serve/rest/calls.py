"""One request on its way through the server: who asks, for what, and what is noted beside the
answer."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final

from celadon.cel.value_functions import parse_duration
from celadon.kube import StatusError, User
from celadon.kube.custom import CustomKind
from celadon.kube.go import parse_media_type
from celadon.kube.registry import Target, WriteOptions, patch, request_options
from celadon.serve.http_messages import JSON, HttpRequest
from celadon.serve.remembered_properties import remembered
from celadon.serve.requests.request_info import RequestInfo, is_true
from celadon.serve.rest.endpoints import Endpoint
from celadon.serve.workers.request_work import RequestWork

HANDLER_SECONDS: Final = 34.0
"""What a write has at most (k8s.io/apiserver `pkg/endpoints/handlers/create.go`)."""

OPTIONS = {
    "create": request_options.CREATE,
    "update": request_options.UPDATE,
    "patch": request_options.PATCH,
}


class LostRace(Exception):
    """Somebody else has written in between: the write has to begin again."""


@dataclass(slots=True)
class Notes:
    """Texts of Warning headers, in order, and audit annotations: the first value of a key stays.
    `request_audit` are those for levels that have the request. `user` is who asks,
    `impersonated_user` as whom and `constraint` by which constrained right, `endpoint` and `info`
    for what, once that is known."""

    warnings: list[str] = field(default_factory=list)
    audit: dict[str, str] = field(default_factory=dict)
    request_audit: dict[str, str] = field(default_factory=dict)
    user: User | None = None
    impersonated_user: User | None = None
    constraint: str = ""
    endpoint: Endpoint | None = None
    info: RequestInfo | None = None

    def annotate(self, annotations: Mapping[str, str]) -> None:
        for key, value in annotations.items():
            self.audit.setdefault(key, value)

    @contextlib.contextmanager
    def rollback_on_retry(self) -> Iterator[None]:
        """Around one attempt of a write: takes back its warnings when a race was lost, since the
        next attempt begins with what is there then. After all other errors they stay."""
        count = len(self.warnings)
        try:
            yield
        except LostRace:
            del self.warnings[count:]
            raise


def wanted_seconds(request: HttpRequest) -> float:
    """What a request may take."""
    text = request.first("timeout")
    own = parse_duration(text) if text else None
    return HANDLER_SECONDS if own is None else min(own.nanoseconds / 1e9, HANDLER_SECONDS)


def time_left(seconds: float) -> Callable[[], float]:
    """A clock that says how many seconds are left of so many, from now on."""
    loop = asyncio.get_running_loop()
    end = loop.time() + seconds
    return lambda: end - loop.time()


def raise_refusal(error: StatusError | None) -> None:
    """For steps of the write path that give their refusal as a value. It is raised anew: an error
    that is raised keeps its callers' frames, and these would keep it."""
    if error is not None:
        raise StatusError(error.status)


# House rule 9: without slots, because `remembered` needs the instance dictionary. Nobody assigns to
# its fields, but it is not frozen: each request makes one, and a frozen one takes four times as
# long.
@dataclass
class Call:
    """`custom` is the kind of a custom resource, `remaining` says how many seconds are left for the
    answer, `work` takes the steps that may take long."""

    request: HttpRequest
    info: RequestInfo
    user: User
    endpoint: Endpoint
    custom: CustomKind | None
    notes: Notes = field(default_factory=Notes)
    remaining: Callable[[], float] = lambda: HANDLER_SECONDS
    work: RequestWork = field(default_factory=RequestWork)

    @remembered
    def target(self) -> Target:
        """Where a write goes."""
        endpoint = self.endpoint
        subresource = "" if endpoint.subresource is None else endpoint.subresource.name
        return Target(
            endpoint.resource, endpoint.namespace, endpoint.name, subresource, self.custom
        )

    @remembered
    def content_type(self) -> str:
        """Without parameters; JSON if none was given, empty if what was given is unreadable."""
        given = self.request.header("content-type")
        if not given:
            return JSON
        return parse_media_type(given) or ""

    @remembered
    def patch_type(self) -> str:
        """Raises StatusError 415 for what is no type of patches."""
        return patch.patch_type(self.request.header("content-type"), self.target)

    @remembered
    def options(self) -> WriteOptions:
        """Of a create, update or patch. Raises StatusError: 422, or 415 as `patch_type`."""
        request = self.request
        kind = OPTIONS[self.endpoint.verb]
        options = WriteOptions(
            dry_run=tuple(request.query.get("dryRun", ())),
            field_manager=request.first("fieldManager"),
            field_validation=request.first("fieldValidation"),
            force=is_true(request, "force") if "force" in request.query else None,
            apply=kind == request_options.PATCH and self.patch_type == patch.APPLY_PATCH,
        )
        errors = request_options.write_option_errors(options, kind)
        if errors:
            raise request_options.invalid_options(kind, errors)
        return options

    @property
    def dry_run(self) -> bool:
        return bool(self.options.dry_run)

    @property
    def field_validation(self) -> str:
        """`Warn` where nothing was said."""
        return self.options.field_validation or "Warn"
