"""Signers of certificates: their names, those of their bundles, and what may be asked of them.

As k8s.io/kubernetes `pkg/apis/core/validation`.
"""

from __future__ import annotations

from typing import Final

from celadon.kube import fieldpath, name_rules
from celadon.kube.fieldpath import FieldPath
from celadon.kube.go.go_text import quote
from celadon.kube.json_types import JsonObject
from celadon.kube.validation.field_checks import Errors, Messages, each
from celadon.kube.validation.object_meta import ANNOTATIONS_BYTES

LONGEST_DOMAIN: Final = 253
LONGEST_SIGNER: Final = LONGEST_DOMAIN + 1 + (253 + 63 + 1)
"""A domain, a slash, and a label and a subdomain with a dot between them."""

SHORTEST: Final = 3600
LONGEST: Final = 91 * 24 * 3600
LONGEST_OF_KUBERNETES: Final = 24 * 3600
"""How long a certificate may be asked for, in seconds."""


def signer_name(path: FieldPath, name: str) -> Errors:
    """A domain and a path: `example.com/signer`."""
    # As `ValidateSignerName` of `pkg/apis/core/validation`.
    if not name:
        yield fieldpath.required(path)
        return
    segments = name.split("/")
    if len(segments) != 2:
        why = "must be a fully qualified domain and path of the form 'example.com/signer-name'"
        yield fieldpath.invalid(path, name, why)
        return
    domain, rest = segments
    if len(domain.encode()) > LONGEST_DOMAIN:
        yield fieldpath.too_long(path, LONGEST_DOMAIN)
    labels = domain.split(".")
    yield from _first_bad(path, domain, labels, name_rules.dns1123_label)
    if len(labels) < 2:
        why = "should be a domain with at least two segments separated by dots"
        yield fieldpath.invalid(path, domain, why)
    yield from _first_bad(path, rest, rest.split("."), name_rules.dns1123_subdomain)
    if len(name.encode()) > LONGEST_SIGNER:
        yield fieldpath.too_long(path, LONGEST_SIGNER)


def _first_bad(path: FieldPath, whole: str, labels: list[str], rule: Messages) -> Errors:
    """Yield what is wrong with the first bad label."""
    for label in labels:
        complaints = rule(label)
        for why in complaints:
            yield fieldpath.invalid(path, whole, f"validating label {quote(label)}: {why}")
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


def user_annotations(at: FieldPath, annotations: JsonObject | None) -> Errors:
    """Yield what is wrong with what a pod says to its signer."""
    # As `ValidateUserAnnotations` of `pkg/apis/core/validation`.
    given = sorted((annotations or {}).items())
    for key, _ in given:
        name = key.lower()
        faults = name_rules.qualified_name(name) if name else ()
        if not name:
            yield fieldpath.required(at)
        elif faults:
            yield from each(at, name, faults)
        elif "/" not in name:
            why = 'must be a domain-prefixed key (such as "acme.io/foo")'
            yield fieldpath.invalid(at, name, why)
    if sum(len(text.encode()) for pair in given for text in pair) > ANNOTATIONS_BYTES:
        yield fieldpath.too_long(at, ANNOTATIONS_BYTES)
