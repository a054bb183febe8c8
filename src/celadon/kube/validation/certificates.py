"""Validation of CertificateSigningRequests, PodCertificateRequests and ClusterTrustBundles.

As k8s.io/kubernetes `pkg/apis/certificates/validation`.
"""

from __future__ import annotations

import base64
from collections import defaultdict
from datetime import UTC, datetime, timedelta
from typing import Final, NamedTuple

from celadon.kube import certificate_requests, fieldpath
from celadon.kube.fieldpath import OMITTED, FieldPath, NamedText
from celadon.kube.go.go_text import GoValue, quote
from celadon.kube.json_types import JsonObject
from celadon.kube.releases import is_since
from celadon.kube.validation.field_checks import (
    HIDDEN_VALUE,
    IMMUTABLE,
    SPEC,
    Errors,
    changed_fields,
    condition_is_true,
    conditions,
    dns_subdomain,
    items,
    required_choice,
)
from celadon.kube.validation.object_meta import Naming
from celadon.kube.validation.pods import signers
from celadon.kube.validation.pods.internal_types import internal_value, signing_conditions_diff
from celadon.kube.well_known_values import CONDITION_STATUSES, SIGNING_DECISIONS
from celadon.kube.x509 import (
    CERTIFICATE,
    CONTEXT_0,
    SEQUENCE,
    Authority,
    DerReader,
    authority_of,
    pem_blocks,
)

# --- Requests ----------------------------------------------------------------
#
# CertificateSigningRequests: what is asked, of which signer, for which uses, for how long.

USAGES: Final = (
    *("any", "cert sign", "client auth", "code signing", "content commitment", "crl sign"),
    *("data encipherment", "decipher only", "digital signature", "email protection"),
    *("encipher only", "ipsec end system", "ipsec tunnel", "ipsec user", "key agreement"),
    *("key encipherment", "microsoft sgc", "netscape sgc", "ocsp signing", "s/mime"),
    *("server auth", "signing", "timestamping"),
)
"""What a key may be used for, sorted."""
LEGACY_SIGNER: Final = "kubernetes.io/legacy-unknown"
SHORTEST_REQUEST: Final = 600
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
    fault = certificate_requests.request_fault(base64.b64decode(spec.get("request") or ""))
    if fault:
        go_value = GoValue(spec.get("request"), "[]byte")
        yield fieldpath.invalid(SPEC.child("request"), go_value, fault)
    yield from _usages(spec)
    path, signer = SPEC.child("signerName"), spec.get("signerName") or ""
    if signer == LEGACY_SIGNER:
        detail = "the legacy signerName is not allowed via this API version"
        yield fieldpath.invalid(path, signer, detail)
    else:
        yield from signers.signer_name(path, signer)
    seconds = spec.get("expirationSeconds")
    if seconds is not None and seconds < SHORTEST_REQUEST:
        detail = f"may not specify a duration less than {SHORTEST_REQUEST} seconds (10 minutes)"
        yield fieldpath.invalid(SPEC.child("expirationSeconds"), seconds, detail)


def request_status(obj: JsonObject, old: JsonObject) -> Errors:
    """Yield what is wrong with a write to `/status`: a certificate may come, approval and denial
    may not change."""
    # As `ValidateCertificateSigningRequestStatusUpdate` of `pkg/apis/certificates/validation`.
    yield from _reported(obj, old)
    yield from _settled(obj, old)
    new, was = ((item.get("status") or {}).get("certificate") or "" for item in (obj, old))
    if was and new != was:
        detail = "updates may not modify existing certificate content"
        yield fieldpath.forbidden(_CERTIFICATE, detail)


def request_approval(obj: JsonObject, old: JsonObject) -> Errors:
    """Yield what is wrong with a write to `/approval`: conditions may change, `status.certificate`
    may not."""
    # As `ValidateCertificateSigningRequestApprovalUpdate` of `pkg/apis/certificates/validation`.
    yield from _reported(obj, old)
    new, was = ((item.get("status") or {}).get("certificate") or "" for item in (obj, old))
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
            detail = f"updates may not remove a condition of type {quote(kind)}"
            yield fieldpath.forbidden(_CONDITIONS, detail)


def _of_type(status: JsonObject, kind: str) -> list[JsonObject]:
    return [
        condition for condition in status.get("conditions") or () if condition.get("type") == kind
    ]


