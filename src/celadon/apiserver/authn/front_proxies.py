"""Users whom a front proxy vouches for: it shows its certificate, and headers say who asks.

As k8s.io/apiserver `pkg/authentication/request/headerrequest`, and the verifier of `x509` beside
it.
"""

from __future__ import annotations

import datetime
from collections.abc import Iterator, Sequence
from typing import Final
from urllib.parse import unquote

from celadon.apiserver.aggregation.proxy_settings import ProxySettings
from celadon.apiserver.authn.client_certificates import CertificateRefused, common_name, subject_of
from celadon.apiserver.http_messages import Header
from celadon.kube import User
from celadon.patterns import late_pattern

_MALFORMED: Final = late_pattern("%(?![0-9A-Fa-f]{2})")


def vouched_user(
    settings: ProxySettings, certificate: bytes, headers: Sequence[Header], now: datetime.datetime
) -> User | None:
    """The transport has checked that `certificate` (DER) is of an authority of front proxies.
    None if no header names anybody; raises CertificateRefused."""
    proxy = common_name(subject_of(certificate, now))
    if settings.allowed_names and proxy not in settings.allowed_names:
        raise CertificateRefused(f"x509: subject with cn={proxy} is not in the allowed list")
    name = _first(headers, settings.user_headers)
    if not name:
        return None
    return User(
        name,
        tuple(value for value in _values(headers, settings.group_headers) if value),
        _first(headers, settings.uid_headers),
        _extra(headers, settings.extra_prefixes),
    )


def _values(headers: Sequence[Header], names: Sequence[str]) -> Iterator[str]:
    """Those of all headers, in the order of their names."""
    for wanted in names:
        yield from (value for name, value in headers if name == wanted.lower())


def _first(headers: Sequence[Header], names: Sequence[str]) -> str:
    """Of each header, only what it says first counts; empty if none says anything."""
    firsts = (next(_values(headers, (name,)), "") for name in names)
    return next((value for value in firsts if value), "")


def _extra(headers: Sequence[Header], prefixes: Sequence[str]) -> dict[str, tuple[str, ...]]:
    found: dict[str, tuple[str, ...]] = {}
    for prefix in (one.lower() for one in prefixes):
        for name, value in headers:
            if name.startswith(prefix):
                key = _unescaped(name[len(prefix) :])
                found[key] = (*found.get(key, ()), value)
    return found


def _unescaped(key: str) -> str:
    """Return the key as it was sent if it is not well escaped."""
    return key if _MALFORMED.search(key) else unquote(key)
