"""What an operator tells the plugins beside their names; as it stands here, what they do untold.

Decoded from files in `celadon.admission.plugins.configuration`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

from celadon.admission.plugins.pod_security.security_settings import SecuritySettings
from celadon.admission.plugins.quotas.limited_resources import LimitedResource

EVENT_RATE_LIMIT: Final = "EventRateLimit"
"""Its name, which the server asks for too: events are counted where time is known."""


@dataclass(frozen=True, slots=True)
class EventLimit:
    """Of EventRateLimit: `qps` events a second, and `burst` at once, for each key of a `type`; the
    buckets of the last `cache_size` keys are kept."""

    type: str
    qps: int
    burst: int
    cache_size: int


@dataclass(frozen=True, slots=True)
class PluginSettings:
    """Of all plugins."""

    security: SecuritySettings = field(default_factory=SecuritySettings)
    limited_resources: tuple[LimitedResource, ...] = ()
    event_limits: tuple[EventLimit, ...] = ()
    mutating_kubeconfig: str = ""
    validating_kubeconfig: str = ""
    """The files with the credentials for webhooks; empty for none."""

    @property
    def kubeconfigs(self) -> tuple[str, str]:
        """For validating webhooks and for mutating ones."""
        return self.validating_kubeconfig, self.mutating_kubeconfig

    @property
    def configured(self) -> frozenset[str]:
        """Names of the plugins that cannot run without a configuration, and have it."""
        return frozenset({EVENT_RATE_LIMIT} if self.event_limits else ())