def _conditions(status: JsonObject, before: JsonObject) -> Errors:
    """Yield what is wrong with conditions, but for what was wrong already."""
    # As `validateConditions` of `pkg/apis/certificates/validation`.
    old = [condition.get("type") or "" for condition in before.get("conditions") or ()]
    both, twice = set(SIGNING_DECISIONS) <= set(old), len(set(old)) < len(old)
    seen: list[str] = []
    for path, condition in items(status, "conditions", _STATUS):
        kind, state = condition.get("type") or "", condition.get("status") or ""
        if not kind and "" not in old:
            yield fieldpath.required(path.child("type"))
        choices = ("True",) if kind in FINAL_CONDITIONS else CONDITION_STATUSES
        yield from required_choice(path.child("status"), state, choices)
        if kind in SIGNING_DECISIONS and not both and set(SIGNING_DECISIONS) - {kind} <= set(seen):
            detail = "Approved and Denied conditions are mutually exclusive"
            where = _CONDITIONS if is_since("1.34") else path.child("type")
            yield fieldpath.invalid(where, NamedText(kind), detail)
        if kind in seen and not twice:
            yield fieldpath.duplicate(path.child("type"), NamedText(kind))
        seen.append(kind)


def _settled(obj: JsonObject, old: JsonObject) -> Errors:
    status, before = obj.get("status") or {}, old.get("status") or {}
    for kind in SIGNING_DECISIONS:
        new, was = _of_type(status, kind), _of_type(before, kind)
        if len(new) > len(was):
            detail = f"updates may not add a condition of type {quote(kind)}"
            yield fieldpath.forbidden(_CONDITIONS, detail)
        elif len(new) == len(was) and new != was:
            difference = signing_conditions_diff(was, new)
            detail = f"updates may not modify a condition of type {quote(kind)}\n{difference}"
            yield fieldpath.forbidden(_CONDITIONS, detail)


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
    """Yield nothing: the spec stays as it was stored, whatever is sent."""
    # As `ValidateCertificateSigningRequestUpdate` of `pkg/apis/certificates/validation`.
    yield from ()


def _usages(spec: JsonObject) -> Errors:
    usages = spec.get("usages") or ()
    if not usages:
        yield fieldpath.required(SPEC.child("usages"))
    for path, usage in items(spec, "usages", SPEC):
        if usage not in USAGES:
            yield fieldpath.not_supported(path, NamedText(usage), USAGES)
    seen = set[str]()
    for path, usage in items(spec, "usages", SPEC):
        if usage in seen:
            yield fieldpath.duplicate(path, NamedText(usage))
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
    return Naming(lambda name: signers.bundle_name(name, signer), namespaced=False)


def trust_bundle(obj: JsonObject) -> Errors:
    """Yield what is wrong with a ClusterTrustBundle, besides its metadata."""
    # As `ValidateClusterTrustBundle` of `pkg/apis/certificates/validation`.
    spec = obj.get("spec") or {}
    yield from _signer(spec)
    yield from _anchors(spec.get("trustBundle") or "")


def changed_trust_bundle(obj: JsonObject, old: JsonObject) -> Errors:
    """Yield what is wrong with a ClusterTrustBundle that was changed; certificates that stay are
    not read again."""
    # As `ValidateClusterTrustBundleUpdate` of `pkg/apis/certificates/validation`.
    spec, before = obj.get("spec") or {}, old.get("spec") or {}
    yield from _signer(spec)
    if spec.get("trustBundle") != before.get("trustBundle"):
        yield from _anchors(spec.get("trustBundle") or "")


def trust_bundle_changes(obj: JsonObject, old: JsonObject) -> Errors:
    """Yield an error if the signer of a ClusterTrustBundle is another one."""
    spec, before = obj.get("spec") or {}, old.get("spec") or {}
    yield from changed_fields("certificates.v1beta1.ClusterTrustBundleSpec", spec, before, SPEC)


def _signer(spec: JsonObject) -> Errors:
    if spec.get("signerName"):
        yield from signers.signer_name(SPEC.child("signerName"), spec["signerName"])


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
        for place in places.values():
            if len(place) > 1:
                listed = " ".join(map(str, place))
                faults.append(f"duplicate trust anchor (indices [{listed}])")
    for fault in faults:
        yield fieldpath.invalid(_BUNDLE, HIDDEN_VALUE, fault)


# --- Certificates of pods ----------------------------------------------------
#
# Certificates that pods ask for: what is asked with which key, and what a signer answers.

