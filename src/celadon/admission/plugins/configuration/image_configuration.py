"""The configuration of ImagePolicyWebhook, which has neither a kind nor a version.

As k8s.io/kubernetes `plugin/pkg/admission/imagepolicy/config.go`: -1 switches something off, 0 is
the default.
"""

from __future__ import annotations

from typing import Final

from celadon.admission.plugins.configuration.configuration_errors import BadConfiguration, text_in
from celadon.admission.plugins.plugin_settings import ImagePolicySettings
from celadon.cel.extend import Duration
from celadon.cel.value_functions import go_duration
from celadon.kube import JsonObject

FIELD: Final = "imagePolicy"
SECOND: Final = 1_000_000_000
"""In nanoseconds."""
_OFF: Final = -1
_MINUTES: Final = 60 * SECOND


def image_policy(document: object) -> ImagePolicySettings:
    """Raises BadConfiguration."""
    given = document.get(FIELD) if isinstance(document, dict) else None
    if not isinstance(given, dict):
        raise BadConfiguration(f"no object `{FIELD}`")
    path = text_in(given, "kubeConfigFile")
    if not path:
        raise BadConfiguration("kubeConfigFile: it is needed")
    allowed = given.get("defaultAllow") or False
    if not isinstance(allowed, bool):
        raise BadConfiguration("defaultAllow: true or false is expected")
    backoff = _seconds(given, "retryBackoff", SECOND // 1000, 1, 5 * _MINUTES, SECOND // 2)
    allow = _seconds(given, "allowTTL", SECOND, SECOND, 30 * _MINUTES, 5 * _MINUTES)
    deny = _seconds(given, "denyTTL", SECOND, SECOND, 30 * _MINUTES, 30 * SECOND)
    return ImagePolicySettings(path, allow, deny, backoff, allowed)


def _seconds(given: JsonObject, name: str, unit: int, least: int, most: int, usual: int) -> float:
    """All but the result in nanoseconds."""
    value = given.get(name) or 0
    if not isinstance(value, int) or isinstance(value, bool):
        raise BadConfiguration(f"{name}: a whole number is expected")
    if value == _OFF:
        return 0.0
    if value == 0:
        return usual / SECOND
    if not least < value * unit <= most:
        low, high, got = (go_duration(Duration(one)) for one in (least, most, value * unit))
        raise BadConfiguration(f"valid value is between {low} and {high}, got {got}")
    return value * unit / SECOND
