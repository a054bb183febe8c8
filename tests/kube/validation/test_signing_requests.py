"""What is said against requests for certificates."""

from __future__ import annotations

import base64
from typing import Any

import pytest

from celadon.kube.validation.certificates import USAGES, request_approval, request_status
from celadon.kube.validation.object_meta import Update
from tests.kube.test_certificate_authorities import AUTHORITY
from tests.kube.test_certificate_requests import GOOD, pem
from tests.kube.validation.objects import complaints, obj, update_complaints

PEM = pem(GOOD).decode()


def encoded(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


def encoded_bytes(content: bytes) -> str:
    return base64.b64encode(content).decode()


def request(**spec: Any) -> dict[str, Any]:
    fine = {"request": encoded(PEM), "signerName": "a.b/c", "usages": ["client auth"]}
    return obj("certificates.k8s.io/v1", "CertificateSigningRequest", spec={**fine, **spec})


def test_a_good_request() -> None:
    assert complaints(request(expirationSeconds=600, usages=list(USAGES))) == []
    assert complaints(request(request=encoded(f"words\n{PEM}"))) == []
    assert complaints(request(request=encoded(PEM.replace("-\nMI", "-\nHeader: x\n\nMI")))) == []


def test_a_request_that_nobody_has_signed() -> None:
    junk = "-----BEGIN CERTIFICATE REQUEST-----\nMIIB\n-----END CERTIFICATE REQUEST-----\n"
    (found,) = complaints(request(request=encoded(junk)))
    assert found.endswith(": asn1: syntax error: truncated tag or length")
    (found,) = complaints(request(request=encoded(pem(GOOD[:-1] + b"\0").decode())))
    assert found.endswith(": x509: ECDSA verification failure")


@pytest.mark.parametrize("text", ["", "words", PEM.replace(" REQUEST", ""), PEM.replace("MI", "*")])
def test_what_is_no_request(text: str) -> None:
    (found,) = complaints(request(request=encoded(text)))
    assert found.startswith("spec.request: Invalid value: ")
    assert found.endswith(": PEM block type must be CERTIFICATE REQUEST")


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        ({"usages": []}, ["spec.usages: Required value"]),
        (
            {"usages": ["signing", "signing"]},
            ['spec.usages[1]: Duplicate value: "signing"'],
        ),
        (
            {"expirationSeconds": 599},
            [
                "spec.expirationSeconds: Invalid value: 599: may not specify a duration less than "
                "600 seconds (10 minutes)"
            ],
        ),
        ({"signerName": ""}, ["spec.signerName: Required value"]),
        (
            {"signerName": "kubernetes.io/legacy-unknown"},
            [
                'spec.signerName: Invalid value: "kubernetes.io/legacy-unknown": the legacy '
                "signerName is not allowed via this API version"
            ],
        ),
        (
            {"signerName": "a.b"},
            [
                'spec.signerName: Invalid value: "a.b": must be a fully qualified domain and path '
                "of the form 'example.com/signer-name'"
            ],
        ),
        (
            {"signerName": "a/b"},
            [
                'spec.signerName: Invalid value: "a": should be a domain with at least two '
                "segments separated by dots"
            ],
        ),
        (
            {"signerName": f"{'a.' * 127}b/c"},
            ["spec.signerName: Too long: may not be more than 253 bytes"],
        ),
        (
            {"signerName": f"a.b/{'.'.join(['c' * 250] * 3)}"},
            ["spec.signerName: Too long: may not be more than 571 bytes"],
        ),
    ],
)
def test_complaints(spec: dict[str, Any], expected: list[str]) -> None:
    assert complaints(request(**spec)) == expected


def test_usages_that_nobody_knows() -> None:
    (found,) = complaints(request(usages=["any", "flying"]))
    assert found == (
        'spec.usages[1]: Unsupported value: "flying": supported values: "any", "cert sign", '
        '"client auth", "code signing", "content commitment", "crl sign", "data encipherment", '
        '"decipher only", "digital signature", "email protection", "encipher only", '
        '"ipsec end system", "ipsec tunnel", "ipsec user", "key agreement", "key encipherment", '
        '"microsoft sgc", "netscape sgc", "ocsp signing", "s/mime", "server auth", "signing", '
        '"timestamping"'
    )