UID_BYTES: Final = 128
KEY_BYTES: Final = 10 * 1024
"""Of a key, its proof or a request."""
CHAIN_BYTES: Final = 100 * 1024
RSA_BITS: Final = (3072, 4096)
CURVES: Final = ("P256", "P384", "P521")
LEEWAY: Final = timedelta(minutes=10)
"""Between the ends of a certificate's life and when the next one is asked for."""

ISSUED: Final = "Issued"
OUTCOMES: Final = (ISSUED, "Denied", "Failed")

_CHAIN: Final = _STATUS.child("certificateChain")
_KEY: Final = SPEC.child("pkixPublicKey")
_PROOF: Final = SPEC.child("proofOfPossession")
_REQUEST: Final = SPEC.child("stubPKCS10Request")
_KINDS: Final = "unknown public key type; supported types are Ed25519, ECDSA, and RSA"


def certificate_request(obj: JsonObject) -> Errors:
    """Yield what is wrong with a PodCertificateRequest, besides its metadata."""
    # As `ValidatePodCertificateRequestCreate` of `pkg/apis/certificates/validation`.
    spec = obj.get("spec") or {}
    signer = spec.get("signerName") or ""
    yield from signers.signer_name(SPEC.child("signerName"), signer)
    path = SPEC.child("unverifiedUserAnnotations")
    yield from signers.user_annotations(path, spec.get("unverifiedUserAnnotations"))
    for kind in ("pod", "serviceAccount", "node"):
        yield from dns_subdomain(SPEC.child(f"{kind}Name"), spec.get(f"{kind}Name") or "")
        yield from _uid(SPEC.child(f"{kind}UID"), spec.get(f"{kind}UID") or "")
    seconds, path = spec.get("maxExpirationSeconds"), SPEC.child("maxExpirationSeconds")
    if seconds is None:
        yield fieldpath.required(path, "must be set")
        return
    longest = signers.LONGEST_OF_KUBERNETES if signers.is_of_kubernetes(signer) else signers.LONGEST
    if not signers.SHORTEST <= seconds <= longest:
        detail = f"must be in the range [{signers.SHORTEST}, {longest}]"
        yield fieldpath.invalid(path, seconds, detail)
    yield from _proof(spec)


def _uid(path: FieldPath, uid: str) -> Errors:
    if not uid:
        yield fieldpath.invalid(path, NamedText(""), "must not be empty")
    if len(uid.encode()) > UID_BYTES:
        yield fieldpath.too_long(path, UID_BYTES)


def _proof(spec: JsonObject) -> Errors:
    """Validate the proof that the pod has the key: a request that it signed, or the key with a
    signature."""
    request, key, proof = (
        spec.get(field) or ""
        for field in ("stubPKCS10Request", "pkixPublicKey", "proofOfPossession")
    )
    if not is_since("1.36") or (key and proof and not request):
        yield from _signed_uid(spec, key, proof)
    elif request and not key and not proof:
        yield from _stub(base64.b64decode(request))
    else:
        detail = (
            "exactly one of (stubPKCS10Request) or (pkixPublicKey, proofOfPossession) must be set"
        )
        yield fieldpath.invalid(SPEC, OMITTED, detail)


def _signed_uid(spec: JsonObject, key_text: str, proof_text: str) -> Errors:
    # As `validateDeprecatedPKIXPublicKey` of `pkg/apis/certificates/validation`.
    encoded, proof = base64.b64decode(key_text), base64.b64decode(proof_text)
    for path, item in ((_KEY, encoded), (_PROOF, proof)):
        if len(item) > KEY_BYTES:
            yield fieldpath.too_long(path, KEY_BYTES)
            return
    go_value = GoValue(key_text or None, "[]byte")
    try:
        key, _ = certificate_requests.public_key(encoded)
    except certificate_requests.RequestFault:
        yield fieldpath.invalid(_KEY, go_value, "must be a valid PKIX-serialized public key")
        return
    if key is None:
        yield fieldpath.invalid(_KEY, go_value, _KINDS)
        return
    weak = _weakness(key)
    if weak:
        curves = "elliptic public keys must use curve P256 or P384"
        yield fieldpath.invalid(_KEY, weak.shown_value, curves if weak.is_curve else weak.reason)
    elif not certificate_requests.has_signed(key, (spec.get("podUID") or "").encode(), proof):
        detail = "could not verify proof-of-possession signature"
        yield fieldpath.invalid(_PROOF, OMITTED, detail)


