"""The plugins of a server, with what an operator tells them, asked one after the other:
`PluginChain`.

Which plugins concern a request depends on its operation and endpoint only, so it is worked out once
for each of those; a request that no plugin looks at costs one look into a dictionary.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from types import MappingProxyType
from typing import Final

from celadon.admission.cluster_lookups import World
from celadon.admission.plugins import (
    deny_resize_and_owners,
    namespace_lifecycle,
    pod_plugins,
    priority_and_pod_groups,
)
from celadon.admission.plugins.certificate_plugins import APPROVAL, ATTESTING, SIGNING, SUBJECTS
from celadon.admission.plugins.limit_ranger import LIMIT_RANGER
from celadon.admission.plugins.node_restriction import node_restriction
from celadon.admission.plugins.plugin_interface import FINE, Behaviour, Mutate, Opinion
from celadon.admission.plugins.pod_security import SecuritySettings, pod_security
from celadon.admission.plugins.resource_quota import LimitedResource
from celadon.admission.plugins.service_account import SERVICE_ACCOUNT
from celadon.admission.request import Operation, Request
from celadon.kube import GroupVersionKind, GroupVersionResource, Json, StatusError
from celadon.kube.registry import Draft, create
from celadon.kube.releases import current_release
from celadon.kube.resources import DEFAULT_PLUGINS, known_plugins
from celadon.kube.well_known_values import WORKLOAD_PREEMPTION
from celadon.records import dataclass, field

# --- Settings ----------------------------------------------------------------
#
# What an operator tells the plugins beside their names; as it stands here, what they do untold.
#
# Decoded from files in `celadon.admission.plugins.admission_configuration`.

EVENT_RATE_LIMIT: Final = "EventRateLimit"
"""Its name, which the server asks for too: events are counted where time is known."""

IMAGE_POLICY: Final = "ImagePolicyWebhook"
"""Likewise: others are asked where there is a network."""

POD_SECURITY: Final = "PodSecurity"
"""The plugin that holds pods against the Pod Security Standards."""
RESOURCE_QUOTA: Final = "ResourceQuota"
"""Likewise: what is used is added up where objects are kept."""


@dataclass(frozen=True, slots=True)
class EventLimit:
    """Holds a limit of EventRateLimit: `qps` events a second, and `burst` at once, for each key of
    a `type`; the buckets of the last `cache_size` keys are kept."""

    type: str
    qps: int
    burst: int
    cache_size: int


@dataclass(frozen=True, slots=True)
class WebhookSettings:
    """Holds the settings of a plugin that calls webhooks: the file with the credentials for them,
    and the folder with static configurations; empty for none."""

    kubeconfig: str = ""
    static_folder: str = ""


@dataclass(frozen=True, slots=True)
class ImagePolicySettings:
    """Holds the settings of ImagePolicyWebhook: the file that says where the backend is and who
    asks it, for how many seconds its answers hold, after how many it is asked again, and whether
    images may run that it says nothing about."""

    kubeconfig: str
    allow_seconds: float
    deny_seconds: float
    backoff: float
    default_allow: bool


@dataclass(frozen=True, slots=True)
class PluginSettings:
    """Holds the settings of all plugins."""

    security: SecuritySettings = field(default_factory=SecuritySettings)
    limited_resources: tuple[LimitedResource, ...] = ()
    event_limits: tuple[EventLimit, ...] = ()
    image_policy: ImagePolicySettings | None = None
    mutating_webhooks: WebhookSettings = WebhookSettings()
    validating_webhooks: WebhookSettings = WebhookSettings()
    mutating_policies: str = ""
    validating_policies: str = ""
    """The folders with static policies; empty for none."""

    @property
    def kubeconfigs(self) -> tuple[str, str]:
        """Return the kubeconfigs for calls of validating webhooks and of mutating ones."""
        return self.validating_webhooks.kubeconfig, self.mutating_webhooks.kubeconfig

    @property
    def static_folders(self) -> Mapping[str, str]:
        """Return the folders with static objects by the names of plugins, for those that have
        one."""
        value = {
            "MutatingAdmissionPolicy": self.mutating_policies,
            "MutatingAdmissionWebhook": self.mutating_webhooks.static_folder,
            "ValidatingAdmissionPolicy": self.validating_policies,
            "ValidatingAdmissionWebhook": self.validating_webhooks.static_folder,
        }
        return {name: folder for name, folder in value.items() if folder}

    @property
    def configured(self) -> frozenset[str]:
        """Return the names of the plugins that cannot run without a configuration, and have it."""
        value = {EVENT_RATE_LIMIT: self.event_limits, IMAGE_POLICY: self.image_policy}
        return frozenset(name for name, entry in value.items() if entry)


# --- Plugin table ------------------------------------------------------------
#
# Which plugin behaves how: the one place where names meet functions.
#
# The order, and which plugins are on, is told in `celadon.kube.resources.PLUGINS`. Plugins that
# are missing here only change objects, by rules in `celadon.kube.defaulting`, do nothing
# without a feature gate that is off, or are the server's own affair (policies, webhooks,
# ResourceQuota).

Behaviours = Mapping[str, tuple[Behaviour, ...]]

_OF_EVERY_RELEASE: Final[Behaviours] = {
    "AlwaysDeny": (deny_resize_and_owners.ALWAYS_DENY,),
    "AlwaysPullImages": (pod_plugins.IMAGE_PULLING,),
    "CertificateApproval": (APPROVAL,),
    "CertificateSigning": (SIGNING,),
    "CertificateSubjectRestriction": (SUBJECTS,),
    "ClusterTrustBundleAttest": (ATTESTING,),
    "DefaultTolerationSeconds": (pod_plugins.DEFAULT_TOLERATIONS,),
    "DenyServiceExternalIPs": (deny_resize_and_owners.EXTERNAL_ADDRESSES,),
    "ExtendedResourceToleration": (pod_plugins.RESOURCE_TOLERATION,),
    "JobValidation": (priority_and_pod_groups.JOB_PARALLELISM,),
    "LimitPodHardAntiAffinityTopology": (pod_plugins.ANTI_AFFINITY,),
    "LimitRanger": (LIMIT_RANGER,),
    "NamespaceExists": (namespace_lifecycle.EXISTS,),
    "NamespaceLifecycle": (namespace_lifecycle.LIFECYCLE,),
    "OwnerReferencesPermissionEnforcement": (deny_resize_and_owners.OWNER_PERMISSIONS,),
    "PersistentVolumeClaimResize": (deny_resize_and_owners.CLAIM_RESIZING,),
    "PodGroupWorkloadExists": (priority_and_pod_groups.GROUP_WORKLOAD,),
    "PodNodeSelector": (pod_plugins.NODE_SELECTORS,),
    "PodResizeValidator": (pod_plugins.POD_RESIZING,),
    "PodTolerationRestriction": (pod_plugins.TOLERATION_RESTRICTION,),
    "PodTopologyLabels": (pod_plugins.TOPOLOGY,),
    "Priority": (priority_and_pod_groups.PRIORITY, priority_and_pod_groups.PRIORITY_CLASS),
    "RuntimeClass": (pod_plugins.RUNTIME_CLASS,),
    "ServiceAccount": (SERVICE_ACCOUNT,),
}


def behaviours(
    release: str, settings: PluginSettings, gates: Mapping[str, bool] = MappingProxyType({})
) -> Behaviours:
    """Return the behaviours of plugins by the names of plugins, as they are in a release: `1.36`.
    `gates` are feature gates that somebody switched on, or off."""
    minor = int(release.rpartition(".")[2])
    result = {
        **_OF_EVERY_RELEASE,
        "NodeRestriction": (node_restriction(gates),),
        "PodSecurity": pod_security(minor, settings.security),
    }
    if gates.get(WORKLOAD_PREEMPTION):
        result["Priority"] = (*result["Priority"], priority_and_pod_groups.GROUP_PRIORITY)
    return result


Endpoint = tuple[Operation, GroupVersionResource, str, GroupVersionKind]

Stands = Callable[[str, StatusError], bool]
"""Told of a plugin's name and its refusal; whether that ends the asking. Whoever says no goes on
with the next plugin, as if there were no refusal."""

_NOTHING: Final[dict[str, object]] = {}
_ONLY_RULES: Final = (Behaviour(),)


@dataclass(frozen=True, slots=True)
class _Step:
    """Part of a plugin: a function, or nothing where rules say what the plugin changes."""

    plugin: str
    mutate: Mutate | None


class PluginChain:
    """Asks the enabled plugins, in their order. `names` are those of
    `celadon.kube.resources.PLUGINS`; policies, webhooks and quotas, which need more than a look at
    the world, are the caller's. `gates` are feature gates that somebody switched on, or off."""

    def __init__(
        self,
        names: Iterable[str] = DEFAULT_PLUGINS,
        release: str | None = None,
        settings: PluginSettings | None = None,
        gates: Mapping[str, bool] = MappingProxyType({}),
    ) -> None:
        self.names = frozenset(names)
        self._behaviours = behaviours(
            release or current_release(), settings or PluginSettings(), gates
        )
        self._ordered = known_plugins(self.names)
        self._concerned: dict[Endpoint, tuple[str, ...]] = {}
        self._mutating: dict[Endpoint, tuple[_Step, ...]] = {}
        self._validating: dict[Endpoint, tuple[tuple[str, Behaviour], ...]] = {}

    def mutate(
        self, draft: Draft | None, request: Request, world: World, stands: Stands | None = None
    ) -> StatusError | None:
        """Return the first half of all plugins; the refusal of the first that has one. Changes the
        draft, which is None where there is no object; else `request.object` is what it is making.
        `stands` is asked about each refusal, if somebody wants to be."""
        obj = _NOTHING if draft is None else draft.decoded
        changed = False
        for step in self._mutating_steps(request):
            if step.mutate is not None:
                refusal = step.mutate(obj, request, world)
                if refusal is not None and (stands is None or stands(step.plugin, refusal)):
                    return refusal
            elif draft is not None:
                create.run_plugin(draft, step.plugin)
                changed = True
        if changed and draft is not None:
            create.settle_plugins(draft)
        return None

    def admit_again(
        self, obj: dict[str, Json], request: Request, world: World, stands: Stands | None = None
    ) -> StatusError | None:
        """Return the first half about an object that has been through it, and that may be changed
        once more: what rules of plugins fill in is there already."""
        for step in self._mutating_steps(request):
            if step.mutate is not None:
                refusal = step.mutate(obj, request, world)
                if refusal is not None and (stands is None or stands(step.plugin, refusal)):
                    return refusal
        return None

    def concerned(self, request: Request) -> tuple[str, ...]:
        """Return the plugins that may have something against a request for such an endpoint."""
        endpoint = _endpoint(request)
        concerned = self._concerned.get(endpoint)
        if concerned is None:
            first = [
                mutating_step.plugin
                for mutating_step in self._mutating_steps(request)
                if mutating_step.mutate is not None
            ]
            validating_steps = [name for name, _ in self._validating_steps(request)]
            concerned = self._concerned[endpoint] = tuple(
                dict.fromkeys((*first, *validating_steps))
            )
        return concerned

    def validate(self, request: Request, world: World, stands: Stands | None = None) -> Opinion:
        """Validate the second half of all plugins, up to the first refusal. `stands` as above."""
        steps = self._validating_steps(request)
        return _validated(steps, request, world, stands) if steps else FINE

    def _mutating_steps(self, request: Request) -> tuple[_Step, ...]:
        endpoint = _endpoint(request)
        steps = self._mutating.get(endpoint)
        if steps is None:
            steps = tuple(self._steps(request))
            self._mutating[endpoint] = steps
        return steps

    def _steps(self, request: Request) -> Iterable[_Step]:
        for name in self._ordered:
            behaviour = self._behaviours.get(name, _ONLY_RULES)
            for item in behaviour:
                if item.mutate is not None and item.concerns(request):
                    yield _Step(name, item.mutate)
            ruled = request.operation in behaviour[0].rules_on and not request.subresource
            if ruled and create.plugin_rules(request.kind, name):
                yield _Step(name, None)

    def _validating_steps(self, request: Request) -> tuple[tuple[str, Behaviour], ...]:
        endpoint = _endpoint(request)
        validating = self._validating.get(endpoint)
        if validating is None:
            validating = tuple(
                (name, behaviour)
                for name in self._ordered
                for behaviour in self._behaviours.get(name, ())
                if _validates(behaviour) and behaviour.concerns(request)
            )
            self._validating[endpoint] = validating
        return validating


def _endpoint(request: Request) -> Endpoint:
    return request.operation, request.resource, request.subresource, request.kind


def _validates(behaviour: Behaviour) -> bool:
    return behaviour.validate is not None or behaviour.advise is not None


def _validated(
    steps: Iterable[tuple[str, Behaviour]], request: Request, world: World, stands: Stands | None
) -> Opinion:
    warnings: tuple[str, ...] = ()
    annotations: dict[str, str] = {}
    for name, behaviour in steps:
        refusal = None
        if behaviour.validate is not None:
            refusal = behaviour.validate(request, world)
        elif behaviour.advise is not None:
            opinion = behaviour.advise(request, world)
            refusal = opinion.refusal
            warnings += opinion.warnings
            annotations.update(opinion.audit_annotations)
        if refusal is not None and (stands is None or stands(name, refusal)):
            return Opinion(refusal, warnings, annotations)
    return Opinion(None, warnings, annotations)
