"""Services of webhooks that are reached elsewhere than in a cluster's network, as the command line
says it: `NAMESPACE/NAME[:PORT]=HOST:PORT`, the right side also as the URL of a host."""

from __future__ import annotations

from collections.abc import Iterable
from urllib.parse import urlsplit

from celadon.kube.well_known_values import HTTPS_PORT

Services = dict[tuple[str, str, int], tuple[str, int]]


def given_services(texts: Iterable[str]) -> Services:
    """By namespace, name and port; a port of 0 is for all of them. Raises ValueError."""
    return dict(map(_given, texts))


def _given(text: str) -> tuple[tuple[str, str, int], tuple[str, int]]:
    service, equals, address = text.partition("=")
    namespace, slash, name = service.partition("/")
    name, colon, port = name.partition(":")
    found = urlsplit(address if "//" in address else f"//{address}")
    try:
        there = found.port or HTTPS_PORT
        number = int(port) if colon else 0
    except ValueError:
        there = 0
        number = -1
    readable = equals and slash and namespace and name and found.hostname and there
    plain = found.scheme in {"", "https"} and found.path in {"", "/"} and not found.query
    if not readable or not plain or not 0 <= number <= 65535 or (colon and not number):
        raise ValueError(f"`{text}` is not NAMESPACE/NAME[:PORT]=HOST:PORT")
    return (namespace, name, number), (found.hostname or "", there)
