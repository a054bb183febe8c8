"""The configuration of EventRateLimit.

As k8s.io/kubernetes `plugin/pkg/admission/eventratelimit/apis/eventratelimit`, the texts of its
`validation` among it.
"""

from __future__ import annotations

from typing import Final

from celadon.admission.plugins.configuration.configuration_errors import (
    objects_in,
    refuse,
    require_kind,
)
from celadon.admission.plugins.plugin_settings import EventLimit
from celadon.kube import FieldError, FieldPath, JsonObject, fieldpath

VERSIONS: Final = ("eventratelimit.admission.k8s.io/v1alpha1",)
SERVER: Final = "Server"
TYPES: Final = ("Namespace", SERVER, "SourceAndObject", "User")
CACHE_SIZE: Final = 4096
"""Keys whose buckets are kept where the configuration does not say."""


def event_limits(document: object) -> tuple[EventLimit, ...]:
    """At least one. Raises BadConfiguration."""
    given = require_kind(document, "Configuration", VERSIONS)
    limits, path = objects_in(given, "limits"), FieldPath("limits")
    errors: list[FieldError] = []
    if not limits:
        errors.append(fieldpath.invalid(path, [], "must not be empty"))
    found = [_limit(one, path.index(place), errors) for place, one in enumerate(limits)]
    refuse(errors)
    return tuple(found)


def _limit(given: JsonObject, path: FieldPath, errors: list[FieldError]) -> EventLimit:
    type_ = str(given.get("type") or "")
    if type_ not in TYPES:
        errors.append(fieldpath.not_supported(path.child("type"), type_, TYPES))
    numbers = {name: _number(given, name) for name in ("burst", "qps", "cacheSize")}
    for name in ("burst", "qps"):
        if numbers[name] <= 0:
            errors.append(fieldpath.invalid(path.child(name), numbers[name], "must be positive"))
    kept = numbers["cacheSize"]
    if type_ != SERVER and kept < 0:
        errors.append(fieldpath.invalid(path.child("cacheSize"), kept, "must not be negative"))
    return EventLimit(type_, numbers["qps"], numbers["burst"], kept or CACHE_SIZE)


def _number(given: JsonObject, name: str) -> int:
    value = given.get(name)
    return value if isinstance(value, int) and not isinstance(value, bool) else 0
