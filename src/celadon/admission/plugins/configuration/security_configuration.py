"""PodSecurityConfiguration: defaults and exemptions.

As k8s.io/pod-security-admission `admission/api`; the texts are those of its `validation`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from celadon.admission.plugins.configuration.configuration_errors import (
    BadConfiguration,
    refuse,
    require_kind,
    texts_in,
)
from celadon.admission.plugins.pod_security.security_levels import (
    PRIVILEGED,
    LevelVersion,
    SecurityPolicy,
    level_error,
    minor_of,
    version_error,
)
from celadon.admission.plugins.pod_security.security_settings import SecuritySettings
from celadon.kube import FieldError, FieldPath, JsonObject, fieldpath, name_rules

GROUP: Final = "pod-security.admission.config.k8s.io"
VERSIONS: Final = tuple(f"{GROUP}/{version}" for version in ("v1", "v1beta1", "v1alpha1"))
_NameRule = Callable[[str], list[str]]


def security_settings(document: object) -> SecuritySettings:
    """Raises BadConfiguration."""
    given = require_kind(document, "PodSecurityConfiguration", VERSIONS)
    defaults, exemptions = _part(given, "defaults"), _part(given, "exemptions")
    errors: list[FieldError] = []
    found = {mode: _level(defaults, mode, errors) for mode in ("enforce", "warn", "audit")}
    namespaces = _names(exemptions, "namespaces", name_rules.dns1123_label, errors)
    classes = _names(exemptions, "runtimeClasses", name_rules.dns1123_subdomain, errors)
    users = _names(exemptions, "usernames", None, errors)
    refuse(errors)
    policy = SecurityPolicy(found["enforce"], found["audit"], found["warn"])
    return SecuritySettings(policy, users, classes, namespaces)


def _part(document: JsonObject, name: str) -> JsonObject:
    found = document.get(name) or {}
    if not isinstance(found, dict):
        raise BadConfiguration(f"{name}: an object is expected")
    return found


def _level(defaults: JsonObject, mode: str, errors: list[FieldError]) -> LevelVersion:
    level = str(defaults.get(mode) or PRIVILEGED)
    version = str(defaults.get(f"{mode}-version") or "latest")
    path = FieldPath("defaults")
    for name, value, why in (
        (mode, level, level_error(level)),
        (f"{mode}-version", version, version_error(version)),
    ):
        if why:
            errors.append(fieldpath.invalid(path.child(name), value, why))
    return LevelVersion(level, minor_of(version))


def _names(
    exemptions: JsonObject, field: str, rule: _NameRule | None, errors: list[FieldError]
) -> frozenset[str]:
    seen: set[str] = set()
    for place, name in enumerate(texts_in(exemptions, field)):
        path = FieldPath("exemptions", field).index(place)
        wrong = rule(name) if rule is not None else []
        if rule is None and not name:
            errors.append(fieldpath.required(path, ""))
        elif wrong:
            errors.append(fieldpath.invalid(path, name, ", ".join(wrong)))
        elif name in seen:
            errors.append(fieldpath.duplicate(path, name))
        seen.add(name)
    return frozenset(seen)
