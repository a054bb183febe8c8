"""Which part of a server is made of which others. Nothing happens here but that they are made.

`perform` answers a request as if that user had made it and were allowed to (`request_layers`).
"""

from __future__ import annotations

import functools
import time
from collections.abc import Awaitable, Callable, Sequence
from typing import Final

from celadon.admission.plugins import EVENT_RATE_LIMIT, IMAGE_POLICY, RESOURCE_QUOTA, PluginChain
from celadon.admission.static import StaticObjects
from celadon.kube import User
from celadon.kube.library import parse_version
from celadon.kube.well_known_values import SERVICES
from celadon.serve.access.authentication import Authenticator
from celadon.serve.access.credentials.service_account_tokens import ServiceAccountTokens
from celadon.serve.access.standings import Standings
from celadon.serve.access.token_requests import TokenIssuer
from celadon.serve.api_settings import AccessSettings
from celadon.serve.calling.caller_on_demand import CallerOnDemand
from celadon.serve.calling.webhook_phases import Webhooks
from celadon.serve.charging.quota_charging import QuotaCharging
from celadon.serve.controllers.controller_loops import Controllers
from celadon.serve.controllers.server_controllers import (
    ControllerSurroundings,
    led_controllers,
    server_controllers,
)
from celadon.serve.controllers.server_requests import ServerRequests
from celadon.serve.http_messages import HttpAnswer, HttpRequest
from celadon.serve.leading.leader_election import LeaderElection, leases_path
from celadon.serve.leading.served_leases import ServedLeases
from celadon.serve.operation.policy_timer import MutationTimer, PolicyTimer
from celadon.serve.publication.publication_answers import Publications
from celadon.serve.publication.server_pages.debugging_pages import KINDS, SINCE, SelfPortrait
from celadon.serve.publication.server_pages.health import HealthCheck
from celadon.serve.publication.server_pages.openid_documents import OpenId
from celadon.serve.publication.server_pages.server_version import ServerVersion
from celadon.serve.rest.admitting.admission_chain import Admission
from celadon.serve.rest.admitting.chain_driver import ServerAdmitters
from celadon.serve.rest.admitting.event_rates import EventRates
from celadon.serve.rest.admitting.image_policy import ImagePolicy
from celadon.serve.rest.admitting.namespace_provision import AUTO_PROVISION, NamespaceProvision
from celadon.serve.rest.connections.connecting import Connector
from celadon.serve.rest.deleting import Deleter
from celadon.serve.rest.field_managers import FieldManagers
from celadon.serve.rest.object_writes import Writer
from celadon.serve.rest.pod_operations import PodOperations
from celadon.serve.rest.reading import Reader
from celadon.serve.rest.reviewing import Reviewer
from celadon.serve.rest.verbs import Verbs
from celadon.serve.rest.watching import Watching
from celadon.serve.server_core import ServerCore
from celadon.serve.views.policy_view import (
    MUTATING,
    VALIDATING,
    mutating_view,
    validating_view,
)
from celadon.serve.views.service_network_view import ServiceNetworkView
from celadon.serve.views.webhook_view import WebhookView

MUTATING_WEBHOOKS: Final = "MutatingAdmissionWebhook"
VALIDATING_WEBHOOKS: Final = "ValidatingAdmissionWebhook"
CONTROLLERS_LEASE: Final = "celadon-controllers"
"""In `kube-system`: which of several servers runs the controllers of which one is enough."""

Perform = Callable[[HttpRequest, User], Awaitable[HttpAnswer]]


def authenticator_of(core: ServerCore, access: AccessSettings) -> Authenticator:
    """Who knows who asks: by tokens of the file and of service accounts, and by certificates."""
    audiences = (access.issuer,)
    accounts = ServiceAccountTokens((access.issuer,), audiences, access.signer, core.world)
    return Authenticator(
        audiences, access.tokens, accounts, access.client_certificates, access.anonymous
    )


def publications_of(
    core: ServerCore, access: AccessSettings, checks: Callable[[str], Sequence[HealthCheck]]
) -> Publications:
    """What is answered beside the resources."""
    settings, seconds = core.settings, core.sources.seconds
    version = ServerVersion(settings.version)
    return Publications(
        settings.address,
        checks,
        core.metrics.health.observe,
        {"/metrics": core.metrics.answer, "/metrics/slis": core.metrics.health.answer},
        OpenId(access.issuer, settings.address, access.signer),
        SelfPortrait(version, seconds(), seconds, settings.as_flags(access.issuer)),
        KINDS if parse_version(settings.version) >= SINCE else (),
    )


