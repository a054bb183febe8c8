"""Requests for certificates: what is asked, of which signer, for which uses, for how long.

As k8s.io/kubernetes `pkg/apis/certificates/validation`.
"""

from __future__ import annotations

import base64
from collections import defaultdict
from typing import Final

from celadon.kube import fieldpath
from celadon.kube.certificate_requests import request_fault
from celadon.kube.fieldpath import FieldPath, NamedText
from celadon.kube.go.go_text import GoValue, quote
from celadon.kube.json_types import JsonObject
from celadon.kube.releases import is_since
from celadon.kube.validation.field_checks import (
    HIDDEN_VALUE,
    SPEC,
    Errors,
    changed_fields,
    items,
    required_choice,
)
from celadon.kube.validation.object_meta import Naming
from celadon.kube.validation.pods.internal_types import signing_conditions_diff
from celadon.kube.validation.signers import bundle_name, signer_name
from celadon.kube.well_known_values import CONDITION_STATUSES, SIGNING_DECISIONS
from celadon.kube.x509 import Authority, authority_of, pem_blocks

USAGES: Final = (
    *("any", "cert sign", "client auth", "code signing", "content commitment", "crl sign"),
    *("data encipherment", "decipher only", "digital signature", "email protection"),
    *("encipher only", "ipsec end system", "ipsec tunnel", "ipsec user", "key agreement"),
    *("key encipherment", "microsoft sgc", "netscape sgc", "ocsp signing", "s/mime"),
    *("server auth", "signing", "timestamping"),
)
"""What a key may be used for, sorted."""
LEGACY_SIGNER: Final = "kubernetes.io/legacy-unknown"
SHORTEST: Final = 600
"""The shortest time that may be asked for, in seconds."""

FINAL_CONDITIONS: Final = (*SIGNING_DECISIONS, "Failed")
"""Conditions that hold, and do not go away."""
_STATUS: Final = FieldPath("status")
_CONDITIONS: Final = _STATUS.child("conditions")
_CERTIFICATE: Final = _STATUS.child("certificate")


def certificate_signing_request(obj: JsonObject) -> Errors:
    """Yield what is wrong with a CertificateSigningRequest, besides its metadata."""
    # As `ValidateCertificateSigningRequestCreate` of `pkg/apis/certificates/validation`.
    spec = obj.get("spec") or {}
    fault = request_fault(base64.b64decode(spec.get("request") or ""))
    if fault:
        shown = GoValue(spec.get("request"), "[]byte")
        yield fieldpath.invalid(SPEC.child("request"), shown, fault)
    yield from _usages(spec)
    at, signer = SPEC.child("signerName"), spec.get("signerName") or ""
    if signer == LEGACY_SIGNER:
        why = "the legacy signerName is not allowed via this API version"
        yield fieldpath.invalid(at, signer, why)
    else:
        yield from signer_name(at, signer)
    seconds = spec.get("expirationSeconds")
    if seconds is not None and seconds < SHORTEST:
        why = f"may not specify a duration less than {SHORTEST} seconds (10 minutes)"
        yield fieldpath.invalid(SPEC.child("expirationSeconds"), seconds, why)


def request_status(obj: JsonObject, old: JsonObject) -> Errors:
    """Yield what is wrong with a write to `/status`: a certificate may come, approval and denial
    may not change."""
    # As `ValidateCertificateSigningRequestStatusUpdate` of `pkg/apis/certificates/validation`.
    yield from _reported(obj, old)
    yield from _settled(obj, old)
    new, was = ((one.get("status") or {}).get("certificate") or "" for one in (obj, old))
    if was and new != was:
        why = "updates may not modify existing certificate content"
        yield fieldpath.forbidden(_CERTIFICATE, why)


def request_approval(obj: JsonObject, old: JsonObject) -> Errors:
    """Yield what is wrong with a write to `/approval`: conditions may change, `status.certificate`
    may not."""
    # As `ValidateCertificateSigningRequestApprovalUpdate` of `pkg/apis/certificates/validation`.
    yield from _reported(obj, old)
    new, was = ((one.get("status") or {}).get("certificate") or "" for one in (obj, old))
    if new != was:
        yield fieldpath.forbidden(_CERTIFICATE, "updates may not set certificate content")


def _reported(obj: JsonObject, old: JsonObject) -> Errors:
    status, before = obj.get("status") or {}, old.get("status") or {}
    yield from _conditions(status, before)
    text = status.get("certificate") or ""
    if text and text != before.get("certificate"):
        fault = _certificate_fault(base64.b64decode(text))
        if fault:
            yield fieldpath.invalid(_CERTIFICATE, "<certificate data>", fault)
    for kind in FINAL_CONDITIONS:
        if len(_of_type(status, kind)) < len(_of_type(before, kind)):
            why = f"updates may not remove a condition of type {quote(kind)}"
            yield fieldpath.forbidden(_CONDITIONS, why)


def _of_type(status: JsonObject, kind: str) -> list[JsonObject]:
    return [one for one in status.get("conditions") or () if one.get("type") == kind]


def _conditions(status: JsonObject, before: JsonObject) -> Errors:
    """Yield what is wrong with conditions, but for what was wrong already."""
    # As `validateConditions` of `pkg/apis/certificates/validation`.
    old = [one.get("type") or "" for one in before.get("conditions") or ()]
    both, twice = set(SIGNING_DECISIONS) <= set(old), len(set(old)) < len(old)
    seen: list[str] = []
    for at, condition in items(status, "conditions", _STATUS):
        kind, state = condition.get("type") or "", condition.get("status") or ""
        if not kind and "" not in old:
            yield fieldpath.required(at.child("type"))
        choices = ("True",) if kind in FINAL_CONDITIONS else CONDITION_STATUSES
        yield from required_choice(at.child("status"), state, choices)
        if kind in SIGNING_DECISIONS and not both and set(SIGNING_DECISIONS) - {kind} <= set(seen):
            why = "Approved and Denied conditions are mutually exclusive"
            where = _CONDITIONS if is_since("1.34") else at.child("type")
            yield fieldpath.invalid(where, NamedText(kind), why)
        if kind in seen and not twice:
            yield fieldpath.duplicate(at.child("type"), NamedText(kind))
        seen.append(kind)


