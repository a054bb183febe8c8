"""Environment variables of containers, and the fields and keys that they come from."""

from __future__ import annotations

from typing import Final

from celadon.kube import fieldpath, name_rules
from celadon.kube.fieldpath import FieldPath
from celadon.kube.json_types import JsonObject
from celadon.kube.quantity import parse_amounts
from celadon.kube.validation import field_checks, format_checks
from celadon.kube.well_known_values import CONTAINER_LISTS

ENV_FIELDS: Final = (
    "metadata.name",
    "metadata.namespace",
    "metadata.uid",
    "spec.nodeName",
    "spec.serviceAccountName",
    "status.hostIP",
    "status.hostIPs",
    "status.podIP",
    "status.podIPs",
)
"""Fields of a pod that a variable can show, besides single labels and annotations."""

SUBSCRIPTED: Final = ("metadata.annotations", "metadata.labels")
"""Fields of which one member can be shown."""
OLD_NAMES: Final = {"spec.host": "spec.nodeName"}

POD_FIELDS: Final = frozenset(
    {
        *ENV_FIELDS,
        *SUBSCRIPTED,
        "spec.host",
        "spec.restartPolicy",
        "spec.schedulerName",
        "status.phase",
    }
)
"""What the downward API knows at all."""

RESOURCE_FIELDS: Final = (
    "limits.cpu",
    "limits.ephemeral-storage",
    "limits.memory",
    "requests.cpu",
    "requests.ephemeral-storage",
    "requests.memory",
)
HUGE_PAGE_FIELDS: Final = ("limits.hugepages-", "requests.hugepages-")
_SIZES: Final = ("1", *(f"1{s}" for s in ("k", "M", "G", "T", "P", "E")))
_BINARY_SIZES: Final = tuple(f"1{s}i" for s in ("K", "M", "G", "T", "P", "E"))
SIZE_DIVISORS: Final = (*_SIZES, *_BINARY_SIZES)
SOURCES: Final = (
    *("fieldRef", "resourceFieldRef", "configMapKeyRef", "secretKeyRef"),
    "fileKeyRef",
)
ONE_ONLY: Final = "may not have more than one field specified at a time"


def environment(path: FieldPath, container: JsonObject) -> field_checks.Errors:
    """Validate `env` and `envFrom` of a container."""
    # As `ValidateEnv` of `pkg/apis/core/validation`.
    for variable_path, variable in field_checks.items(container, "env", path):
        name = variable.get("name") or ""
        if name:
            yield from _variable_name(variable_path.child("name"), name)
        else:
            yield fieldpath.required(variable_path.child("name"))
        if variable.get("valueFrom") is not None:
            yield from _value_from(variable_path.child("valueFrom"), variable)
    for source_path, source in field_checks.items(container, "envFrom", path):
        yield from _env_from(source_path, path.child("envFrom"), source)


def _variable_name(path: FieldPath, name: str) -> field_checks.Errors:
    strict = format_checks.strict_environment_name(name)
    if not strict:
        return field_checks.NO_ERRORS
    free = field_checks.each(path, name, format_checks.environment_name(name))
    return field_checks.by_gate(
        field_checks.RELAXED_VARIABLES, free, field_checks.each(path, name, strict)
    )


def _env_from(path: FieldPath, whole: FieldPath, source: JsonObject) -> field_checks.Errors:
    # As `ValidateEnvFrom` of `pkg/apis/core/validation`.
    prefix = source.get("prefix") or ""
    if prefix:
        yield from _variable_name(path.child("prefix"), prefix)
    present = [kind for kind in ("configMapRef", "secretRef") if source.get(kind) is not None]
    for kind in present:
        name = source[kind].get("name") or ""
        name_path = path.child(kind, "name")
        yield from field_checks.required_name(name_path, name, name_rules.dns1123_subdomain)
    if not present:
        detail = "must specify one of: `configMapRef` or `secretRef`"
        yield fieldpath.invalid(whole, "", detail)
    elif len(present) > 1:
        yield fieldpath.invalid(whole, "", ONE_ONLY)