def controllers_of(core: ServerCore, perform: Perform) -> Controllers:
    """What happens without a request."""
    settings = core.settings
    surroundings = ControllerSurroundings(
        core.objects,
        core.served,
        settings.version,
        core.sources.now,
        perform,
        core.new_context,
        settings.controller_names,
        core.charges,
        settings.root_certificates,
        settings.namespace_grace,
        settings.collection_lag,
    )
    leading = None
    if settings.is_one_of_several:
        leases = ServedLeases(surroundings.requests("leader-election"))
        identity = f"{settings.address}_{core.sources.uid()}"
        namespace = leases_path("kube-system")
        leading = LeaderElection(leases, namespace, CONTROLLERS_LEASE, identity).run
    always, led = server_controllers(surroundings), led_controllers(surroundings)
    return Controllers(core.objects, always, led, leading)


def admission_of(core: ServerCore, perform: Perform, caller: CallerOnDemand) -> Admission:
    """Whether a write may happen; `caller` calls webhooks."""
    settings = core.settings
    told = settings.plugin_settings
    plugins = PluginChain(settings.plugins, settings.version, told)
    limits = told.event_limits if EVENT_RATE_LIMIT in plugins.names else ()
    create = _namespace_maker(perform) if AUTO_PROVISION in plugins.names else None
    return Admission(
        admitters=_admitters(core, plugins, caller),
        authorizer=core.authorizer,
        roles=core.roles,
        provision=NamespaceProvision(core.world, create),
        quotas=QuotaCharging(
            core.objects,
            core.sources.timestamp,
            core.charges,
            told.limited_resources,
            enabled=RESOURCE_QUOTA in plugins.names,
        ),
        event_rates=EventRates(limits, time.monotonic),
        images=ImagePolicy(
            told.image_policy if IMAGE_POLICY in plugins.names else None, time.monotonic, time.time
        ),
    )


def _admitters(core: ServerCore, plugins: PluginChain, caller: CallerOnDemand) -> ServerAdmitters:
    compiled = core.metrics.compilation_seconds.observe
    version = core.settings.version
    mutating = validating = None
    if MUTATING.policy in plugins.names:
        mutating = mutating_view(core.objects, version, _static(core, MUTATING.policy), compiled)
    if VALIDATING.policy in plugins.names:
        static = _static(core, VALIDATING.policy)
        validating = validating_view(core.objects, version, static, compiled)
    return ServerAdmitters(
        plugins=plugins,
        mutating=mutating,
        validating=validating,
        webhooks=_webhooks(core, plugins.names, caller),
        served=core.served,
        world=core.world,
        mutation_timer=MutationTimer(core.metrics),
        timer=PolicyTimer(core.metrics),
    )


def _static(core: ServerCore, plugin: str) -> Callable[[], StaticObjects]:
    return functools.partial(core.static.of, plugin)


def _webhooks(core: ServerCore, plugins: frozenset[str], caller: CallerOnDemand) -> Webhooks:
    mutating, validating = (
        WebhookView(
            core.objects,
            core.settings.version,
            mutating=one is MUTATING_WEBHOOKS,
            static=_static(core, one),
        )
        if one in plugins
        else None
        for one in (MUTATING_WEBHOOKS, VALIDATING_WEBHOOKS)
    )
    counts = core.metrics.webhooks
    return Webhooks(mutating, validating, core.world, caller.call, core.sources.uid, counts)


def _namespace_maker(perform: Perform) -> Callable[[str], Awaitable[str]]:
    async def make(name: str) -> str:
        requests = ServerRequests(perform, "namespace-controller")
        body = {"metadata": {"name": name}}
        reply = await requests.call("POST", "/api/v1/namespaces", body)
        return "" if reply.code in (201, 409) else reply.message

    return make


def verbs_of(
    core: ServerCore, access: AccessSettings, authenticator: Authenticator, admission: Admission
) -> Verbs:
    """What can be done with resources."""
    sources = core.sources
    reader = Reader(core.objects, core.world, lambda kind: core.served.current().custom.get(kind))
    managers = FieldManagers(core.served, core.world)
    deleter = Deleter(core.objects, reader, core.world, admission, sources.timestamp)
    return Verbs(
        reader,
        Watching(core.objects, reader),
        Standings(authenticator, sources.now, time.monotonic),
        Writer(
            core.objects,
            reader,
            core.world,
            admission,
            managers,
            core.new_context,
            _service_network(core),
            core.settings.version,
            core.settings.gates,
        ),
        deleter,
        Reviewer(
            authenticator,
            core.authorizer,
            core.roles,
            TokenIssuer(access.issuer, (access.issuer,), access.signer, core.world),
            sources.now,
            sources.uid,
            core.new_context,
            admission,
            managers,
        ),
        PodOperations(
            core.objects,
            core.world,
            admission,
            deleter,
            sources.timestamp,
            core.new_context,
            managers,
        ),
        Connector(core.world, admission),
        sources.seconds,
        sources.randomness.random,
        core.in_flight,
        core.metrics,
        core.settings.limits.watch_seconds,
    )


def _service_network(core: ServerCore) -> ServiceNetworkView:
    services = core.served.current().catalog.by_gvr(SERVICES)
    assert services is not None, "a catalogue without Services"
    return ServiceNetworkView(core.objects, services, core.sources.randomness)
