"""How to reach a cluster of etcd: the settings of kube-apiserver's flags of the same names."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

from celadon.records import dataclass

DEFAULT_PORT: Final = 2379


@dataclass(frozen=True, slots=True)
class Endpoint:
    """`address` is a host and a port."""

    address: str
    is_secure: bool

    def __str__(self) -> str:
        return f"http{'s' * self.is_secure}://{self.address}"


def parse_endpoints(text: str) -> tuple[Endpoint, ...]:
    """URLs separated by commas. Raises ValueError."""
    return tuple(_endpoint(one.strip()) for one in text.split(",") if one.strip())


def _endpoint(url: str) -> Endpoint:
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ValueError(f"`{url}` is not http://HOST:PORT or https://HOST:PORT")
    host = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
    return Endpoint(f"{host}:{parts.port or DEFAULT_PORT}", parts.scheme == "https")


@dataclass(frozen=True, slots=True)
class EtcdSettings:
    """Members are asked in the order given: the next one only when one fails. Files are in PEM form
    and read for each new connection. In etcd, keys have `prefix` where ours have `root` (a key
    begins with it)."""

    endpoints: Sequence[Endpoint]
    authorities: Path | None = None
    certificate: Path | None = None
    private_key: Path | None = None
    root: str = ""
    prefix: str = ""
