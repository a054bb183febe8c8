"""An authority through its life, step by step: at no time a client is without one that fits."""

from __future__ import annotations

import datetime
import ssl

import pytest
from cryptography import x509

from celadon.apiserver.self_signed import Pair, new_elliptic_key
from celadon.webhook.certificates import (
    AUTHORITY_LEAD,
    AUTHORITY_LIFE,
    CERTIFICATE_LEAD,
    CERTIFICATE_LIFE,
    BrokenSecret,
    KeptCertificates,
    Wish,
    bundle_in,
    kept_in,
    pair_in,
    renewed,
    secret_data,
)

NOW = datetime.datetime(2026, 1, 1, tzinfo=datetime.UTC)
DAY = datetime.timedelta(days=1)
NAMES = ("hook.ns.svc", "10.0.0.1")
CALM = Wish(NAMES)
TRUSTED = Wish(NAMES, trusted=True)


def begun() -> KeptCertificates:
    made = renewed(None, CALM, NOW)
    assert made is not None
    return made


def authority_of(kept: KeptCertificates) -> bytes:
    """The one of the bundle that has signed what is shown."""
    shown = x509.load_pem_x509_certificate(kept.pair.certificate)
    for one in kept.authorities:
        try:
            shown.verify_directly_issued_by(x509.load_pem_x509_certificate(one))
        except ValueError:
            continue
        except Exception:  # noqa: BLE001  InvalidSignature has no base of its own
            continue
        return one
    raise AssertionError("nobody in the bundle has signed it")


def test_the_beginning() -> None:
    kept = begun()
    assert len(kept.authorities) == 1
    assert authority_of(kept) == kept.newest
    found = x509.load_pem_x509_certificate(kept.pair.certificate)
    assert found.not_valid_after_utc == NOW + CERTIFICATE_LIFE
    assert renewed(kept, CALM, NOW) is None
    assert renewed(kept, CALM, NOW + CERTIFICATE_LIFE - CERTIFICATE_LEAD - DAY) is None


RENEWALS: dict[str, tuple[Wish, datetime.timedelta]] = {
    "it ends soon": (CALM, CERTIFICATE_LIFE - CERTIFICATE_LEAD),
    "it has ended": (CALM, CERTIFICATE_LIFE + DAY),
    "another name": (Wish((*NAMES, "other.ns.svc")), DAY),
    "somebody wants it": (Wish(NAMES, renew="certificate"), DAY),
}


@pytest.mark.parametrize("row", RENEWALS.values(), ids=RENEWALS)
def test_a_certificate_is_renewed_by_the_same_authority(
    row: tuple[Wish, datetime.timedelta],
) -> None:
    kept = begun()
    wish, later = row
    made = renewed(kept, wish, NOW + later)
    assert made is not None
    assert made.pair != kept.pair
    assert made.authorities == kept.authorities
    assert authority_of(made) == kept.newest
    assert renewed(made, Wish(wish.names), NOW + later) is None


def lived(until: datetime.timedelta) -> KeptCertificates:
    """Looked at every ten days, as long as there is one authority."""
    kept, now = begun(), NOW
    while now < NOW + until - DAY:
        now += min(10 * DAY, NOW + until - DAY - now)
        kept = renewed(kept, TRUSTED, now) or kept
    return kept


@pytest.mark.parametrize(
    ("wish", "later"),
    [
        (Wish(NAMES, renew="authority"), DAY),
        (CALM, AUTHORITY_LIFE - AUTHORITY_LEAD),
    ],
)
def test_an_authority_is_changed_in_steps(wish: Wish, later: datetime.timedelta) -> None:
    kept, now = lived(later), NOW + later
    both = renewed(kept, wish, now)
    assert both is not None
    assert both.authorities[1:] == kept.authorities
    assert both.pair == kept.pair
    assert authority_of(both) == kept.newest, "still that of the old one"
    assert renewed(both, CALM, now) is None, "nobody knows yet whether the new one is trusted"
    assert renewed(both, Wish(NAMES, renew="authority"), now) is None, "one at a time"
    changed = renewed(both, TRUSTED, now)
    assert changed is not None
    assert authority_of(changed) == both.newest
    assert changed.authorities == both.authorities
    assert renewed(changed, TRUSTED, now) is None


def test_an_authority_goes_when_it_ends() -> None:
    old = begun()
    later = NOW + AUTHORITY_LIFE - AUTHORITY_LEAD
    both = renewed(old, Wish(NAMES, renew="authority"), later)
    assert both is not None
    new = renewed(both, TRUSTED, later)
    assert new is not None
    after = renewed(new, TRUSTED, NOW + AUTHORITY_LIFE - DAY)
    assert after is not None
    assert len(after.authorities) == 2
    last = renewed(after, TRUSTED, NOW + AUTHORITY_LIFE + DAY)
    assert last is not None
    assert last.authorities == (both.newest,)


def test_a_certificate_that_ends_does_not_wait_for_trust() -> None:
    both = renewed(begun(), Wish(NAMES, renew="authority"), NOW)
    assert both is not None
    assert renewed(both, CALM, NOW + CERTIFICATE_LIFE - 2 * DAY) is None
    made = renewed(both, CALM, NOW + CERTIFICATE_LIFE - DAY)
    assert made is not None
    assert authority_of(made) == both.newest


def test_a_secret_there_and_back() -> None:
    both = renewed(begun(), Wish(NAMES, renew="authority"), NOW)
    assert both is not None
    data = secret_data(both)
    assert kept_in(data) == both
    assert pair_in(data) == both.pair
    assert bundle_in(data) == both.bundle
    assert len(ssl.create_default_context(cadata=both.bundle.decode()).get_ca_certs()) == 2
    assert bundle_in({}) == b""


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("ca.crt", "", "`ca.crt` is missing"),
        ("ca.key", "?", "`ca.key` is missing"),
        ("ca.crt", "eA==", "`ca.crt` has no certificate"),
        ("tls.crt", "eA==", "`tls.crt` is no certificate"),
        ("tls.key", "", "`tls.key` is missing"),
    ],
)
def test_secrets_that_cannot_be_used(name: str, value: str, message: str) -> None:
    with pytest.raises(BrokenSecret, match=f"^{message}$"):
        kept_in({**secret_data(begun()), name: value})


def test_keys_are_not_printed() -> None:
    kept = begun()
    key = new_elliptic_key()
    assert "PRIVATE" not in repr(kept)
    assert "PRIVATE" not in repr(Pair(kept.newest, key))
