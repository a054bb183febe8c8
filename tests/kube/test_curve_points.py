"""Public keys of private ones, against a library that computes them another way."""

from __future__ import annotations

import pytest
from cryptography.hazmat.primitives.asymmetric import ec, ed25519
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from celadon.kube.x509 import P224, P256, P384, P521, Curve, ed25519_public_key


@pytest.mark.parametrize(
    ("curve", "other"),
    [
        (P224, ec.SECP224R1()),
        (P256, ec.SECP256R1()),
        (P384, ec.SECP384R1()),
        (P521, ec.SECP521R1()),
    ],
)
@pytest.mark.parametrize("secret", [1, 2, 3, 12345678901234567890])
def test_points(curve: Curve, other: ec.EllipticCurve, secret: int) -> None:
    key = ec.derive_private_key(secret, other).public_key()
    assert curve.public_key(secret) == key.public_bytes(
        Encoding.X962, PublicFormat.UncompressedPoint
    )


def test_no_secret_has_no_point() -> None:
    assert P256.public_key(0) == b"\0"


@pytest.mark.parametrize("seed", [bytes(32), bytes(range(32))])
def test_ed25519(seed: bytes) -> None:
    key = ed25519.Ed25519PrivateKey.from_private_bytes(seed).public_key()
    assert ed25519_public_key(seed) == key.public_bytes(Encoding.Raw, PublicFormat.Raw)
