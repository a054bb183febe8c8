"""Signers of certificates: their names, those of their bundles, and what may be asked of them; and
what projected volumes have of them.

As k8s.io/kubernetes `pkg/apis/core/validation`.
"""

from __future__ import annotations

from typing import Final

from celadon.kube import fieldpath, name_rules
from celadon.kube.fieldpath import FieldPath
from celadon.kube.go.go_text import quote
from celadon.kube.json_types import JsonObject
from celadon.kube.validation.field_checks import Errors, Messages, each
from celadon.kube.validation.format_checks import printed_selector, selector
from celadon.kube.validation.object_meta import ANNOTATIONS_BYTES
from celadon.kube.validation.pods.env_vars import local_path
from celadon.kube.validation.pods.internal_types import internal_value

LONGEST_DOMAIN: Final = 253
LONGEST_SIGNER: Final = LONGEST_DOMAIN + 1 + (253 + 63 + 1)
"""A domain, a slash, and a label and a subdomain with a dot between them."""

SHORTEST: Final = 3600
LONGEST: Final = 91 * 24 * 3600
LONGEST_OF_KUBERNETES: Final = 24 * 3600
"""How long a certificate of a pod may be asked for, in seconds."""


def signer_name(path: FieldPath, name: str) -> Errors:
    """Validate the name of a signer, a domain and a path: `example.com/signer`."""
    # As `ValidateSignerName` of `pkg/apis/core/validation`.
    if not name:
        yield fieldpath.required(path)
        return
    segments = name.split("/")
    if len(segments) != 2:
        detail = "must be a fully qualified domain and path of the form 'example.com/signer-name'"
        yield fieldpath.invalid(path, name, detail)
        return
    domain, rest = segments
    if len(domain.encode()) > LONGEST_DOMAIN:
        yield fieldpath.too_long(path, LONGEST_DOMAIN)
    labels = domain.split(".")
    yield from _first_bad(path, domain, labels, name_rules.dns1123_label)
    if len(labels) < 2:
        detail = "should be a domain with at least two segments separated by dots"
        yield fieldpath.invalid(path, domain, detail)
    yield from _first_bad(path, rest, rest.split("."), name_rules.dns1123_subdomain)
    if len(name.encode()) > LONGEST_SIGNER:
        yield fieldpath.too_long(path, LONGEST_SIGNER)


def _first_bad(path: FieldPath, whole: str, labels: list[str], rule: Messages) -> Errors:
    """Yield what is wrong with the first bad label."""
    for label in labels:
        complaints = rule(label)
        for detail in complaints:
            yield fieldpath.invalid(path, whole, f"validating label {quote(label)}: {detail}")
        if complaints:
            return


def bundle_name(name: str, signer: str) -> list[str]:
    """Return what is wrong with the name of a ClusterTrustBundle; an empty `signer` means that it
    is of none in particular."""
    # As `ValidateClusterTrustBundleName` of `pkg/apis/core/validation`.
    if not signer:
        if ":" in name:
            return ['ClusterTrustBundle without signer name must not have ":" in its name']
        return name_rules.dns1123_subdomain(name)
    prefix = f"{signer.replace('/', ':')}:"
    if not name.startswith(prefix):
        return [f"ClusterTrustBundle for signerName {signer} must be named with prefix {prefix}"]
    return name_rules.dns1123_subdomain(name.removeprefix(prefix))


def is_of_kubernetes(signer: str) -> bool:
    """Return whether a signer is one of Kubernetes' own."""
    return f".{signer.partition('/')[0]}".endswith(".kubernetes.io")


def user_annotations(path: FieldPath, annotations: JsonObject | None) -> Errors:
    """Yield what is wrong with what a pod says to its signer."""
    # As `ValidateUserAnnotations` of `pkg/apis/core/validation`.
    items = sorted((annotations or {}).items())
    for key, _ in items:
        name = key.lower()
        faults = name_rules.qualified_name(name) if name else ()
        if not name:
            yield fieldpath.required(path)
        elif faults:
            yield from each(path, name, faults)
        elif "/" not in name:
            detail = 'must be a domain-prefixed key (such as "acme.io/foo")'
            yield fieldpath.invalid(path, name, detail)
    if sum(len(text.encode()) for pair in items for text in pair) > ANNOTATIONS_BYTES:
        yield fieldpath.too_long(path, ANNOTATIONS_BYTES)


