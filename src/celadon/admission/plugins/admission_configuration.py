"""Reads the configuration file of the admission plugins (`--admission-control-config-file`).

The last part of this module finds what the file says of each plugin; before it, each plugin that
has a configuration has a section that says what may stand there. What comes out, `PluginSettings`,
is what the plugins themselves go by.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Final

from celadon.admission.plugins import plugin_chain, pod_security_standards
from celadon.admission.plugins.pod_security import SecuritySettings
from celadon.admission.plugins.resource_quota import LimitedResource
from celadon.admission.registration.registration_strategies import GATE
from celadon.cel.extend import Duration
from celadon.cel.value_functions import go_duration
from celadon.kube import FieldError, FieldPath, GroupResource, JsonObject, fieldpath, name_rules
from celadon.kube.json_types import JsonDict

__all__ = ["BadConfiguration", "plugin_settings"]


# --- Configuration errors ----------------------------------------------------
#
# How a configuration is refused: the server does not start with it.


class BadConfiguration(ValueError):
    """Says what is wrong, in one line; field errors are in the words of Kubernetes."""


def require_kind(document: object, kind: str, api_versions: Sequence[str]) -> JsonObject:
    """Return the document if it is an object of this kind. Raises BadConfiguration for everything
    else."""
    if not isinstance(document, dict):
        raise BadConfiguration(f"no object of kind {kind}")
    type_meta = document.get("kind"), document.get("apiVersion")
    if type_meta[0] != kind or type_meta[1] not in api_versions:
        expected = f"{kind} of {' or '.join(api_versions)}"
        raise BadConfiguration(f"{expected} is expected, not {type_meta[0]} of {type_meta[1]}")
    return document


def refuse(errors: Sequence[FieldError]) -> None:
    """Raise BadConfiguration if there are any errors."""
    if errors:
        raise BadConfiguration(fieldpath.aggregate(errors))


def objects_in(document: JsonObject, field: str) -> Sequence[JsonObject]:
    """Return a list of objects that may be missing. Raises BadConfiguration for anything else."""
    items = document.get(field) or ()
    if not isinstance(items, list | tuple) or not all(isinstance(item, dict) for item in items):
        raise BadConfiguration(f"{field}: a list of objects is expected")
    return items


def texts_in(document: JsonObject, field: str) -> tuple[str, ...]:
    """Return a list of texts that may be missing. Raises BadConfiguration for anything else."""
    texts = document.get(field) or ()
    if not isinstance(texts, list | tuple) or not all(isinstance(text, str) for text in texts):
        raise BadConfiguration(f"{field}: a list of texts is expected")
    return tuple(texts)


def text_in(document: JsonObject, field: str) -> str:
    """Return a text that may be missing. Raises BadConfiguration for anything else."""
    result = document.get(field)
    if result is not None and not isinstance(result, str):
        raise BadConfiguration(f"{field}: a text is expected")
    return result or ""


def refuse_unknown(document: JsonObject, allowed: Sequence[str]) -> None:
    """Raise BadConfiguration for fields that are not known, as strict decoding does."""
    fields = {"apiVersion", "kind", *allowed}
    errors = [f'unknown field "{field}"' for field in document if field not in fields]
    if errors:
        raise BadConfiguration(f"strict decoding error: {', '.join(errors)}")


# --- Event configuration -----------------------------------------------------
#
# The configuration of EventRateLimit.
#
# As k8s.io/kubernetes `plugin/pkg/admission/eventratelimit/apis/eventratelimit`, the texts of
# its `validation` among it.

EVENT_VERSIONS: Final = ("eventratelimit.admission.k8s.io/v1alpha1",)
SERVER: Final = "Server"
TYPES: Final = ("Namespace", SERVER, "SourceAndObject", "User")
CACHE_SIZE: Final = 4096
"""Keys whose buckets are kept where the configuration does not say."""


def event_limits(document: object) -> tuple[plugin_chain.EventLimit, ...]:
    """Read the limits, of which there has to be one. Raises BadConfiguration."""
    value = require_kind(document, "Configuration", EVENT_VERSIONS)
    limits, path = objects_in(value, "limits"), FieldPath("limits")
    errors: list[FieldError] = []
    if not limits:
        errors.append(fieldpath.invalid(path, [], "must not be empty"))
    result = [_limit(limit, path.index(place), errors) for place, limit in enumerate(limits)]
    refuse(errors)
    return tuple(result)


def _limit(value: JsonObject, path: FieldPath, errors: list[FieldError]) -> plugin_chain.EventLimit:
    type_ = str(value.get("type") or "")
    if type_ not in TYPES:
        errors.append(fieldpath.not_supported(path.child("type"), type_, TYPES))
    numbers = {name: _number(value, name) for name in ("burst", "qps", "cacheSize")}
    for name in ("burst", "qps"):
        if numbers[name] <= 0:
            errors.append(fieldpath.invalid(path.child(name), numbers[name], "must be positive"))
    cache_size = numbers["cacheSize"]
    if type_ != SERVER and cache_size < 0:
        errors.append(
            fieldpath.invalid(path.child("cacheSize"), cache_size, "must not be negative")
        )
    return plugin_chain.EventLimit(
        type_, numbers["qps"], numbers["burst"], cache_size or CACHE_SIZE
    )


def _number(data: JsonObject, name: str) -> int:
    value = data.get(name)
    return value if isinstance(value, int) and not isinstance(value, bool) else 0


# --- Folder configuration ----------------------------------------------------
#
# ValidatingAdmissionPolicyConfiguration and MutatingAdmissionPolicyConfiguration: the folder of
# static policies.
#
# As k8s.io/apiserver `pkg/admission/plugin/policy/config`, which decodes strictly; what is
# asked of a folder is in its `pkg/admission/plugin/manifest/validation.go`.

VERSION: Final = "apiserver.config.k8s.io/v1"
KINDS: Final = ("ValidatingAdmissionPolicyConfiguration", "MutatingAdmissionPolicyConfiguration")
STATIC_FOLDER: Final = "staticManifestsDir"

FolderProblem = Callable[[str], str]
"""Why a path that is absolute is that of no folder; empty if it is."""


def validating_folder(document: object) -> str:
    """Return the folder that a ValidatingAdmissionPolicyConfiguration names, as it was given.
    Raises BadConfiguration."""
    return _folder(document, KINDS[0])


def mutating_folder(document: object) -> str:
    """Return the folder of a MutatingAdmissionPolicyConfiguration."""
    return _folder(document, KINDS[1])


def check_folder(folder: str, *, gated: bool, problem: FolderProblem) -> None:
    """Check that static manifests may be in a folder; `gated` is whether the feature gate is on.
    Raises BadConfiguration."""
    path = fieldpath.ROOT.child(STATIC_FOLDER)
    if not gated:
        reason = f"{STATIC_FOLDER} requires the {GATE} feature gate to be enabled"
        refuse([fieldpath.forbidden(path, reason)])
    if not folder.startswith("/"):
        refuse([fieldpath.invalid(path, folder, "must be an absolute file path")])
    reason = problem(folder)
    if reason:
        refuse([fieldpath.invalid(path, folder, reason)])


def _folder(document: object, kind: str) -> str:
    result = document.get("kind") if isinstance(document, dict) else None
    if result in KINDS and result != kind:
        raise BadConfiguration(f"unexpected type: *policyconfig.{result}")
    value = require_kind(document, kind, (VERSION,))
    refuse_unknown(value, (STATIC_FOLDER,))
    return text_in(value, STATIC_FOLDER)


# --- Image configuration -----------------------------------------------------
#
# The configuration of ImagePolicyWebhook, which has neither a kind nor a version.
#
# As k8s.io/kubernetes `plugin/pkg/admission/imagepolicy/config.go`: -1 switches something off,
# 0 is the default.

FIELD: Final = "imagePolicy"
SECOND: Final = 1_000_000_000
"""In nanoseconds."""
_OFF: Final = -1
_MINUTES: Final = 60 * SECOND


def image_policy(document: object) -> plugin_chain.ImagePolicySettings:
    """Read the settings of ImagePolicyWebhook. Raises BadConfiguration."""
    value = document.get(FIELD) if isinstance(document, dict) else None
    if not isinstance(value, dict):
        raise BadConfiguration(f"no object `{FIELD}`")
    path = text_in(value, "kubeConfigFile")
    if not path:
        raise BadConfiguration("kubeConfigFile: it is needed")
    allowed = value.get("defaultAllow") or False
    if not isinstance(allowed, bool):
        raise BadConfiguration("defaultAllow: true or false is expected")
    backoff = _seconds(value, "retryBackoff", SECOND // 1000, 1, 5 * _MINUTES, SECOND // 2)
    allow = _seconds(value, "allowTTL", SECOND, SECOND, 30 * _MINUTES, 5 * _MINUTES)
    deny = _seconds(value, "denyTTL", SECOND, SECOND, 30 * _MINUTES, 30 * SECOND)
    return plugin_chain.ImagePolicySettings(path, allow, deny, backoff, allowed)


def _seconds(data: JsonObject, name: str, unit: int, least: int, most: int, usual: int) -> float:
    """Read a duration whose number is in units; all but the result are nanoseconds. Raises
    BadConfiguration."""
    value = data.get(name) or 0
    if not isinstance(value, int) or isinstance(value, bool):
        raise BadConfiguration(f"{name}: a whole number is expected")
    if value == _OFF:
        return 0.0
    if value == 0:
        return usual / SECOND
    if not least < value * unit <= most:
        low, high, got = (go_duration(Duration(number)) for number in (least, most, value * unit))
        raise BadConfiguration(f"valid value is between {low} and {high}, got {got}")
    return value * unit / SECOND


# --- Quota configuration -----------------------------------------------------
#
# ResourceQuotaConfiguration: what nobody may use unless a quota allows for it.
#
# As k8s.io/apiserver `pkg/admission/plugin/resourcequota/apis/resourcequota`.

QUOTA_VERSIONS: Final = (
    "apiserver.config.k8s.io/v1",
    *(f"resourcequota.admission.k8s.io/{version}" for version in ("v1beta1", "v1alpha1")),
)
QUOTA_KINDS: Final = ("ResourceQuotaConfiguration", "Configuration")
"""The second is its name in the older versions."""


def limited_resources(document: object) -> tuple[LimitedResource, ...]:
    """Read the resources that ResourceQuota limits. Raises BadConfiguration."""
    is_old = isinstance(document, dict) and document.get("apiVersion") in QUOTA_VERSIONS[1:]
    value = require_kind(document, QUOTA_KINDS[is_old], QUOTA_VERSIONS)
    result, errors = [], []
    for place, limited in enumerate(objects_in(value, "limitedResources")):
        resource = str(limited.get("resource") or "")
        if not resource:
            path = FieldPath("limitedResources").index(place).child("resource")
            errors.append(fieldpath.required(path, ""))
        result.append(
            LimitedResource(
                GroupResource(str(limited.get("apiGroup") or ""), resource),
                texts_in(limited, "matchContains"),
                tuple(objects_in(limited, "matchScopes")),
            )
        )
    refuse(errors)
    return tuple(result)


# --- Security configuration --------------------------------------------------
#
# PodSecurityConfiguration: defaults and exemptions.
#
# As k8s.io/pod-security-admission `admission/api`; the texts are those of its `validation`.

GROUP: Final = "pod-security.admission.config.k8s.io"
SECURITY_VERSIONS: Final = tuple(f"{GROUP}/{version}" for version in ("v1", "v1beta1", "v1alpha1"))
_NameRule = Callable[[str], list[str]]


def security_settings(document: object) -> SecuritySettings:
    """Read the settings of PodSecurity. Raises BadConfiguration."""
    value = require_kind(document, "PodSecurityConfiguration", SECURITY_VERSIONS)
    defaults, exemptions = _part(value, "defaults"), _part(value, "exemptions")
    errors: list[FieldError] = []
    result = {mode: _level(defaults, mode, errors) for mode in ("enforce", "warn", "audit")}
    namespaces = _names(exemptions, "namespaces", name_rules.dns1123_label, errors)
    classes = _names(exemptions, "runtimeClasses", name_rules.dns1123_subdomain, errors)
    users = _names(exemptions, "usernames", None, errors)
    refuse(errors)
    policy = pod_security_standards.SecurityPolicy(
        result["enforce"], result["audit"], result["warn"]
    )
    return SecuritySettings(policy, users, classes, namespaces)


def _part(document: JsonObject, name: str) -> JsonObject:
    part = document.get(name) or {}
    if not isinstance(part, dict):
        raise BadConfiguration(f"{name}: an object is expected")
    return part


def _level(
    defaults: JsonObject, mode: str, errors: list[FieldError]
) -> pod_security_standards.LevelVersion:
    level = str(defaults.get(mode) or pod_security_standards.PRIVILEGED)
    version = str(defaults.get(f"{mode}-version") or "latest")
    path = FieldPath("defaults")
    for name, value, reason in (
        (mode, level, pod_security_standards.level_error(level)),
        (f"{mode}-version", version, pod_security_standards.version_error(version)),
    ):
        if reason:
            errors.append(fieldpath.invalid(path.child(name), value, reason))
    return pod_security_standards.LevelVersion(level, pod_security_standards.minor_of(version))


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


# --- Webhook configuration ---------------------------------------------------
#
# WebhookAdmissionConfiguration: the kubeconfig that has the credentials for webhooks, and the
# folder of static configurations.
#
# As k8s.io/apiserver `pkg/admission/plugin/webhook/config`, which decodes strictly.

WEBHOOK_KINDS: Final = {
    "apiserver.config.k8s.io/v1": "WebhookAdmissionConfiguration",
    "apiserver.config.k8s.io/v1alpha1": "WebhookAdmission",
}
KUBECONFIG: Final = "kubeConfigFile"


def webhook_settings(document: object) -> plugin_chain.WebhookSettings:
    """Read the settings of a plugin that calls webhooks. The folder stays as it was given. Raises
    BadConfiguration."""
    version = document.get("apiVersion") if isinstance(document, dict) else None
    kind = WEBHOOK_KINDS.get(str(version), "WebhookAdmissionConfiguration")
    value = require_kind(document, kind, tuple(WEBHOOK_KINDS))
    refuse_unknown(value, (KUBECONFIG, STATIC_FOLDER))
    path = text_in(value, KUBECONFIG)
    if path and not path.startswith("/"):
        field_path = fieldpath.ROOT.child(KUBECONFIG)
        refuse([fieldpath.invalid(field_path, path, "must be an absolute file path")])
    return plugin_chain.WebhookSettings(path, text_in(value, STATIC_FOLDER))


# --- Admission configuration -------------------------------------------------
#
# AdmissionConfiguration: which part of a file, or which other file, is for which plugin.
#
# As k8s.io/apiserver `pkg/admission/config.go`: a plugin's part stands in its entry or in a
# file that the entry names; of several entries for a plugin the first counts, and plugins that
# nothing can be told to are passed over.

VERSIONS: Final = ("apiserver.config.k8s.io/v1", "apiserver.k8s.io/v1alpha1")

_READERS: Final[Mapping[str, tuple[str, Callable[[object], object]]]] = {
    "PodSecurity": ("security", security_settings),
    "ResourceQuota": ("limited_resources", limited_resources),
    plugin_chain.EVENT_RATE_LIMIT: ("event_limits", event_limits),
    plugin_chain.IMAGE_POLICY: ("image_policy", image_policy),
    "MutatingAdmissionPolicy": ("mutating_policies", mutating_folder),
    "MutatingAdmissionWebhook": ("mutating_webhooks", webhook_settings),
    "ValidatingAdmissionPolicy": ("validating_policies", validating_folder),
    "ValidatingAdmissionWebhook": ("validating_webhooks", webhook_settings),
}
"""By the names of plugins: the field of PluginSettings, and what makes it of a document."""


def plugin_settings(
    document: object,
    read: Callable[[str], object],
    folder_problem: FolderProblem = lambda _: "",
    *,
    gated: bool = False,
) -> plugin_chain.PluginSettings:
    """`read` gives the document in a file that is named in this one; `gated` is whether there may
    be folders of static manifests. Raises BadConfiguration, and what `read` raises."""
    value = require_kind(document, "AdmissionConfiguration", VERSIONS)
    result: JsonDict = {}
    for plugin in objects_in(value, "plugins"):
        name = str(plugin.get("name"))
        if name not in _READERS or _READERS[name][0] in result:
            continue
        field, reader = _READERS[name]
        with _configuration_of(name, plugin.get("path")):
            result[field] = reader(_admission_configuration_part(plugin, read))
    settings = plugin_chain.PluginSettings(**result)
    for name, folder in settings.static_folders.items():
        with _configuration_of(name):
            check_folder(folder, gated=gated, problem=folder_problem)
    return settings


@contextmanager
def _configuration_of(name: str, file: object = None) -> Iterator[None]:
    """Say of a bad configuration inside which plugin's it is, and in which file it stands, if in
    one of its own."""
    try:
        yield
    except BadConfiguration as error:
        place = f" in `{file}`" if file else ""
        raise BadConfiguration(f"configuration of {name}{place}: {error}") from None


def _admission_configuration_part(plugin: JsonObject, read: Callable[[str], object]) -> object:
    path = plugin.get("path")
    if isinstance(path, str) and path:
        return read(path)
    return plugin.get("configuration")
