"""What an operator tells the plugins beside their names; as it stands here, what they do untold.

Decoded from files in `celadon.admission.plugins.configuration`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from celadon.admission.plugins.pod_security import SecuritySettings
from celadon.admission.plugins.quota import LimitedResource
from celadon.records import dataclass, field

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
        """Return them by the names of plugins, for those that have one."""
        given = {
            "MutatingAdmissionPolicy": self.mutating_policies,
            "MutatingAdmissionWebhook": self.mutating_webhooks.static_folder,
            "ValidatingAdmissionPolicy": self.validating_policies,
            "ValidatingAdmissionWebhook": self.validating_webhooks.static_folder,
        }
        return {name: folder for name, folder in given.items() if folder}

    @property
    def configured(self) -> frozenset[str]:
        """Names of the plugins that cannot run without a configuration, and have it."""
        given = {EVENT_RATE_LIMIT: self.event_limits, IMAGE_POLICY: self.image_policy}
        return frozenset(name for name, told in given.items() if told)