def _value_from(path: FieldPath, variable: JsonObject) -> field_checks.Errors:
    # As `validateEnvVarValueFrom` of `pkg/apis/core/validation`.
    source = variable["valueFrom"]
    sources = [kind for kind in SOURCES if source.get(kind) is not None]
    for text in sources:
        field_path = path.child(text)
        if text == "fieldRef":
            yield from field_selector(field_path, source[text], ENV_FIELDS)
        elif text == "resourceFieldRef":
            yield from resource_selector(field_path, source[text], in_volume=False)
        elif text == "fileKeyRef":
            yield from _file_key_selector(field_path, source[text])
        else:
            yield from _key_selector(field_path, source[text])
    if not sources:
        named = "must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef`"
        with_files = fieldpath.invalid(path, "", f"{named}, `secretKeyRef` or `fileKeyRef`")
        without = fieldpath.invalid(path, "", f"{named} or `secretKeyRef`")
        yield from field_checks.by_gate(field_checks.ENV_FILES, (with_files,), (without,))
    elif variable.get("value"):
        yield fieldpath.invalid(path, "", "may not be specified when `value` is not empty")
    elif len(sources) > 1:
        yield fieldpath.invalid(path, "", ONE_ONLY)


def _key_selector(path: FieldPath, value: JsonObject) -> field_checks.Errors:
    name, key = value.get("name") or "", value.get("key") or ""
    yield from field_checks.each(path.child("name"), name, name_rules.dns1123_subdomain(name))
    yield from field_checks.required_name(path.child("key"), key, format_checks.config_key)


def _file_key_selector(path: FieldPath, value: JsonObject) -> field_checks.Errors:
    # As `validateFileKeySelector` of `pkg/apis/core/validation`.
    key, volume, file = (value.get(item) or "" for item in ("key", "volumeName", "path"))
    yield from field_checks.required_name(path.child("key"), key, format_checks.environment_name)
    yield from field_checks.required_name(
        path.child("volumeName"), volume, name_rules.dns1123_label
    )
    if file:
        yield from no_backsteps(path.child("path"), file)
    else:
        yield fieldpath.required(path.child("path"))


def no_backsteps(path: FieldPath, value: str) -> field_checks.Errors:
    """Validate that there is no `..` among the steps of a path."""
    # As `validatePathNoBacksteps` of `pkg/apis/core/validation`.
    if ".." in value.split("/"):
        yield fieldpath.invalid(path, value, "must not contain '..'")


def descending_path(path: FieldPath, value: str) -> field_checks.Errors:
    """Validate a path that is relative, and never leads upwards."""
    # As `validateLocalDescendingPath` of `pkg/apis/core/validation`.
    if value.startswith("/"):
        yield fieldpath.invalid(path, value, "must be a relative path")
    yield from no_backsteps(path, value)


def local_path(path: FieldPath, value: str) -> field_checks.Errors:
    """Validate a descending path with a first part that is not reserved."""
    # As `ValidateLocalNonReservedPath` of `pkg/apis/core/validation`.
    yield from descending_path(path, value)
    if value.startswith("..") and not value.startswith("../"):
        yield fieldpath.invalid(path, value, "must not start with '..'")


def _reads_files(container: JsonObject) -> bool:
    return any(
        variable["valueFrom"].get("fileKeyRef") is not None
        for variable in container.get("env") or ()
        if variable.get("valueFrom") is not None
    )


