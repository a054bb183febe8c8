"""OpenAPI v3 documents: from a folder, or from a server's `/openapi/v3`.

A server lists its documents under `paths`, each with the address it is at. Saved documents are
`.json` files, however they are named; the list itself (`index.json`) may be among them.
"""

from __future__ import annotations

import json
import os
import ssl
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from celadon.cli.reading.problems import Problem
from celadon.records import dataclass

MAX_DOCUMENT_BYTES: Final = 64 * 1024 * 1024
_ENTRY: Final = "/openapi/v3"
_TIMEOUT: Final = 30.0
"""Seconds that a server may take to answer."""


@dataclass(frozen=True, slots=True)
class Access:
    """How to speak to a server: a bearer token, the file of its CA certificates."""

    token: str = ""
    ca_file: str = ""
    insecure: bool = False


def is_url(source: str) -> bool:
    """Whether the documents are on a server."""
    return source.startswith(("http://", "https://"))


def documents(source: str, access: Access) -> Iterator[dict[str, Any] | Problem]:
    """Every document of a folder, file or server; a problem for each that cannot be had."""
    if is_url(source):
        yield from _served(source, access)
        return
    path = Path(source)
    paths = sorted(path.rglob("*.json")) if path.is_dir() else [path]
    if not paths:
        yield Problem(source, 0, "no .json file in this folder")
    for one in paths:
        found = _saved(one)
        if isinstance(found, Problem) or "components" in found:
            yield found


def _saved(path: Path) -> dict[str, Any] | Problem:
    try:
        if os.path.getsize(path) > MAX_DOCUMENT_BYTES:
            return Problem(str(path), 0, "larger than an OpenAPI document should be")
        return _decoded(str(path), path.read_bytes())
    except OSError as error:
        return Problem(str(path), 0, f"cannot be read: {(error.strerror or str(error)).lower()}")


def _decoded(name: str, data: bytes) -> dict[str, Any] | Problem:
    try:
        found = json.loads(data)
    except (ValueError, RecursionError):
        return Problem(name, 0, "not a JSON document")
    return found if isinstance(found, dict) else Problem(name, 0, "not a JSON object")


def _served(url: str, access: Access) -> Iterator[dict[str, Any] | Problem]:
    entry = url if url.rstrip("/").endswith(_ENTRY) else url.rstrip("/") + _ENTRY
    index = _fetched(entry, access)
    if isinstance(index, Problem):
        yield index
        return
    paths = index.get("paths")
    if not isinstance(paths, dict):
        yield Problem(entry, 0, "not a list of OpenAPI documents")
        return
    for name in sorted(paths):
        address = paths[name].get("serverRelativeURL") if isinstance(paths[name], dict) else None
        if not isinstance(address, str):
            yield Problem(entry, 0, f"no address for `{name}`")
            continue
        # The list may not lead to another server: the token is for this one.
        joined = urllib.parse.urljoin(entry, address)
        if urllib.parse.urlsplit(joined)[:2] != urllib.parse.urlsplit(entry)[:2]:
            yield Problem(entry, 0, f"`{name}` is on another server")
            continue
        yield _fetched(joined, access)


def _fetched(url: str, access: Access) -> dict[str, Any] | Problem:
    request = urllib.request.Request(url, headers={"Accept": "application/json"})
    if access.token:
        request.add_header("Authorization", f"Bearer {access.token}")
    try:
        with urllib.request.urlopen(
            request, timeout=_TIMEOUT, context=_context(url, access)
        ) as response:
            data = response.read(MAX_DOCUMENT_BYTES + 1)
    except (urllib.error.URLError, OSError, ValueError) as error:
        reason = getattr(error, "reason", error)
        return Problem(url, 0, f"cannot be fetched: {str(reason).lower()}")
    if len(data) > MAX_DOCUMENT_BYTES:
        return Problem(url, 0, "larger than an OpenAPI document should be")
    return _decoded(url, data)


def _context(url: str, access: Access) -> ssl.SSLContext | None:
    if not url.startswith("https://"):
        return None
    context = ssl.create_default_context(cafile=access.ca_file or None)
    context.verify_flags |= ssl.VERIFY_X509_PARTIAL_CHAIN  # as kubectl: what is given is trusted
    context.verify_flags &= ~ssl.VERIFY_X509_STRICT
    if access.insecure:
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    return context
