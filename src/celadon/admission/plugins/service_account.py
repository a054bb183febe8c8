"""ServiceAccount: refuses pods whose account does not exist, or does not allow their secrets.

As k8s.io/kubernetes `plugin/pkg/admission/serviceaccount`. What it fills in stands in
`celadon.kube.defaulting.plugin_defaults`; here is what it refuses.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from celadon.admission.cluster_lookups import World
from celadon.admission.plugins.plugin_interface import PODS, Behaviour, forbidden
from celadon.admission.plugins.pod_plugins import projections, secret_names, unaskable_name
from celadon.admission.request import Operation, Request
from celadon.kube import JsonObject, StatusError, defaulting, metadata, well_known_values
from celadon.kube.go import parse_bool


def _mutate(pod: JsonObject, request: Request, world: World) -> StatusError | None:
    if request.operation is not Operation.CREATE or request.subresource:
        return None
    if defaulting.MIRROR_POD in metadata.annotations(pod):
        return _mirror(pod, request)
    name = pod["spec"].get("serviceAccountName") or "default"
    return _missing(request, name) if _account(request, name, world) is None else None


def _validate(request: Request, world: World) -> StatusError | None:
    pod = request.object
    if pod is None:
        return None
    ephemeral = request.subresource == "ephemeralcontainers"
    if (request.operation is Operation.CREATE) == ephemeral:
        return None
    if defaulting.MIRROR_POD in metadata.annotations(pod) and not ephemeral:
        return _mirror(pod, request)
    name = pod["spec"].get("serviceAccountName")
    if not name:
        pod_name = f"{request.namespace}/{metadata.name(pod)}"
        return forbidden(request, f"no service account specified for pod {pod_name}")
    account = _account(request, name, world)
    if account is None:
        return _missing(request, name)
    if not parse_bool(metadata.annotations(account).get(well_known_values.MOUNTABLE_SECRETS, "")):
        return None
    complaints = _strange_ephemeral(account, pod) if ephemeral else _strange(account, pod)
    reason = next(complaints, None)
    return None if reason is None else forbidden(request, reason)


def _account(request: Request, name: str, world: World) -> JsonObject | None:
    return world.get(well_known_values.SERVICE_ACCOUNTS, request.namespace, name)


def _missing(request: Request, name: str) -> StatusError:
    reason = unaskable_name(name) or f'serviceaccount "{name}" not found'
    return forbidden(
        request, f"error looking up service account {request.namespace}/{name}: {reason}"
    )


def _mirror(pod: JsonObject, request: Request) -> StatusError | None:
    """Require that a pod which stands for one of a kubelet's files uses nothing of the API."""
    spec = pod["spec"]
    if spec.get("serviceAccountName"):
        return forbidden(request, "a mirror pod may not reference service accounts")
    if next(secret_names(spec), None) is not None:
        return forbidden(request, "a mirror pod may not reference secrets")
    if any(source.get("serviceAccountToken") is not None for source in projections(spec)):
        reason = "a mirror pod may not use ServiceAccountToken volume projections"
        return forbidden(request, reason)
    return None


def _strange(account: JsonObject, pod: JsonObject) -> Iterator[str]:
    """Yield the secrets that the account does not name, in the order in which they are found."""
    spec = pod["spec"]
    names = _names(account.get("secrets"))
    refused = f"is not allowed because service account {metadata.name(account)} does not reference"
    for volume in spec.get("volumes") or ():
        secret = (volume.get("secret") or {}).get("secretName", "")
        if volume.get("secret") is not None and secret not in names:
            yield f'volume with secret.secretName="{secret}" {refused} that secret'
    for field, word in (("initContainers", "init container"), ("containers", "container")):
        for container in spec.get(field) or ():
            yield from _strange_in(container, word, names, refused)
    pullable = _names(account.get("imagePullSecrets"))
    for i, reference in enumerate(spec.get("imagePullSecrets") or ()):
        name = reference.get("name", "")
        if name not in pullable:
            yield f'imagePullSecrets[{i}].name="{name}" {refused} that imagePullSecret'


def _strange_ephemeral(account: JsonObject, pod: JsonObject) -> Iterator[str]:
    refused = f"is not allowed because service account {metadata.name(account)} does not reference"
    for container in pod["spec"].get("ephemeralContainers") or ():
        yield from _strange_in(
            container, "ephemeral container", _names(account.get("secrets")), refused
        )


def _strange_in(container: JsonObject, word: str, secrets: set[str], refused: str) -> Iterator[str]:
    name = container.get("name", "")
    for variable in container.get("env") or ():
        reference = (variable.get("valueFrom") or {}).get("secretKeyRef")
        secret = (reference or {}).get("name", "")
        if reference is not None and secret not in secrets:
            yield (
                f"{word} {name} with envVar {variable.get('name', '')} referencing "
                f'secret.secretName="{secret}" {refused} that secret'
            )
    for source in container.get("envFrom") or ():
        reference = source.get("secretRef")
        secret = (reference or {}).get("name", "")
        if reference is not None and secret not in secrets:
            yield (
                f"{word} {name} with envFrom referencing "
                f'secret.secretName="{secret}" {refused} that secret'
            )


def _names(references: Iterable[JsonObject] | None) -> set[str]:
    return {reference.get("name", "") for reference in references or ()}


SERVICE_ACCOUNT: Final = Behaviour(
    mutate=_mutate,
    validate=_validate,
    resources=PODS,
    subresources=frozenset({"", "ephemeralcontainers"}),
)
