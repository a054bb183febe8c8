"""CertificateApproval, CertificateSigning and ClusterTrustBundleAttest, which check who may
approve, sign and attest certificates; and CertificateSubjectRestriction, which refuses requests for
system:masters.

As k8s.io/kubernetes `plugin/pkg/admission/certificates`.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterator
from typing import Final

from celadon import kube
from celadon.admission.cluster_lookups import World
from celadon.admission.plugins.plugin_interface import CREATE, Behaviour, forbidden
from celadon.admission.request import Operation, Request
from celadon.kube.go import quote
from celadon.late_patterns import late_pattern

# --- Certificate requests ----------------------------------------------------
#
# The subject of a certificate request (PKCS #10), as far as a plugin asks for it.
#
# A request is DER: nested elements of a tag, a length and content. Only the way to the subject is
# read.

_PEM: Final = late_pattern(
    r"-----BEGIN CERTIFICATE REQUEST-----(?P<body>[^-]*)-----END CERTIFICATE REQUEST-----"
)
_SEQUENCE: Final = 0x30
_SET: Final = 0x31
_ORGANIZATION: Final = bytes.fromhex("55040a")
"""The object identifier 2.5.4.10."""
_COMMON_NAME: Final = bytes.fromhex("550403")
"""The object identifier 2.5.4.3."""
_UTF16: Final = 0x1E
_LONG: Final = 0x80


class UnreadableRequest(ValueError):
    """Says that a text is not a request for a certificate."""


def organizations(request: str) -> list[str]:
    """Return the organizations of a `spec.request`: PEM in base64. Raises UnreadableRequest."""
    return list(_of_subject(request, _ORGANIZATION))


def common_name(request: str) -> str:
    """Return the last name of the subject; empty for none. Raises UnreadableRequest."""
    return next(iter([*_of_subject(request, _COMMON_NAME)][-1:]), "")


def _of_subject(request: str, attribute: bytes) -> Iterator[str]:
    """CertificationRequest, its info, of that the second of (version, subject, key, ...)."""
    try:
        pem = base64.b64decode(request, validate=True).decode("ascii", "replace")
        block = _PEM.search(pem)
        if block is None:
            raise UnreadableRequest("PEM block type must be CERTIFICATE REQUEST")
        der = base64.b64decode(block["body"])
    except binascii.Error as error:
        raise UnreadableRequest("PEM block type must be CERTIFICATE REQUEST") from error
    whole = _only(_elements(der), _SEQUENCE)
    info = _only(_elements(whole), _SEQUENCE)
    parts = list(_elements(info))
    if len(parts) < 2 or parts[1][0] != _SEQUENCE:
        raise UnreadableRequest("asn1: structure error")
    for tag, names in _elements(parts[1][1]):
        for _, pair in _elements(names) if tag == _SET else ():
            fields = list(_elements(pair))
            if len(fields) == 2 and fields[0][1] == attribute:
                yield _text(*fields[1])


def _only(elements: Iterator[tuple[int, bytes]], tag: int) -> bytes:
    """Return the content of the first element, which has one of these tags."""
    element = next(elements, (0, b""))
    if element[0] != tag:
        raise UnreadableRequest("asn1: structure error")
    return element[1]


def _elements(data: bytes) -> Iterator[tuple[int, bytes]]:
    index = 0
    while index + 2 <= len(data):
        tag, length = data[index], data[index + 1]
        index += 2
        if length >= _LONG:
            size = length - _LONG
            length = int.from_bytes(data[index : index + size])
            index += size
        if index + length > len(data):
            raise UnreadableRequest("asn1: syntax error: data truncated")
        yield tag, data[index : index + length]
        index += length


def _text(tag: int, content: bytes) -> str:
    return content.decode("utf-16-be" if tag == _UTF16 else "utf-8", "replace")


GROUP: Final = "certificates.k8s.io"
CLIENT_SIGNER: Final = "kubernetes.io/kube-apiserver-client"
"""Who signs certificates that an API server takes for users."""
_REQUESTS: Final = frozenset({kube.GroupResource(GROUP, "certificatesigningrequests")})
_COLLECTED: Final = frozenset({"ownerReferences", "finalizers", "managedFields"})
"""Metadata that a garbage collector changes."""


def _may(request: Request, world: World, verb: str, signer: str) -> bool:
    """Return whether the user may do so for the signer itself, or for all of its domain."""
    domain = signer.split("/", 1)[0]
    return any(
        world.authorize(
            kube.Attributes(
                request.user,
                verb,
                resource_request=True,
                group=GROUP,
                version=kube.ANY_VERSION,
                resource="signers",
                name=name,
            )
        )[0]
        is kube.Ruling.ALLOW
        for name in (signer, f"{domain}/*")
    )


def _signer(obj: kube.JsonObject | None) -> str:
    signer_name: str = ((obj or {}).get("spec") or {}).get("signerName", "")
    return signer_name


def _approve(request: Request, world: World) -> kube.StatusError | None:
    signer = _signer(request.old_object)
    if _may(request, world, "approve", signer):
        return None
    reason = f"user not permitted to approve requests with signerName {quote(signer)}"
    return forbidden(request, reason)


def _sign(request: Request, world: World) -> kube.StatusError | None:
    new, old = ((obj or {}).get("status") or {} for obj in (request.object, request.old_object))
    if all((new.get(field) or None) == (old.get(field) or None) for field in _DECISIVE):
        return None
    signer = _signer(request.old_object)
    if _may(request, world, "sign", signer):
        return None
    return forbidden(
        request, f"user not permitted to sign requests with signerName {quote(signer)}"
    )


_DECISIVE: Final = ("certificate", "conditions")


def _attest(request: Request, world: World) -> kube.StatusError | None:
    signer = _signer(request.object)
    if not signer or _only_collected(request) or _may(request, world, "attest", signer):
        return None
    return forbidden(request, f"user not permitted to attest for signerName {quote(signer)}")


def _only_collected(request: Request) -> bool:
    """Return whether an update is only about owners and finalizers."""
    new, old = request.object, request.old_object
    if new is None or old is None:
        return False
    return _without_collected(new) == _without_collected(old)


def _without_collected(obj: kube.JsonObject) -> kube.JsonObject:
    meta = kube.metadata.metadata(obj)
    return {**obj, "metadata": {key: meta[key] for key in meta if key not in _COLLECTED}}


def _restrict(request: Request, _: World) -> kube.StatusError | None:
    if _signer(request.object) != CLIENT_SIGNER:
        return None
    try:
        result = organizations(((request.object or {}).get("spec") or {}).get("request", ""))
    except UnreadableRequest as error:
        return forbidden(request, f"failed to parse CSR: {error}")
    if kube.MASTERS not in result:
        return None
    reason = f"use of {CLIENT_SIGNER} signer with {kube.MASTERS} group is not allowed"
    return forbidden(request, reason)


_UPDATE: Final = frozenset({Operation.UPDATE})
APPROVAL: Final = Behaviour(
    validate=_approve, resources=_REQUESTS, subresources=frozenset({"approval"}), operations=_UPDATE
)
SIGNING: Final = Behaviour(
    validate=_sign, resources=_REQUESTS, subresources=frozenset({"status"}), operations=_UPDATE
)
ATTESTING: Final = Behaviour(
    validate=_attest, resources=frozenset({kube.GroupResource(GROUP, "clustertrustbundles")})
)
SUBJECTS: Final = Behaviour(validate=_restrict, resources=_REQUESTS, operations=CREATE)