# --- Certificates in volumes -------------------------------------------------
#
# Files in projected volumes: bundles of trust anchors, and certificates of the pod's own.
#
# As k8s.io/kubernetes `pkg/apis/core/validation`, `validateProjectionSources`.

KEY_TYPES: Final = ("RSA3072", "RSA4096", "ECDSAP256", "ECDSAP384", "ECDSAP521", "ED25519")
PATHS: Final = ("credentialBundlePath", "keyPath", "certificateChainPath")


def bundle_projection(
    path: FieldPath, whole: FieldPath, value: JsonObject, taken: set[str]
) -> Errors:
    """Yield what is wrong with a bundle; `whole` is the path of the volume, whose files have
    `taken` names."""
    name, signer = value.get("name"), value.get("signerName")
    if name is not None and signer is not None:
        printed = internal_value(value, "core.v1.ClusterTrustBundleProjection")
        yield fieldpath.invalid(path, printed, "only one of name and signerName may be used")
    elif name is not None:
        yield from _named(path, name, value)
    elif signer is not None:
        signer_name_path = path.child("signerName")
        if not signer:
            yield fieldpath.required(signer_name_path, "must be a valid signer name")
        yield from signer_name(signer_name_path, signer)
        yield from selector(path.child("labelSelector"), value.get("labelSelector"))
    else:
        yield fieldpath.required(path, "either name or signerName must be specified")
    file, signer_name_path = value.get("path") or "", path.child("path")
    if not file:
        yield fieldpath.required(signer_name_path)
    yield from _file(signer_name_path, whole, file, taken)


def _named(path: FieldPath, name: str, value: JsonObject) -> Errors:
    name_path = path.child("name")
    if not name:
        yield fieldpath.required(name_path, "must be a valid object name")
    for detail in bundle_name(name, name.rpartition(":")[0].replace(":", "/")):
        yield fieldpath.invalid(name_path, name, f"not a valid clustertrustbundlename: {detail}")
    chosen = value.get("labelSelector")
    if chosen is not None:
        detail = "labelSelector must be unset if name is specified"
        yield fieldpath.invalid(path.child("labelSelector"), printed_selector(chosen), detail)


def certificate_projection(
    path: FieldPath, whole: FieldPath, value: JsonObject, taken: set[str]
) -> Errors:
    """Yield what is wrong with a certificate that a kubelet asks for."""
    signer, kind = value.get("signerName") or "", value.get("keyType") or ""
    yield from signer_name(path.child("signerName"), signer)
    yield from user_annotations(path.child("userAnnotations"), value.get("userAnnotations"))
    if kind not in KEY_TYPES:
        yield fieldpath.not_supported(path.child("keyType"), kind, KEY_TYPES)
    seconds, max_expiration_seconds_path = (
        value.get("maxExpirationSeconds"),
        path.child("maxExpirationSeconds"),
    )
    longest = LONGEST_OF_KUBERNETES if is_of_kubernetes(signer) else LONGEST
    if seconds is not None and seconds < SHORTEST:
        yield fieldpath.invalid(
            max_expiration_seconds_path,
            seconds,
            f"if provided, {max_expiration_seconds_path.steps[-1]} must be >= {SHORTEST}",
        )
    if seconds is not None and seconds > longest:
        yield fieldpath.invalid(
            max_expiration_seconds_path,
            seconds,
            f"if provided, {max_expiration_seconds_path.steps[-1]} must be <= {longest}",
        )
    for field in PATHS:
        if value.get(field):
            yield from _file(path.child(field), whole, value[field], taken)
    if not any(value.get(field) for field in PATHS):
        detail = f"specify at least one of {PATHS[0]}, {PATHS[1]}, and {PATHS[2]}"
        yield fieldpath.required(path, detail)


def _file(path: FieldPath, whole: FieldPath, file: str, taken: set[str]) -> Errors:
    yield from local_path(path, file)
    if file in taken:
        yield fieldpath.invalid(whole, file, "conflicting duplicate paths")
    taken.add(file)
