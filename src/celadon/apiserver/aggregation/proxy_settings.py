"""What a front proxy shows to the servers behind it, and by what those, and we, know one."""

from __future__ import annotations

import json
from pathlib import Path

from celadon.records import dataclass


@dataclass(frozen=True, slots=True)
class ProxySettings:
    """The flags of kube-apiserver. `certificate` and `key` are the files of what we show (PEM);
    the others say by which authority (PEM), common names and headers any front proxy is known.
    Nobody is known by an empty authority."""

    certificate: Path | None = None
    key: Path | None = None
    authorities: str = ""
    allowed_names: tuple[str, ...] = ()
    user_headers: tuple[str, ...] = ()
    uid_headers: tuple[str, ...] = ()
    group_headers: tuple[str, ...] = ()
    extra_prefixes: tuple[str, ...] = ()

    @property
    def fault(self) -> str:
        """Why a server does not start with these, in upstream's words; empty if it does."""
        lists = {
            "requestheader-username-headers": self.user_headers,
            "requestheader-group-headers": self.group_headers,
            "requestheader-extra-headers-prefix": self.extra_prefixes,
            "requestheader-allowed-names": self.allowed_names,
            "requestheader-uid-headers": self.uid_headers,
        }
        for flag, values in lists.items():
            if not all(one.strip() for one in values):
                return f'empty value in "{flag}"'
        if self.uid_headers and "x-remote-uid" not in (one.lower() for one in self.uid_headers):
            return (
                "--requestheader-uid-headers is set without specifying the standard X-Remote-Uid "
                "header - API aggregation will not work"
            )
        return ""

    def times(self) -> tuple[int, ...]:
        """When the files were written: others may take their place. Raises OSError."""
        files = (self.certificate, self.key)
        return tuple(one.stat().st_mtime_ns for one in files if one is not None)

    def data(self) -> dict[str, str]:
        """As extension servers read it in the ConfigMap `extension-apiserver-authentication`."""
        if not self.authorities:
            return {}
        found = {
            "requestheader-allowed-names": _list(self.allowed_names),
            "requestheader-client-ca-file": self.authorities,
            "requestheader-extra-headers-prefix": _list(self.extra_prefixes),
            "requestheader-group-headers": _list(self.group_headers),
            "requestheader-uid-headers": _list(self.uid_headers),
            "requestheader-username-headers": _list(self.user_headers),
        }
        if not self.uid_headers:
            del found["requestheader-uid-headers"]
        return found


def _list(values: tuple[str, ...]) -> str:
    return json.dumps(list(values), separators=(",", ":"))
