"""What is said against requests of pods for certificates, and against answers to them."""

from __future__ import annotations

import base64
from datetime import UTC, datetime, timedelta
from functools import cache
from typing import Any

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, padding, rsa
from cryptography.x509.oid import NameOID

from celadon.kube.authorization import Ruling, User
from celadon.kube.registry.strategy import POD_CERTIFICATE, Surroundings, right_to_sign
from celadon.kube.validation.certificates import certificate_request_status
from tests.kube.validation.objects import complaints, obj, update_complaints

Json = dict[str, Any]
START = datetime(2026, 1, 1, tzinfo=UTC)
SECONDS = 86400
EXACTLY_ONE = (
    "spec: Invalid value: exactly one of (stubPKCS10Request) or (pkixPublicKey, proofOfPossession) "
    "must be set"
)


@cache
def key(kind: str = "P256") -> Any:
    if kind.startswith("RSA"):
        return rsa.generate_private_key(65537, int(kind[3:]))
    if kind == "Ed25519":
        return ed25519.Ed25519PrivateKey.generate()
    return ec.generate_private_key(getattr(ec, f"SECP{kind[1:]}R1")())


def text(content: bytes) -> str:
    return base64.b64encode(content).decode()


def stub(kind: str = "P256", *, signed: bool = True) -> str:
    digest = None if kind == "Ed25519" else hashes.SHA256()
    made = (
        x509.CertificateSigningRequestBuilder().subject_name(x509.Name([])).sign(key(kind), digest)
    )
    content = bytearray(made.public_bytes(serialization.Encoding.DER))
    if not signed:
        content[-1] ^= 1
    return text(bytes(content))


def proof(kind: str, uid: str = "u") -> str:
    private, message = key(kind), uid.encode()
    if kind == "Ed25519":
        return text(private.sign(message))
    if kind.startswith("RSA"):
        salted = padding.PSS(padding.MGF1(hashes.SHA256()), 20)
        return text(private.sign(message, salted, hashes.SHA256()))
    return text(private.sign(message, ec.ECDSA(hashes.SHA256())))


def request(**spec: Any) -> Json:
    found = {
        "signerName": "a.b/c", "podName": "p", "podUID": "u", "serviceAccountName": "s",
        "serviceAccountUID": "u", "nodeName": "n", "nodeUID": "u", "maxExpirationSeconds": SECONDS,
        **spec,
    }  # fmt: skip
    if not found.keys() & {"stubPKCS10Request", "pkixPublicKey", "proofOfPossession"}:
        found["stubPKCS10Request"] = stub()
    return obj("certificates.k8s.io/v1beta1", "PodCertificateRequest", spec=found)


def with_key(kind: str, uid: str = "u") -> Json:
    form = serialization.Encoding.DER, serialization.PublicFormat.SubjectPublicKeyInfo
    public = text(key(kind).public_key().public_bytes(*form))
    return request(pkixPublicKey=public, proofOfPossession=proof(kind, uid))


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (request(), []),
        (request(stubPKCS10Request=stub("Ed25519")), []),
        *((with_key(kind), []) for kind in ("Ed25519", "P384", "RSA3072")),
        *(
            (with_key(kind, "v"), [
                "spec.proofOfPossession: Invalid value: could not verify proof-of-possession "
                "signature",
            ])
            for kind in ("Ed25519", "P384", "RSA3072")
        ),
        (request(podUID="", nodeUID="x" * 129, maxExpirationSeconds=1), [
            'spec.podUID: Invalid value: "": must not be empty',
            "spec.nodeUID: Too long: may not be more than 128 bytes",
            "spec.maxExpirationSeconds: Invalid value: 1: must be in the range [3600, 7862400]",
        ]),
        (request(signerName="kubernetes.io/a", maxExpirationSeconds=90000), [
            "spec.maxExpirationSeconds: Invalid value: 90000: must be in the range [3600, 86400]",
        ]),
        (request(unverifiedUserAnnotations={"A.b/c": "", "d": "", "": "x" * (256 << 10)}), [
            "spec.unverifiedUserAnnotations: Required value",
            'spec.unverifiedUserAnnotations: Invalid value: "d": must be a domain-prefixed key '
            '(such as "acme.io/foo")',
            "spec.unverifiedUserAnnotations: Too long: may not be more than 262144 bytes",
        ]),
        (request(stubPKCS10Request=""), [EXACTLY_ONE]),
        (request(stubPKCS10Request=stub(), proofOfPossession="YQ=="), [EXACTLY_ONE]),
        (request(stubPKCS10Request="YQ=="), [
            "spec.stubPKCS10Request: Invalid value: must be a valid PKCS#10 CSR",
        ]),
        (request(stubPKCS10Request=stub(signed=False)), [
            "spec.stubPKCS10Request: Invalid value: invalid signature",
        ]),
        (request(stubPKCS10Request=stub("RSA2048")), [
            'spec.stubPKCS10Request: Invalid value: "2048-bit modulus": RSA keys must have modulus '
            "size 3072 or 4096",
        ]),
        (request(stubPKCS10Request=stub("P224")), [
            'spec.stubPKCS10Request: Invalid value: "curve P-224": elliptic public keys must use '
            "curve P256, P384, or P521",
        ]),
        (request(stubPKCS10Request=text(b"x" * 10241)), [
            "spec.stubPKCS10Request: Too long: may not be more than 10240 bytes",
        ]),
        (with_key("P224"), [
            'spec.pkixPublicKey: Invalid value: "curve P-224": elliptic public keys must use curve '
            "P256 or P384",
        ]),
        (request(pkixPublicKey="YQ==", proofOfPossession="YQ=="), [
            'spec.pkixPublicKey: Invalid value: "YQ==": must be a valid PKIX-serialized public key',
        ]),
    ],
)  # fmt: skip
def test_requests(value: Json, expected: list[str]) -> None:
    assert complaints(value) == expected


