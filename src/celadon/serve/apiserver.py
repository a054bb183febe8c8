"""The API server: one handler from a request to an answer, and the life of what is behind it.

What a request goes through is in `request_layers`, which part is made of which others in
`assembly`. Nothing here knows of sockets or threads; time, uids and random text come from
`Sources`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from http import HTTPStatus
from time import perf_counter
from typing import Final

from celadon.admission import RecordedWarning, recorded_warnings
from celadon.kube import StatusError, User
from celadon.serve import assembly
from celadon.serve.answers import NO_SNIFF
from celadon.serve.api_settings import AccessSettings, Settings
from celadon.serve.calling.caller_on_demand import CallerOnDemand
from celadon.serve.calling.service_routes import ServiceRoutes
from celadon.serve.http_messages import Header, HttpAnswer, HttpRequest, plain_text
from celadon.serve.initial_state import create_initial_objects, objects_of_server
from celadon.serve.operation.log_lines import FAILURES
from celadon.serve.publication.server_pages.health import HealthCheck, checks_of
from celadon.serve.request_layers import RequestLayers
from celadon.serve.rest.calls import Notes
from celadon.serve.server_core import core_on
from celadon.serve.time_and_chance import Sources
from celadon.serve.workers.request_work import MANY_OBJECTS, RequestWork
from celadon.serve.workers.worker_threads import TooMuchWork
from celadon.store import Store

PANICKED: Final = plain_text(
    500,
    "This request caused apiserver to panic. Look in the logs for details.\n",
    NO_SNIFF,
)
"""What upstream says when a handler fails in a way that nobody expected
(k8s.io/apiserver `pkg/server/filters/wrap.go`)."""


class ApiServer:
    """All there is to a server but its network."""

    def __init__(
        self,
        store: Store,
        access: AccessSettings,
        settings: Settings | None = None,
        sources: Sources | None = None,
    ) -> None:
        settings = Settings() if settings is None else settings
        sources = Sources() if sources is None else sources
        self.core = core = core_on(store, settings, sources)
        self.is_ending = False
        self._caller = CallerOnDemand(
            ServiceRoutes(core.world, settings.webhook_services),
            settings.plugin_settings.kubeconfigs,
        )
        self.objects = core.objects
        self.served = core.served
        self.controllers = assembly.controllers_of(core, self.perform)
        authenticator = assembly.authenticator_of(core, access)
        self._admission = admission = assembly.admission_of(core, self.perform, self._caller)
        self._layers = RequestLayers(
            core,
            authenticator,
            self.controllers,
            assembly.publications_of(core, access, self._health_checks),
            assembly.verbs_of(core, access, authenticator, admission),
        )

    def _health_checks(self, root: str) -> Sequence[HealthCheck]:
        ending = "process is shutting down" if self.is_ending else ""
        store = self.objects.store
        return checks_of(root, store.trouble(), store.writing_trouble(), ending)

    def prepare_to_stop(self) -> None:
        """Say on `/readyz` that no more requests should come."""
        self.is_ending = True

    async def start(self) -> None:
        """Make what a new server has. Requests may come when this is done. Raises ManifestError
        for files of static policies and webhooks that cannot be used."""
        self.core.static.load()
        catalog = self.served.current().catalog
        settings, now = self.core.settings, self.core.sources.timestamp()
        own = objects_of_server(settings.address, settings.client_ca, now)
        await create_initial_objects(self.objects, catalog, self.core.new_context, own)
        if self.core.settings.controllers:
            self.controllers.start()

    async def stop(self) -> None:
        """End all watches; what was acknowledged is kept."""
        await self.controllers.stop()
        self.core.workers.stop()
        await self._caller.aclose()
        await self._admission.images.aclose()
        self.objects.store.close()

    async def handle(self, request: HttpRequest) -> HttpAnswer:
        """One request. Whatever is wrong with it is an answer, too."""
        notes, began = Notes(), perf_counter()
        audit_id = request.header("audit-id") or self.core.sources.uid()
        panic = ""
        try:
            answer = await self._layers.answered(request, notes)
        except Exception as error:  # noqa: BLE001  whatever was raised, there is an answer
            FAILURES.tell(f"{request.method} {request.path}: the request failed", error)
            answer, panic = PANICKED, f"APIServer panic'd: {error}"
        warnings = await self._warned(notes) if notes.warnings else ()
        cache = () if _has(answer, "cache-control") else (("Cache-Control", "no-cache, private"),)
        is_kept_out = answer.code == HTTPStatus.FORBIDDEN and notes.endpoint is None
        sniff = (NO_SNIFF,) if is_kept_out else ()
        headers = (("Audit-Id", audit_id), *cache, *sniff, *answer.headers, *warnings)
        given = HttpAnswer(
            answer.code,
            answer.content_type,
            b"" if request.method == "HEAD" else answer.body,
            headers,
            answer.stream,
            notes.audit,
            notes.request_audit,
            notes.user,
            notes.impersonated_user,
            notes.constraint,
            panic,
        )
        if notes.info is not None:
            resource = None if notes.endpoint is None else notes.endpoint.resource
            seconds = perf_counter() - began
            self.core.metrics.answered(request, notes.info, resource, given, seconds)
        return given

    async def _warned(self, notes: Notes) -> tuple[Header, ...]:
        owner = "" if notes.user is None else notes.user.name
        work = RequestWork(self.core.workers, owner, len(notes.warnings) > MANY_OBJECTS)
        try:
            return await work.step(_warning_headers, notes.warnings)
        except (StatusError, TooMuchWork):  # nobody has time for them
            return ()

    async def perform(self, request: HttpRequest, user: User) -> HttpAnswer:
        """A request of the server's own, by a user who may do it. Raises UnreadablePath."""
        return await self._layers.perform(request, user)


def _warning_headers(texts: Iterable[str]) -> tuple[Header, ...]:
    said = (RecordedWarning(text) for text in dict.fromkeys(texts))
    return tuple(("Warning", f'299 - "{_escaped(one.text)}"') for one in recorded_warnings(said))


def _has(answer: HttpAnswer, header: str) -> bool:
    return any(name.lower() == header for name, _ in answer.headers)


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"')
