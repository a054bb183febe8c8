"""Files in projected volumes that come from the API of certificates: bundles of trust anchors, and
certificates of the pod's own.

As k8s.io/kubernetes `pkg/apis/core/validation`, `validateProjectionSources`.
"""

from __future__ import annotations

from typing import Final

from celadon.kube import fieldpath
from celadon.kube.fieldpath import FieldPath
from celadon.kube.json_types import JsonObject
from celadon.kube.validation.field_checks import Errors
from celadon.kube.validation.pods.env_vars import local_path
from celadon.kube.validation.pods.internal_types import internal_value
from celadon.kube.validation.signers import (
    LONGEST,
    LONGEST_OF_KUBERNETES,
    SHORTEST,
    bundle_name,
    is_of_kubernetes,
    signer_name,
    user_annotations,
)
from celadon.kube.validation.text_rules import printed_selector, selector

KEY_TYPES: Final = ("RSA3072", "RSA4096", "ECDSAP256", "ECDSAP384", "ECDSAP521", "ED25519")
PATHS: Final = ("credentialBundlePath", "keyPath", "certificateChainPath")


def trust_bundle(path: FieldPath, whole: FieldPath, given: JsonObject, taken: set[str]) -> Errors:
    """Yield what is wrong with a bundle; `whole` is the path of the volume, whose files have
    `taken` names."""
    name, signer = given.get("name"), given.get("signerName")
    if name is not None and signer is not None:
        shown = internal_value(given, "core.v1.ClusterTrustBundleProjection")
        yield fieldpath.invalid(path, shown, "only one of name and signerName may be used")
    elif name is not None:
        yield from _named(path, name, given)
    elif signer is not None:
        at = path.child("signerName")
        if not signer:
            yield fieldpath.required(at, "must be a valid signer name")
        yield from signer_name(at, signer)
        yield from selector(path.child("labelSelector"), given.get("labelSelector"))
    else:
        yield fieldpath.required(path, "either name or signerName must be specified")
    file, at = given.get("path") or "", path.child("path")
    if not file:
        yield fieldpath.required(at)
    yield from _file(at, whole, file, taken)


def _named(path: FieldPath, name: str, given: JsonObject) -> Errors:
    at = path.child("name")
    if not name:
        yield fieldpath.required(at, "must be a valid object name")
    for why in bundle_name(name, name.rpartition(":")[0].replace(":", "/")):
        yield fieldpath.invalid(at, name, f"not a valid clustertrustbundlename: {why}")
    chosen = given.get("labelSelector")
    if chosen is not None:
        why = "labelSelector must be unset if name is specified"
        yield fieldpath.invalid(path.child("labelSelector"), printed_selector(chosen), why)


def own_certificate(
    path: FieldPath, whole: FieldPath, given: JsonObject, taken: set[str]
) -> Errors:
    """Yield what is wrong with a certificate that a kubelet asks for."""
    signer, kind = given.get("signerName") or "", given.get("keyType") or ""
    yield from signer_name(path.child("signerName"), signer)
    yield from user_annotations(path.child("userAnnotations"), given.get("userAnnotations"))
    if kind not in KEY_TYPES:
        yield fieldpath.not_supported(path.child("keyType"), kind, KEY_TYPES)
    seconds, at = given.get("maxExpirationSeconds"), path.child("maxExpirationSeconds")
    longest = LONGEST_OF_KUBERNETES if is_of_kubernetes(signer) else LONGEST
    if seconds is not None and seconds < SHORTEST:
        yield fieldpath.invalid(at, seconds, f"if provided, {at.steps[-1]} must be >= {SHORTEST}")
    if seconds is not None and seconds > longest:
        yield fieldpath.invalid(at, seconds, f"if provided, {at.steps[-1]} must be <= {longest}")
    for field in PATHS:
        if given.get(field):
            yield from _file(path.child(field), whole, given[field], taken)
    if not any(given.get(field) for field in PATHS):
        why = f"specify at least one of {PATHS[0]}, {PATHS[1]}, and {PATHS[2]}"
        yield fieldpath.required(path, why)


def _file(path: FieldPath, whole: FieldPath, file: str, taken: set[str]) -> Errors:
    yield from local_path(path, file)
    if file in taken:
        yield fieldpath.invalid(whole, file, "conflicting duplicate paths")
    taken.add(file)