def test_a_request_stays() -> None:
    (found,) = update_complaints(request(podName="q"), request())
    assert found.startswith('spec: Invalid value: {"SignerName":"a.b/c","PodName":"q",')
    assert found.endswith(": field is immutable")


@cache
def chain(kind: str = "P256", hours: int = 24) -> str:
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "a")])
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key(kind).public_key())
        .serial_number(1)
        .not_valid_before(START)
        .not_valid_after(START + timedelta(hours=hours))
        .sign(key(), hashes.SHA256())
    )
    return made.public_bytes(serialization.Encoding.PEM).decode()


def condition(kind: str, state: str = "True") -> Json:
    return {
        "type": kind, "status": state, "lastTransitionTime": "2026-01-01T00:00:00Z", "reason": "R",
        "message": "",
    }  # fmt: skip


def status(kind: str = "", **fields: Any) -> Json:
    return {"conditions": [condition(kind)] if kind else [], **fields}


def issued(certificates: str = "", **fields: Any) -> Json:
    return status(
        "Issued",
        **{
            "certificateChain": certificates or chain(),
            "notBefore": "2026-01-01T00:00:00Z",
            "notAfter": "2026-01-02T00:00:00Z",
            "beginRefreshAt": "2026-01-01T12:00:00Z",
            **fields,
        },
    )


BLOCK = "-----BEGIN KEY-----\nYQ==\n-----END KEY-----\n"
BROKEN = "-----BEGIN CERTIFICATE-----\nYQ==\n-----END CERTIFICATE-----\n"


def quoted(certificates: str) -> str:
    return '"' + certificates.replace("\n", "\\n") + '"'