@pytest.mark.parametrize("name", ["a.B.C/d", "a.b/C.D"])
def test_one_bad_label_is_enough(name: str) -> None:
    (found,) = complaints(request(signerName=name))
    assert 'validating label "B": a lowercase' in found or 'validating label "C": a' in found


CERTIFICATE = (
    f"-----BEGIN CERTIFICATE-----\n{encoded_bytes(AUTHORITY)}\n-----END CERTIFICATE-----\n"
)
APPROVED, DENIED = ({"type": kind, "status": "True"} for kind in ("Approved", "Denied"))
AT = "status.conditions"


@pytest.mark.parametrize(
    ("rule", "new", "old", "expected"),
    [
        (request_approval, {"conditions": [APPROVED]}, {}, []),
        (request_status, {"certificate": encoded(CERTIFICATE)}, {}, []),
        (
            request_status,
            {"conditions": [APPROVED]},
            {"conditions": []},
            [f'{AT}: Forbidden: updates may not add a condition of type "Approved"'],
        ),
        (
            request_approval,
            {"conditions": [APPROVED, DENIED, {"type": "", "status": ""}]},
            {},
            [
                f'{AT}: Invalid value: "Denied": Approved and Denied conditions are '
                "mutually exclusive",
                f"{AT}[2].type: Required value",
                f"{AT}[2].status: Required value",
            ],
        ),
        (
            request_approval,
            {"conditions": [{"type": "Approved", "status": "False"}, APPROVED,
                            {"type": "A", "status": "x"}]},
            {},
            [
                f'{AT}[0].status: Unsupported value: "False": supported values: "True"',
                f'{AT}[1].type: Duplicate value: "Approved"',
                f'{AT}[2].status: Unsupported value: "x": supported values: "False", "True", '
                '"Unknown"',
            ],
        ),
        (
            request_approval,
            {"certificate": encoded("x")},
            {"conditions": [APPROVED]},
            [
                'status.certificate: Invalid value: "<certificate data>": must contain at least '
                "one CERTIFICATE PEM block",
                f'{AT}: Forbidden: updates may not remove a condition of type "Approved"',
                "status.certificate: Forbidden: updates may not set certificate content",
            ],
        ),
        (
            request_status,
            {"certificate": encoded(PEM)},
            {"certificate": encoded(CERTIFICATE)},
            [
                'status.certificate: Invalid value: "<certificate data>": only CERTIFICATE PEM '
                'blocks are allowed, found "CERTIFICATE REQUEST"',
                "status.certificate: Forbidden: updates may not modify existing certificate "
                "content",
            ],
        ),
        (
            request_status,
            {"conditions": [{**APPROVED, "reason": "R"}]},
            {"conditions": [APPROVED]},
            [
                f'{AT}: Forbidden: updates may not modify a condition of type "Approved"\n'
                '@@ -2,7 +2,7 @@\n  {\n   "Type": "Approved",\n   "Status": "True",\n'
                '-  "Reason": "",\n+  "Reason": "R",\n   "Message": "",\n'
                '   "LastUpdateTime": null,\n   "LastTransitionTime": null\n'
            ],
        ),
    ],
)  # fmt: skip
def test_statuses(
    rule: Update, new: dict[str, Any], old: dict[str, Any], expected: list[str]
) -> None:
    assert list(map(str, rule({"status": new}, {"status": old}))) == expected


def test_certificates_of_the_status() -> None:
    texts = {
        CERTIFICATE.replace("-----\n", "-----\nK: v\n\n", 1): "no PEM block headers are permitted",
        "-----BEGIN CERTIFICATE-----\nYQ==\n-----END CERTIFICATE-----\n": (
            "x509: malformed certificate"
        ),
    }
    for text, why in texts.items():
        (found,) = request_status({"status": {"certificate": encoded(text)}}, {})
        assert str(found) == f'status.certificate: Invalid value: "<certificate data>": {why}'


def test_nothing_is_said_of_a_change() -> None:
    assert update_complaints(request(), request()) == []