def _settled(obj: JsonObject, old: JsonObject) -> Errors:
    status, before = obj.get("status") or {}, old.get("status") or {}
    for kind in SIGNING_DECISIONS:
        new, was = _of_type(status, kind), _of_type(before, kind)
        if len(new) > len(was):
            why = f"updates may not add a condition of type {quote(kind)}"
            yield fieldpath.forbidden(_CONDITIONS, why)
        elif len(new) == len(was) and new != was:
            difference = signing_conditions_diff(was, new)
            why = f"updates may not modify a condition of type {quote(kind)}\n{difference}"
            yield fieldpath.forbidden(_CONDITIONS, why)


def _certificate_fault(text: bytes) -> str:
    """Return why a text is no row of certificates; empty if it is."""
    # As `validateCertificate` of `pkg/apis/certificates/validation`.
    blocks = list(pem_blocks(text))
    for block in blocks:
        if block.kind != "CERTIFICATE":
            return f"only CERTIFICATE PEM blocks are allowed, found {quote(block.kind)}"
        if block.has_headers:
            return "no PEM block headers are permitted"
        if authority_of(block.content) is Authority.NO_CERTIFICATE:
            return "x509: malformed certificate"
    return "" if blocks else "must contain at least one CERTIFICATE PEM block"


def certificate_signing_request_update(obj: JsonObject, old: JsonObject) -> Errors:
    """The spec is what it was, whatever was sent."""
    # As `ValidateCertificateSigningRequestUpdate` of `pkg/apis/certificates/validation`.
    yield from ()


def _usages(spec: JsonObject) -> Errors:
    given = spec.get("usages") or ()
    if not given:
        yield fieldpath.required(SPEC.child("usages"))
    for at, usage in items(spec, "usages", SPEC):
        if usage not in USAGES:
            yield fieldpath.not_supported(at, NamedText(usage), USAGES)
    seen = set[str]()
    for at, usage in items(spec, "usages", SPEC):
        if usage in seen:
            yield fieldpath.duplicate(at, NamedText(usage))
        seen.add(usage)


# --- Trust bundles -----------------------------------------------------------
#
# As k8s.io/kubernetes `pkg/apis/certificates/validation`. Of a certificate it is read whether
# it is one, and of an authority.


BUNDLE_BYTES: Final = 1024 * 1024
_BUNDLE: Final = SPEC.child("trustBundle")
_FAULTS: Final = {
    Authority.NO_CERTIFICATE: "does not parse as X.509",
    Authority.NONE: "does not have the CA bit set",
}


def bundle_naming(obj: JsonObject) -> Naming:
    """Return the rule for the name of a ClusterTrustBundle, which begins with its signer."""
    signer = (obj.get("spec") or {}).get("signerName") or ""
    return Naming(lambda name: bundle_name(name, signer), namespaced=False)


def trust_bundle(obj: JsonObject) -> Errors:
    """Yield what is wrong with a ClusterTrustBundle, besides its metadata."""
    # As `ValidateClusterTrustBundle` of `pkg/apis/certificates/validation`.
    spec = obj.get("spec") or {}
    yield from _signer(spec)
    yield from _anchors(spec.get("trustBundle") or "")


def trust_bundle_update(obj: JsonObject, old: JsonObject) -> Errors:
    """The signer stays; certificates that stay are not read again."""
    # As `ValidateClusterTrustBundleUpdate` of `pkg/apis/certificates/validation`.
    spec, before = obj.get("spec") or {}, old.get("spec") or {}
    yield from _signer(spec)
    if spec.get("trustBundle") != before.get("trustBundle"):
        yield from _anchors(spec.get("trustBundle") or "")
    yield from changed_fields("certificates.v1beta1.ClusterTrustBundleSpec", spec, before, SPEC)


def _signer(spec: JsonObject) -> Errors:
    if spec.get("signerName"):
        yield from signer_name(SPEC.child("signerName"), spec["signerName"])


def _anchors(text: str) -> Errors:
    # As `validateTrustBundle` of `pkg/apis/certificates/validation`.
    if len(text.encode()) > BUNDLE_BYTES:
        yield fieldpath.too_long(_BUNDLE, BUNDLE_BYTES)
        return
    faults: list[str] = []
    places: defaultdict[bytes, list[int]] = defaultdict(list)
    for index, block in enumerate(pem_blocks(text.encode())):
        if block.kind != "CERTIFICATE":
            faults.append(f"entry {index} has bad block type: {block.kind}")
        elif block.has_headers:
            faults.append(f"entry {index} has PEM block headers")
        else:
            fault = _FAULTS.get(authority_of(block.content))
            faults += [f"entry {index} {fault}"] if fault else []
            places[block.content].append(index)
    if not faults and not places:
        faults.append("at least one trust anchor must be provided")
    elif not faults:
        for found in places.values():
            if len(found) > 1:
                listed = " ".join(map(str, found))
                faults.append(f"duplicate trust anchor (indices [{listed}])")
    for fault in faults:
        yield fieldpath.invalid(_BUNDLE, HIDDEN_VALUE, fault)
