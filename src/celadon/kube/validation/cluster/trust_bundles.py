"""ClusterTrustBundles, and the certificates that pods ask for.

As k8s.io/kubernetes `pkg/apis/certificates/validation`. Of a certificate it is read whether it is
one, and of an authority; whether a pod has the key it names is not looked at.
"""

from __future__ import annotations

from collections import defaultdict
from typing import Final

from celadon.kube import fieldpath, name_rules
from celadon.kube.fieldpath import FieldPath
from celadon.kube.json_types import JsonObject
from celadon.kube.keys.certificate_authorities import Authority, authority_of
from celadon.kube.keys.pem_blocks import pem_blocks
from celadon.kube.validation.cluster.signing_requests import signer_name
from celadon.kube.validation.field_checks import (
    HIDDEN_VALUE,
    IMMUTABLE,
    SPEC,
    Errors,
    dns_subdomain,
)
from celadon.kube.validation.field_rules import changed_fields
from celadon.kube.validation.object_meta import Naming
from celadon.kube.validation.pods.internal_pod_types import internal_value

BUNDLE_BYTES: Final = 1024 * 1024
UID_BYTES: Final = 128
SHORTEST: Final = 3600
LONGEST: Final = 91 * 24 * 3600
LONGEST_OF_KUBERNETES: Final = 24 * 3600
"""How long a certificate may be asked for, in seconds."""
_BUNDLE: Final = SPEC.child("trustBundle")
_FAULTS: Final = {
    Authority.NO_CERTIFICATE: "does not parse as X.509",
    Authority.NONE: "does not have the CA bit set",
}


def bundle_naming(obj: JsonObject) -> Naming:
    """Who signs stands at the beginning of the name."""
    signer = (obj.get("spec") or {}).get("signerName") or ""
    return Naming(lambda name: bundle_name(name, signer), namespaced=False)


def bundle_name(name: str, signer: str) -> list[str]:
    """Of a ClusterTrustBundle; `signer` empty: of none in particular."""
    if not signer:
        if ":" in name:
            return ['ClusterTrustBundle without signer name must not have ":" in its name']
        return name_rules.dns1123_subdomain(name)
    prefix = f"{signer.replace('/', ':')}:"
    if not name.startswith(prefix):
        return [f"ClusterTrustBundle for signerName {signer} must be named with prefix {prefix}"]
    return name_rules.dns1123_subdomain(name.removeprefix(prefix))


def trust_bundle(obj: JsonObject) -> Errors:
    """What is wrong with a ClusterTrustBundle, besides its metadata."""
    spec = obj.get("spec") or {}
    yield from _signer(spec)
    yield from _anchors(spec.get("trustBundle") or "")


def trust_bundle_update(obj: JsonObject, old: JsonObject) -> Errors:
    """The signer stays; certificates that stay are not read again."""
    spec, before = obj.get("spec") or {}, old.get("spec") or {}
    yield from _signer(spec)
    if spec.get("trustBundle") != before.get("trustBundle"):
        yield from _anchors(spec.get("trustBundle") or "")
    yield from changed_fields("certificates.v1beta1.ClusterTrustBundleSpec", spec, before, SPEC)


def _signer(spec: JsonObject) -> Errors:
    if spec.get("signerName"):
        yield from signer_name(SPEC.child("signerName"), spec["signerName"])


def _anchors(text: str) -> Errors:
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


def certificate_request(obj: JsonObject) -> Errors:
    """What is wrong with a PodCertificateRequest, besides its metadata."""
    spec = obj.get("spec") or {}
    signer = spec.get("signerName") or ""
    yield from signer_name(SPEC.child("signerName"), signer)
    for what in ("pod", "serviceAccount", "node"):
        yield from dns_subdomain(SPEC.child(f"{what}Name"), spec.get(f"{what}Name") or "")
        yield from _uid(SPEC.child(f"{what}UID"), spec.get(f"{what}UID") or "")
    seconds, at = spec.get("maxExpirationSeconds"), SPEC.child("maxExpirationSeconds")
    if seconds is None:
        yield fieldpath.required(at, "must be set")
        return
    domain = signer.partition("/")[0]
    own = f".{domain}".endswith(".kubernetes.io")
    longest = LONGEST_OF_KUBERNETES if own else LONGEST
    if not SHORTEST <= seconds <= longest:
        why = f"must be in the range [{SHORTEST}, {longest}]"
        yield fieldpath.invalid(at, seconds, why)


def _uid(path: FieldPath, uid: str) -> Errors:
    if not uid:
        yield fieldpath.required(path, "must be set")
    if len(uid.encode()) > UID_BYTES:
        yield fieldpath.too_long(path, UID_BYTES)


def certificate_request_update(obj: JsonObject, old: JsonObject) -> Errors:
    """What is asked for stays."""
    if obj.get("spec") != old.get("spec"):
        shown = internal_value(
            obj.get("spec") or {}, "certificates.v1beta1.PodCertificateRequestSpec"
        )
        yield fieldpath.invalid(SPEC, shown, IMMUTABLE)
