"""What is said against bundles of trust anchors."""

from __future__ import annotations

import base64
from typing import Any

import pytest
from cryptography.x509 import BasicConstraints

from tests.kube.test_certificate_authorities import AUTHORITY, certificate
from tests.kube.validation.objects import complaints, obj, update_complaints

Json = dict[str, Any]


def pem(der: bytes, kind: str = "CERTIFICATE", header: str = "") -> str:
    text = base64.b64encode(der).decode()
    return f"-----BEGIN {kind}-----\n{header}{text}\n-----END {kind}-----\n"


ANCHOR = pem(AUTHORITY)
OTHER = pem(certificate(BasicConstraints(ca=True, path_length=1)))
LEAF = pem(certificate())


def bundle(text: str = ANCHOR, name: str = "a", **spec: Any) -> Json:
    return obj(
        "certificates.k8s.io/v1beta1",
        "ClusterTrustBundle",
        meta={"name": name},
        spec={"trustBundle": text, **spec},
    )


GOOD = [bundle(ANCHOR + OTHER), bundle(name="a.b:c:x", signerName="a.b/c")]


@pytest.mark.parametrize("value", GOOD)
def test_good_objects(value: Json) -> None:
    assert complaints(value) == []
    assert update_complaints(value, value) == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", ["at least one trust anchor must be provided"]),
        ("words", ["at least one trust anchor must be provided"]),
        (ANCHOR + OTHER + ANCHOR, ["duplicate trust anchor (indices [0 2])"]),
        (LEAF + ANCHOR + ANCHOR, ["entry 0 does not have the CA bit set"]),
        (pem(b"x") + pem(b"x", "KEY"), ["entry 0 does not parse as X.509",
                                        "entry 1 has bad block type: KEY"]),
        (pem(AUTHORITY, header="K: v\n\n"), ["entry 0 has PEM block headers"]),
    ],
)  # fmt: skip
def test_anchors(text: str, expected: list[str]) -> None:
    intro = 'spec.trustBundle: Invalid value: "<value omitted>": '
    assert complaints(bundle(text)) == [intro + one for one in expected]


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (bundle("x" * (1 << 20) + "x"),
         ["spec.trustBundle: Too long: may not be more than 1048576 bytes"]),
        (
            bundle(name="a:b"),
            [
                'metadata.name: Invalid value: "a:b": ClusterTrustBundle without signer name must '
                'not have ":" in its name'
            ],
        ),
        (
            bundle(signerName="a.b/c"),
            [
                'metadata.name: Invalid value: "a": ClusterTrustBundle for signerName a.b/c must '
                "be named with prefix a.b:c:"
            ],
        ),
    ],
)  # fmt: skip
def test_complaints(value: Json, expected: list[str]) -> None:
    assert complaints(value) == expected


def test_changes() -> None:
    signed = bundle(name="a.b:c:x", signerName="a.b/c")
    other = bundle("x", name="a.b:c:x", signerName="a.b/d")
    assert update_complaints(other, signed)[1:] == [
        'spec.trustBundle: Invalid value: "<value omitted>": at least one trust anchor must be '
        "provided",
        'spec.signerName: Invalid value: "a.b/d": field is immutable',
    ]