@pytest.mark.parametrize(
    ("new", "old", "expected"),
    [
        (issued(), status(), []),
        (issued(chain() + chain()), status(), []),
        (status("Denied"), status(), []),
        (status("Denied"), status("Denied"), []),
        ({"conditions": [condition("Failed", "False"), condition("Issued"), condition("X")]}, {}, [
            'status.conditions.[0].status: Unsupported value: "False": supported values: "True"',
            'status.conditions.[1].type: Invalid value: "Issued": There may be at most one '
            'condition with type "Issued", "Denied", or "Failed"',
            'status.conditions.[2].type: Unsupported value: "X": supported values: "Issued", '
            '"Denied", "Failed"',
        ]),
        (status("Failed"), status("Denied"), [
            "status: Invalid value: immutable after PodCertificateRequest is issued, denied, or "
            "failed",
        ]),
        (status("Failed", notBefore="2026-01-01T00:00:00Z"), {}, [
            "status: Invalid value: non-condition status fields must be empty when denying or "
            "failing the PodCertificateRequest",
        ]),
        (status(notBefore="2026-01-01T00:00:00Z"), {}, [
            "status: Invalid value: status is immutable unless transitioning to "
            '"Issued", "Denied", or "Failed"',
        ]),
        (status("Issued"), {}, [
            'status.certificateChain: Invalid value: "": issued certificate chain must contain at '
            "least one certificate",
        ]),
        (issued(BLOCK), {}, [
            f"status.certificateChain: Invalid value: {quoted(BLOCK)}: issued certificate chain "
            "must consist entirely of CERTIFICATE PEM blocks",
        ]),
        (issued(BROKEN), {}, [
            f"status.certificateChain: Invalid value: {quoted(BROKEN)}: leaf certificate does not "
            "parse as valid X.509",
        ]),
        (issued(chain("P384")), {}, [
            f"status.certificateChain: Invalid value: {quoted(chain('P384'))}: leaf certificate "
            "was not issued to the requested public key",
        ]),
        (status("Issued", certificateChain=chain()), {}, [
            "status.notBefore: Required value: must be present and consistent with the issued "
            "certificate",
            "status.notAfter: Required value: must be present and consistent with the issued "
            "certificate",
            "status.beginRefreshAt: Required value: must be present and in the range "
            "[notbefore+10min, notafter-10min]",
        ]),
        (issued(notBefore="2026-01-01T00:00:01Z"), {}, [
            'status.notBefore: Invalid value: "2026-01-01T00:00:01Z": must be set to the NotBefore '
            "time encoded in the leaf certificate",
        ]),
        (issued(notAfter="2026-01-01T00:00:01Z"), {}, [
            'status.notAfter: Invalid value: "2026-01-01T00:00:01Z": must be set to the NotAfter '
            "time encoded in the leaf certificate",
        ]),
        (issued(chain(hours=0), notAfter="2026-01-01T00:00:00Z"), {}, [
            "status.certificateChain: Invalid value: 0: leaf certificate lifetime must be >= 1 "
            "hour",
        ]),
        (issued(chain(hours=25), notAfter="2026-01-02T01:00:00Z"), {}, [
            "status.certificateChain: Invalid value: 90000000000000: leaf certificate lifetime "
            "must be <= spec.maxExpirationSeconds (86400)",
        ]),
        (issued(beginRefreshAt="2026-01-01T00:09:59Z"), {}, [
            'status.beginRefreshAt: Invalid value: "2026-01-01T00:09:59Z": must be at least 10 '
            "minutes after status.notBefore",
        ]),
        (issued(beginRefreshAt="2026-01-01T23:50:01Z"), {}, [
            'status.beginRefreshAt: Invalid value: "2026-01-01T23:50:01Z": must be at least 10 '
            "minutes before status.notAfter",
        ]),
        (issued(both := chain() + BROKEN), {}, [
            f"status.certificateChain: Invalid value: {quoted(both)}: intermediate certificate "
            "does not parse as valid X.509",
        ]),
    ],
)  # fmt: skip
def test_answers(new: Json, old: Json, expected: list[str]) -> None:
    asked = request()
    given = certificate_request_status({**asked, "status": new}, {**asked, "status": old})
    assert list(map(str, given)) == expected


@pytest.mark.parametrize("end", [b"261301000000Z", b"260102000000\xff", b"2601020000000"])
def test_a_leaf_whose_times_are_none(end: bytes) -> None:
    der = x509.load_pem_x509_certificate(chain().encode()).public_bytes(serialization.Encoding.DER)
    assert der.count(b"260102000000Z") == 1
    bad = base64.b64encode(der.replace(b"260102000000Z", end)).decode()
    given = f"-----BEGIN CERTIFICATE-----\n{bad}\n-----END CERTIFICATE-----\n"
    found = certificate_request_status({**request(), "status": issued(given)}, request())
    assert [str(one).rpartition(": ")[2] for one in found] == [
        "leaf certificate does not parse as valid X.509"
    ]


@pytest.mark.parametrize("allowed", ["a.b/c", "a.b/*", "other"])
def test_who_may_answer(allowed: str) -> None:
    around = Surroundings(
        User("jane"),
        authorize=lambda asked: (
            Ruling.ALLOW if (asked.verb, asked.name) == ("sign", allowed) else Ruling.NO_OPINION,
            "",
            None,
        ),
    )
    asked = request()
    answered = {**asked, "status": status("Denied")}
    found = list(map(str, right_to_sign(POD_CERTIFICATE, answered, asked, around)))
    refused = (
        'spec.signerName: Forbidden: User "jane" is not permitted to "sign" for signer "a.b/c"'
    )
    assert found == ([] if allowed != "other" else [refused])