def _stub(encoded: bytes) -> Errors:
    # As `validateStubPKCS10Request` of `pkg/apis/certificates/validation`.
    if len(encoded) > KEY_BYTES:
        yield fieldpath.too_long(_REQUEST, KEY_BYTES)
        return
    try:
        request = certificate_requests.read_request(encoded)
    except certificate_requests.RequestFault:
        yield fieldpath.invalid(_REQUEST, OMITTED, "must be a valid PKCS#10 CSR")
        return
    if request.key is None:
        yield fieldpath.invalid(_REQUEST, OMITTED, _KINDS)
        return
    weak = _weakness(request.key)
    if weak:
        yield fieldpath.invalid(_REQUEST, weak.shown_value, weak.reason)
    elif not _is_signed(request):
        yield fieldpath.invalid(_REQUEST, OMITTED, "invalid signature")


def _is_signed(request: certificate_requests.SignedRequest) -> bool:
    try:
        certificate_requests.check_signature(request)
    except certificate_requests.RequestFault:
        return False
    return True


class _Weakness(NamedTuple):
    shown_value: str
    reason: str
    is_curve: bool = False


def _weakness(key: certificate_requests.Key) -> _Weakness | None:
    """Return why a key is not good enough."""
    if isinstance(key, certificate_requests.CurveKey) and key.curve.name not in CURVES:
        detail = "elliptic public keys must use curve P256, P384, or P521"
        return _Weakness(f"curve P-{key.curve.name[1:]}", detail, is_curve=True)
    if isinstance(key, certificate_requests.RsaKey):
        bits = (key.modulus.bit_length() + 7) // 8 * 8
        if bits not in RSA_BITS:
            return _Weakness(f"{bits}-bit modulus", "RSA keys must have modulus size 3072 or 4096")
    return None


def certificate_request_update(obj: JsonObject, old: JsonObject) -> Errors:
    """Yield an error if what is asked for has changed."""
    # As `ValidatePodCertificateRequestUpdate` of `pkg/apis/certificates/validation`.
    if obj.get("spec") != old.get("spec"):
        printed = internal_value(
            obj.get("spec") or {}, "certificates.v1beta1.PodCertificateRequestSpec"
        )
        yield fieldpath.invalid(SPEC, printed, IMMUTABLE)


# --- Answers -----------------------------------------------------------------


def certificate_request_status(obj: JsonObject, old: JsonObject) -> Errors:
    """Yield what is wrong with an answer, which is given once. That a certificate begins within
    minutes of now is left to the signer."""
    # As `ValidatePodCertificateRequestStatusUpdate` of `pkg/apis/certificates/validation`.
    status, before = obj.get("status") or {}, old.get("status") or {}
    wrong = [*_outcomes(status), *conditions(_STATUS, status)]
    if wrong:
        yield from wrong
        return
    outcome = _outcome(status)
    fields = {key: value for key, value in status.items() if key != "conditions"}
    detail = ""
    if _outcome(before):
        if status != before:
            detail = "immutable after PodCertificateRequest is issued, denied, or failed"
    elif outcome == ISSUED:
        yield from _issued(status, obj.get("spec") or {}, old.get("spec") or {})
    elif outcome:
        if any(fields.values()):
            detail = (
                "non-condition status fields must be empty when denying or failing the "
                "PodCertificateRequest"
            )
    elif status != before:
        detail = 'status is immutable unless transitioning to "Issued", "Denied", or "Failed"'
    if detail:
        yield fieldpath.invalid(_STATUS, OMITTED, detail)


def _outcome(status: JsonObject) -> str:
    return next((kind for kind in OUTCOMES if condition_is_true(status, kind)), "")


def _outcomes(status: JsonObject) -> Errors:
    count = 0
    for path, condition in items(status, "conditions", _STATUS):
        where = _STATUS.child("conditions", path.text.removeprefix(_CONDITIONS.text))
        kind, state = condition.get("type") or "", condition.get("status") or ""
        if kind not in OUTCOMES:
            yield fieldpath.not_supported(where.child("type"), kind, OUTCOMES)
            continue
        count += 1
        if count > 1:
            detail = 'There may be at most one condition with type "Issued", "Denied", or "Failed"'
            yield fieldpath.invalid(where.child("type"), kind, detail)
        if state != "True":
            yield fieldpath.not_supported(where.child("status"), NamedText(state), ("True",))