def files_are_in_empty_dirs(path: FieldPath, spec: JsonObject) -> field_checks.Errors:
    """Validate the volumes of a pod's spec that variables come from: they are `emptyDir`s."""
    # As `validateFileKeyRefVolumes` of `pkg/apis/core/validation`.
    if not any(
        _reads_files(container) for field in CONTAINER_LISTS for container in spec.get(field) or ()
    ):
        return
    volumes = {volume.get("name") or "": volume for volume in spec.get("volumes") or ()}
    for container_path, container in field_checks.containers_of(path, spec):
        for variable_path, variable in field_checks.items(container, "env", container_path):
            source = (variable.get("valueFrom") or {}).get("fileKeyRef")
            if source is None:
                continue
            name = source.get("volumeName") or ""
            named = variable_path.child("valueFrom", "fileKeyRef", "volumeName")
            if name not in volumes:
                yield fieldpath.not_found(named, name)
            elif volumes[name].get("emptyDir") is None:
                detail = "referenced volume must be of type emptyDir"
                yield fieldpath.invalid(named, name, detail)


def field_selector(
    path: FieldPath, value: JsonObject, supported: tuple[str, ...]
) -> field_checks.Errors:
    """Validate `fieldRef`: a field of the pod, or one label or annotation of it."""
    # As `validateObjectFieldSelector` of `pkg/apis/core/validation`.
    field = value.get("fieldPath") or ""
    for member in ("apiVersion", "fieldPath"):
        if not value.get(member):
            yield fieldpath.required(path.child(member))
            return
    base, bracket, rest = field.partition("['")
    subscripted = bool(bracket) and rest.endswith("']") and bool(base)
    fault = ""
    if value["apiVersion"] != "v1":
        fault = f"unsupported pod version: {value['apiVersion']}"
    elif subscripted and base not in SUBSCRIPTED:
        fault = f"field label does not support subscript: {field}"
    elif not subscripted and field not in POD_FIELDS:
        fault = f"field label not supported: {field}"
    if fault:
        detail = f"error converting fieldPath: {fault}"
        yield fieldpath.invalid(path.child("fieldPath"), field, detail)
    elif subscripted:
        key = rest.removesuffix("']")
        yield from field_checks.qualified_name(path, key.lower() if base == SUBSCRIPTED[0] else key)
    else:
        text = OLD_NAMES.get(field, field)
        if text not in supported:
            yield fieldpath.not_supported(path.child("fieldPath"), text, sorted(supported))


def resource_selector(
    path: FieldPath, value: JsonObject, *, in_volume: bool
) -> field_checks.Errors:
    """Validate `resourceFieldRef`: what a container requests or is limited to."""
    # As `validateContainerResourceFieldSelector` of `pkg/apis/core/validation`.
    resource = value.get("resource") or ""
    if in_volume and not value.get("containerName"):
        yield fieldpath.required(path.child("containerName"))
    elif not resource:
        yield fieldpath.required(path.child("resource"))
    elif resource not in RESOURCE_FIELDS and not resource.startswith(HUGE_PAGE_FIELDS):
        yield fieldpath.not_supported(path.child("resource"), resource, RESOURCE_FIELDS)
    divisor = parse_amounts(value.get("divisor") or "0")
    if divisor.sign == 0:
        return
    allowed, text, kind = _divisors(resource)
    if allowed and str(divisor) not in allowed:
        detail = f"only divisor's values {text} are supported with the {kind} resource"
        yield fieldpath.invalid(path.child("divisor"), resource, detail)


def _divisors(resource: str) -> tuple[tuple[str, ...], str, str]:
    # As `validateContainerResourceDivisor` of `pkg/apis/core/validation`.
    if resource.endswith(".cpu"):
        return ("1m", "1"), "1m and 1", "cpu"
    sizes = ", ".join(SIZE_DIVISORS)
    if resource.startswith(HUGE_PAGE_FIELDS):
        return SIZE_DIVISORS, sizes, "hugepages"
    kinds = {"memory": "memory", "ephemeral-storage": "local ephemeral storage"}
    kind = kinds.get(resource.partition(".")[2], "")
    return (SIZE_DIVISORS if kind else ()), sizes, kind
