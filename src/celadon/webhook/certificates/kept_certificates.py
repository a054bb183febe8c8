"""What a Secret keeps of our own authority, and what is to be done about it next.

`ca.crt` are all authorities that clients should trust, the newest first, whose key is `ca.key`;
`tls.crt` and `tls.key` are what the webhook shows. An authority is changed in steps, each of which
leaves everybody able to connect: the new one is put before the old one; when all configurations
have had both for a while, the webhook's certificate is signed by the new one; the old one goes when
it ends. `renewed` takes the next step, if there is one. Nothing here talks to anybody.
"""

from __future__ import annotations

import base64
import binascii
import datetime
import re
from collections.abc import Iterable, Mapping
from dataclasses import field, replace
from typing import Final

from cryptography import x509
from cryptography.exceptions import InvalidSignature

from celadon.patterns import late_pattern
from celadon.records import dataclass
from celadon.serve.tls.issuing import (
    Pair,
    authority_certificate,
    covers_names,
    new_elliptic_key,
    server_certificate,
)

AUTHORITY_NAME: Final = "celadon-webhook-ca"
SERVER_NAME: Final = "celadon-webhook"
AUTHORITY_LIFE: Final = datetime.timedelta(days=365)
AUTHORITY_LEAD: Final = datetime.timedelta(days=90)
"""So long before its end an authority gets a successor."""
CERTIFICATE_LIFE: Final = datetime.timedelta(days=90)
CERTIFICATE_LEAD: Final = datetime.timedelta(days=30)
URGENT: Final = datetime.timedelta(days=1)
"""So long before its end a certificate is renewed whoever may trust the new one."""

_BLOCK: Final = late_pattern(
    rb"-----BEGIN CERTIFICATE-----.*?-----END CERTIFICATE-----\n?", re.DOTALL
)


class BrokenSecret(ValueError):
    """A Secret without a certificate and its key."""


@dataclass(frozen=True, slots=True)
class KeptCertificates:
    """PEM. `authorities` are the newest first; `pair` is what the webhook shows."""

    authorities: tuple[bytes, ...]
    authority_key: bytes = field(repr=False)
    pair: Pair

    @property
    def bundle(self) -> bytes:
        """What clients should trust."""
        return b"".join(self.authorities)

    @property
    def newest(self) -> bytes:
        """The authority that signs."""
        return self.authorities[0]


@dataclass(frozen=True, slots=True)
class Wish:
    """`names` are those by which the webhook is reached; `trusted` says that all configurations
    have had the newest authority for long enough; `renew` is what somebody wants to have renewed
    now: `authority`, `certificate`, or nothing."""

    names: tuple[str, ...]
    trusted: bool = False
    renew: str = ""


def renewed(
    kept: KeptCertificates | None, wish: Wish, now: datetime.datetime
) -> KeptCertificates | None:
    """The next step; None if there is nothing to do. `kept` None is: nothing that could be used."""
    if kept is None:
        return _begun(wish, now)
    authorities = tuple(
        one for at, one in enumerate(kept.authorities) if at == 0 or not _ends_by(one, now)
    )
    changed = replace(kept, authorities=authorities)
    is_under_way = not _signed(kept.pair, kept.newest)
    is_due = _ends_by(kept.newest, now + AUTHORITY_LEAD) or wish.renew == "authority"
    if is_due and not is_under_way:
        key = new_elliptic_key()
        added = authority_certificate(key, AUTHORITY_NAME, now, AUTHORITY_LIFE)
        return replace(changed, authorities=(added, *authorities), authority_key=key)
    if _wants_pair(changed, wish, now) and _may_renew(changed, wish, now):
        return replace(changed, pair=_pair(changed.newest, changed.authority_key, wish, now))
    return changed if changed != kept else None


def _begun(wish: Wish, now: datetime.datetime) -> KeptCertificates:
    key = new_elliptic_key()
    authority = authority_certificate(key, AUTHORITY_NAME, now, AUTHORITY_LIFE)
    return KeptCertificates((authority,), key, _pair(authority, key, wish, now))


def _pair(authority: bytes, key: bytes, wish: Wish, now: datetime.datetime) -> Pair:
    own = new_elliptic_key()
    signer = Pair(authority, key)
    certificate = server_certificate(signer, own, SERVER_NAME, wish.names, now, CERTIFICATE_LIFE)
    return Pair(certificate, own)


def _wants_pair(kept: KeptCertificates, wish: Wish, now: datetime.datetime) -> bool:
    return (
        wish.renew == "certificate"
        or not _names_all(kept.pair, wish.names)
        or not _signed(kept.pair, kept.newest)
        or _ends_by(kept.pair.certificate, now + CERTIFICATE_LEAD)
    )


def _may_renew(kept: KeptCertificates, wish: Wish, now: datetime.datetime) -> bool:
    """Whether clients that connect now would trust what the newest authority signs; or have no
    reason to trust what there is."""
    return (
        wish.trusted
        or len(kept.authorities) == 1
        or not _names_all(kept.pair, wish.names)
        or _ends_by(kept.pair.certificate, now + URGENT)
    )


def _names_all(pair: Pair, names: Iterable[str]) -> bool:
    return covers_names(x509.load_pem_x509_certificate(pair.certificate), names)


def _signed(pair: Pair, authority: bytes) -> bool:
    certificate = x509.load_pem_x509_certificate(pair.certificate)
    try:
        certificate.verify_directly_issued_by(x509.load_pem_x509_certificate(authority))
    except (InvalidSignature, TypeError, ValueError):
        return False
    return True


def _ends_by(certificate: bytes, moment: datetime.datetime) -> bool:
    return x509.load_pem_x509_certificate(certificate).not_valid_after_utc <= moment


def pair_in(data: Mapping[str, str]) -> Pair:
    """What a Secret's `data` says is to be shown; its own, or cert-manager's. Raises
    BrokenSecret."""
    pair = Pair(_decoded(data, "tls.crt"), _decoded(data, "tls.key"))
    try:
        x509.load_pem_x509_certificate(pair.certificate)
    except ValueError:
        raise BrokenSecret("`tls.crt` is no certificate") from None
    return pair


def bundle_in(data: Mapping[str, str]) -> bytes:
    """The authorities, as PEM; empty if the Secret names none."""
    return _decoded(data, "ca.crt") if data.get("ca.crt") else b""


def kept_in(data: Mapping[str, str]) -> KeptCertificates:
    """Of a Secret that we wrote. Raises BrokenSecret."""
    authorities = tuple(_BLOCK.findall(_decoded(data, "ca.crt")))
    try:
        for one in authorities:
            x509.load_pem_x509_certificate(one)
    except ValueError:
        authorities = ()
    if not authorities:
        raise BrokenSecret("`ca.crt` has no certificate")
    return KeptCertificates(authorities, _decoded(data, "ca.key"), pair_in(data))


def secret_data(kept: KeptCertificates) -> dict[str, str]:
    """`data` of the Secret."""
    contents = {
        "ca.crt": kept.bundle,
        "ca.key": kept.authority_key,
        "tls.crt": kept.pair.certificate,
        "tls.key": kept.pair.key,
    }
    return {name: base64.b64encode(content).decode() for name, content in contents.items()}


def _decoded(data: Mapping[str, str], name: str) -> bytes:
    try:
        found = base64.b64decode(data.get(name) or "", validate=True)
    except binascii.Error:
        found = b""
    if not found:
        raise BrokenSecret(f"`{name}` is missing")
    return found