def _issued(status: JsonObject, spec: JsonObject, request: JsonObject) -> Errors:
    chain = status.get("certificateChain") or ""
    if len(chain.encode()) > CHAIN_BYTES:
        yield fieldpath.too_long(_CHAIN, CHAIN_BYTES)
        return
    blocks = [*pem_blocks(chain.encode())]
    first, rest = next(iter(blocks), None), blocks[1:]
    leaf = None if first is None else _leaf(first.content)
    detail = ""
    if first is None:
        detail = "issued certificate chain must contain at least one certificate"
    elif first.kind != CERTIFICATE:
        detail = "issued certificate chain must consist entirely of CERTIFICATE PEM blocks"
    elif leaf is None:
        detail = "leaf certificate does not parse as valid X.509"
    elif leaf.key_info != _key_asked_for(request):
        detail = "leaf certificate was not issued to the requested public key"
    if detail or leaf is None:
        yield fieldpath.invalid(_CHAIN, chain, detail)
        return
    wrong = [*_times_set(status)] or [*_times(status, spec, leaf)]
    yield from wrong
    for block in () if wrong else rest:
        if block.kind != CERTIFICATE:
            detail = "issued certificate chain must consist entirely of CERTFICATE PEM blocks"
        elif authority_of(block.content) is Authority.NO_CERTIFICATE:
            detail = "intermediate certificate does not parse as valid X.509"
        if detail:
            yield fieldpath.invalid(_CHAIN, chain, detail)
            return


def _key_asked_for(spec: JsonObject) -> bytes:
    stub = base64.b64decode(spec.get("stubPKCS10Request") or "")
    if stub:
        return certificate_requests.read_request(stub).key_info
    return certificate_requests.public_key(base64.b64decode(spec.get("pkixPublicKey") or ""))[1]


class _Leaf(NamedTuple):
    key_info: bytes
    start: datetime
    end: datetime


def _leaf(der: bytes) -> _Leaf | None:
    """Return what is asked of a leaf; None if the bytes are no certificate, or tell no times."""
    if authority_of(der) is Authority.NO_CERTIFICATE:
        return None
    fields = DerReader(der).inner().inner()
    if fields.next_is(CONTEXT_0):
        fields.skip()
    for _ in ("serial", "algorithm", "issuer"):
        fields.skip()
    validity = fields.inner()
    try:
        start, end = (_instant(*validity.any()) for _ in range(2))
    except ValueError:
        return None
    fields.skip()
    return _Leaf(fields.content(SEQUENCE), start, end)


def _instant(tag: int, text: bytes) -> datetime:
    """UTCTime, whose years are two digits, or GeneralizedTime."""
    digits = text.decode()
    if tag == _UTC_TIME:
        digits = ("20" if digits[:2] < "50" else "19") + digits
    return datetime.strptime(digits, "%Y%m%d%H%M%SZ").replace(tzinfo=UTC)


_UTC_TIME: Final = 0x17


def _times_set(status: JsonObject) -> Errors:
    consistent = "must be present and consistent with the issued certificate"
    for field, detail in (
        ("notBefore", consistent),
        ("notAfter", consistent),
        ("beginRefreshAt", "must be present and in the range [notbefore+10min, notafter-10min]"),
    ):
        if not status.get(field):
            yield fieldpath.required(_STATUS.child(field), detail)


def _times(status: JsonObject, spec: JsonObject, leaf: _Leaf) -> Errors:
    """Yield the first thing that is wrong with them."""
    start, end, refresh = (
        datetime.fromisoformat(status[field])
        for field in ("notBefore", "notAfter", "beginRefreshAt")
    )
    life, longest = leaf.end - leaf.start, spec.get("maxExpirationSeconds") or 0
    nanoseconds = life // timedelta(microseconds=1) * 1000
    field, printed, detail = "", status["beginRefreshAt"], ""
    if start != leaf.start:
        field, printed = "notBefore", status["notBefore"]
        detail = "must be set to the NotBefore time encoded in the leaf certificate"
    elif end != leaf.end:
        field, printed = "notAfter", status["notAfter"]
        detail = "must be set to the NotAfter time encoded in the leaf certificate"
    elif life < timedelta(hours=1):
        field, printed = "certificateChain", nanoseconds
        detail = "leaf certificate lifetime must be >= 1 hour"
    elif life > timedelta(seconds=longest):
        field, printed = "certificateChain", nanoseconds
        detail = f"leaf certificate lifetime must be <= spec.maxExpirationSeconds ({longest})"
    elif refresh < start + LEEWAY:
        field, detail = "beginRefreshAt", "must be at least 10 minutes after status.notBefore"
    elif refresh > end - LEEWAY:
        field, detail = "beginRefreshAt", "must be at least 10 minutes before status.notAfter"
    if field:
        yield fieldpath.invalid(_STATUS.child(field), printed, detail)
