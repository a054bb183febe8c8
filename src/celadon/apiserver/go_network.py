"""TCP and TLS for `httpcore`, over asyncio, whose failures have the words of Go's net packages.

A client of the API server reads these words when a webhook cannot be called, so a failure is told
where it happens: `NetworkFailure`, whose text is what follows `Post "https://...": `. As Go's
`net`, `crypto/tls` and `net/http` word them.
"""

from __future__ import annotations

import asyncio
import base64
import contextlib
import errno
import functools
import os
import socket
import ssl
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from ipaddress import ip_address
from typing import Any, Final, TypeVar

import httpcore
from cryptography import x509
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric import ed25519, rsa
from cryptography.hazmat.primitives.serialization import Encoding
from cryptography.x509.oid import ExtendedKeyUsageOID

from celadon.apiserver.http_messages import NetworkFailure
from celadon.apiserver.tls import trust_as_go
from celadon.apiserver.workers import aside
from celadon.kube.go import quote
from celadon.kube.x509 import CERTIFICATE, bundle_fault, pem_blocks
from celadon.late_patterns import late_pattern

# --- Certificates ------------------------------------------------------------
#
# Why a TLS handshake failed, as Go says it.
#
# OpenSSL decides whether a certificate is good; what it says about a bad one is less than Go
# does. So after a failed verification the certificate is fetched once more, by a handshake that
# verifies nothing and over which nothing is sent, to be looked at for the reason. As Go's
# `crypto/x509`, in its order: dates, names, authority, usages.

LOOK_SECONDS: Final = 5.0
"""How long the second look may take."""
LEGACY_NAME: Final = "certificate relies on legacy Common Name field, use SANs instead"
"""Of a certificate that has the name in its subject only."""
_PREFIX: Final = "tls: failed to verify certificate: x509: "
UNKNOWN_AUTHORITY: Final = "certificate signed by unknown authority"
WRONG_USAGE: Final = "certificate specifies an incompatible key usage"
_WRONG_PURPOSE: Final = 26
"""What OpenSSL calls X509_V_ERR_INVALID_PURPOSE."""
_SERVING: Final = frozenset(
    {ExtendedKeyUsageOID.SERVER_AUTH, ExtendedKeyUsageOID.ANY_EXTENDED_KEY_USAGE}
)
_MAX_SHOWN: Final = 100
"""Go counts names from so many on."""

_Extension = TypeVar("_Extension", bound=x509.ExtensionType)


async def handshake_failure(
    error: ssl.SSLError, address: tuple[str, int], name: str, pool: Sequence[x509.Certificate] = ()
) -> str:
    """Return the text about a handshake with `address` that was to prove the name `name`. `pool` is
    what was trusted, as far as it is known."""
    if isinstance(error, ssl.SSLCertVerificationError):
        certificate = await _certificate_of(*address)
        reason = UNKNOWN_AUTHORITY
        if certificate is not None:
            reason = certificate_failure(certificate, name, datetime.now(UTC), pool)
            if reason == UNKNOWN_AUTHORITY and error.verify_code == _WRONG_PURPOSE:
                reason = WRONG_USAGE
        return _PREFIX + reason
    if error.reason in {"WRONG_VERSION_NUMBER", "RECORD_LAYER_FAILURE"}:
        return "http: server gave HTTP response to HTTPS client"
    if error.reason == "UNEXPECTED_EOF_WHILE_READING":
        return "EOF"
    words = (error.reason or "handshake failure").lower().replace("_", " ")
    return f"remote error: tls: {words}"


async def _certificate_of(host: str, port: int) -> x509.Certificate | None:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    try:
        async with asyncio.timeout(LOOK_SECONDS):
            address, family = await _looked_up(host, port)
            _, writer = await asyncio.open_connection(
                address, port, family=family, ssl=context, server_hostname=host
            )
    except (NetworkFailure, OSError, UnicodeError):
        return None
    try:
        encoded = writer.get_extra_info("ssl_object").getpeercert(binary_form=True)
        return x509.load_der_x509_certificate(encoded)
    except (ValueError, x509.InvalidVersion):
        return None
    finally:
        writer.transport.abort()


def certificate_failure(
    certificate: x509.Certificate, name: str, now: datetime, pool: Sequence[x509.Certificate] = ()
) -> str:
    """Return what is wrong with it for a server of that name, all after `x509: `."""
    return (
        _out_of_date(certificate, now)
        or _wrong_name(certificate, name)
        or _no_chain(certificate, now, pool)
    )


def _out_of_date(certificate: x509.Certificate, now: datetime) -> str:
    """Return why the certificate is not valid now; empty if it is."""
    for side, bound, is_outside in (
        ("before", certificate.not_valid_before_utc, now < certificate.not_valid_before_utc),
        ("after", certificate.not_valid_after_utc, now > certificate.not_valid_after_utc),
    ):
        if is_outside:
            times = [f"{moment:%Y-%m-%dT%H:%M:%SZ}" for moment in (now, bound)]
            return (
                "certificate has expired or is not yet valid: current time "
                f"{times[0]} is {side} {times[1]}"
            )
    return ""


def _wrong_name(certificate: x509.Certificate, name: str) -> str:
    """Return why the certificate is not for that name; empty if it is."""
    names = _extension(certificate, x509.SubjectAlternativeName)
    alternative_names = names or x509.SubjectAlternativeName([])
    hosts = alternative_names.get_values_for_type(x509.DNSName)
    addresses = [str(item) for item in alternative_names.get_values_for_type(x509.IPAddress)]
    address = _address(name)
    name = address or name
    known_names, kind = (addresses, "IP SANs") if address else (hosts, "names")
    if name in addresses if address else any(_covers(host, name) for host in hosts):
        return ""
    if names is None and any(
        _covers(common_name, name) for common_name in _common_names(certificate)[-1:]
    ):
        return LEGACY_NAME
    if address and not addresses:
        return f"cannot validate certificate for {name} because it doesn't contain any IP SANs"
    if len(known_names) >= _MAX_SHOWN:
        return f"certificate is valid for {len(known_names)} {kind}, but none matched {name}"
    if not known_names:
        return f"certificate is not valid for any names, but wanted to match {name}"
    return f"certificate is valid for {', '.join(known_names)}, not {name}"


def _no_chain(
    certificate: x509.Certificate, now: datetime, pool: Sequence[x509.Certificate]
) -> str:
    """Return why no certificate of the pool stands behind it, as far as that can be told: the first
    that has the issuer's name is named."""
    if certificate in pool:
        return UNKNOWN_AUTHORITY if _serves(certificate) else WRONG_USAGE
    for item in pool:
        if item.subject == certificate.issuer:
            reason = _not_signed(certificate, item) or _out_of_date(item, now)
            if reason:
                reason = reason if reason.startswith("crypto/") else f"x509: {reason}"
                return (
                    f"{UNKNOWN_AUTHORITY} (possibly because of {quote(reason)} while trying to "
                    f"verify candidate authority certificate {quote(_shown_name(item))})"
                )
            return UNKNOWN_AUTHORITY if _serves(certificate) and _serves(item) else WRONG_USAGE
    return UNKNOWN_AUTHORITY


def _not_signed(certificate: x509.Certificate, authority: x509.Certificate) -> str:
    """Return why the authority has not signed the certificate, or may not; empty if it has."""
    constraints = _extension(authority, x509.BasicConstraints)
    usage = _extension(authority, x509.KeyUsage)
    if constraints is None or not constraints.ca or (usage and not usage.key_cert_sign):
        return "invalid signature: parent certificate cannot sign this kind of certificate"
    try:
        certificate.verify_directly_issued_by(authority)
    except InvalidSignature:
        return _bad_signature(authority.public_key())
    except (TypeError, ValueError, KeyError):
        return "cannot verify signature: algorithm unimplemented"
    return ""


def _bad_signature(key: object) -> str:
    if isinstance(key, rsa.RSAPublicKey):
        return "crypto/rsa: verification error"
    kind = "Ed25519" if isinstance(key, ed25519.Ed25519PublicKey) else "ECDSA"
    return f"{kind} verification failure"


def _serves(certificate: x509.Certificate) -> bool:
    """Return whether it may stand for a server: its usages say so, or there are none."""
    usages = _extension(certificate, x509.ExtendedKeyUsage)
    return usages is None or not _SERVING.isdisjoint(usages)


def _extension(certificate: x509.Certificate, kind: type[_Extension]) -> _Extension | None:
    try:
        return certificate.extensions.get_extension_for_class(kind).value
    except (x509.ExtensionNotFound, x509.DuplicateExtension, ValueError):
        return None


def _common_names(certificate: x509.Certificate) -> list[str]:
    attributes = certificate.subject.get_attributes_for_oid(x509.NameOID.COMMON_NAME)
    return [str(attribute.value) for attribute in attributes]


def _shown_name(authority: x509.Certificate) -> str:
    common = _common_names(authority)[-1:]
    attributes = authority.subject.get_attributes_for_oid(x509.NameOID.ORGANIZATION_NAME)
    organizations = [str(attribute.value) for attribute in attributes]
    return next(filter(None, [*common, *organizations[:1]]), f"serial:{authority.serial_number}")


def _address(name: str) -> str:
    """Return an IP address as Go writes it; empty for what is a name."""
    try:
        return str(ip_address(name.removeprefix("[").removesuffix("]")))
    except ValueError:
        return ""


def _covers(pattern: str, name: str) -> bool:
    """Return whether a pattern covers a name. A star stands for the whole first label."""
    pattern_labels, name_labels = (
        pattern.lower().split("."),
        name.lower().removesuffix(".").split("."),
    )
    if len(pattern_labels) != len(name_labels):
        return False
    return pattern_labels[0] in {"*", name_labels[0]} and pattern_labels[1:] == name_labels[1:]


# --- Trusted roots -----------------------------------------------------------
#
# Whom a webhook's certificate has to come from: its `caBundle`, or the system's authorities.
#
# As k8s.io/client-go `transport` (`rootCertPool`), with its texts.

_MALFORMED: Final = (
    "unable to load root certificates: failed to parse certificate: x509: malformed certificate"
)


class UnusableRoots(Exception):
    """A bundle without a certificate that could be trusted."""


class RootedContext(ssl.SSLContext):
    """A client's context that knows its pool, for who has to say what is wrong with a certificate.
    Empty: the system's."""

    pool: tuple[x509.Certificate, ...] = ()


async def tls_context(ca_bundle: str, protocols: list[str]) -> RootedContext:
    """`ca_bundle` is base64 as in the configuration; empty for the system's. `protocols` are those
    offered to the server. Made aside: to load what a client may write in a bundle takes a quarter
    of a second. Raises UnusableRoots."""
    context = await aside(_rooted, ca_bundle)
    context.set_alpn_protocols(protocols)
    return context


def _rooted(ca_bundle: str) -> RootedContext:
    context = RootedContext(ssl.PROTOCOL_TLS_CLIENT)
    if ca_bundle:
        context.pool = _certificates(base64.b64decode(ca_bundle))
        for der in {certificate.public_bytes(Encoding.DER): None for certificate in context.pool}:
            context.load_verify_locations(cadata=der)  # one by one: each holds Python's lock
    else:
        context.load_default_certs()
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    trust_as_go(context)
    return context


def _certificates(text: bytes) -> tuple[x509.Certificate, ...]:
    """Return the certificates of a bundle that can be read, which are enough for Go if there is
    one. Raises UnusableRoots."""
    certificates: list[x509.Certificate] = []
    for block in pem_blocks(text):
        if block.kind == CERTIFICATE and not block.has_headers:
            with contextlib.suppress(ValueError, x509.InvalidVersion):
                certificates.append(x509.load_der_x509_certificate(block.content))
    if not certificates:
        raise UnusableRoots(bundle_fault(text) or _MALFORMED)
    return tuple(certificates)


# --- Go response head --------------------------------------------------------
#
# What Go says of an answer in HTTP/1.1 whose beginning it cannot read.
#
# As `net/http` (`ReadResponse`, `readTransfer`) and `net/textproto` (`ReadMIMEHeader`). Only
# what has arrived is looked at: an answer whose first lines are in order is read by the HTTP
# client, which words what else is wrong with it in its own way.

LINE_BYTES: Final = 1024
"""So much of the first line is looked at, and quoted."""
_VERSION: Final = late_pattern(r"HTTP/[0-9]\.[0-9]")
_CODE: Final = late_pattern(r"[0-9]{3}|\+[0-9]{2}")
_HEADER: Final = late_pattern(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+:[^\x00-\x08\x0a-\x1f\x7f]*")
_LENGTH: Final = late_pattern(r"[0-9]{1,18}")


def head_complaint(data: bytes) -> str | None:
    """Return what Go says is wrong with the first bytes of an answer; None where nothing is."""
    first, end, rest = data.partition(b"\n")
    if not end and data.startswith(b"HTTP/"[: len(data)]):
        return None
    status_line = _status_line(_text(first[:LINE_BYTES]))
    if status_line is not None:
        return status_line
    lines = rest.split(b"\n")[:-1]
    return _headers([_text(line) for line in lines])


def _text(line: bytes) -> str:
    return line.removesuffix(b"\r").decode("utf-8", "replace")


def _status_line(line: str) -> str | None:
    protocol, space, status = line.partition(" ")
    if not space:
        return f"malformed HTTP response {quote(line)}"
    code = status.lstrip(" ").partition(" ")[0]
    if not _CODE.fullmatch(code):
        return f"malformed HTTP status code {quote(code)}"
    if not _VERSION.fullmatch(protocol):
        return f"malformed HTTP version {quote(protocol)}"
    return None


def _headers(lines: Sequence[str]) -> str | None:
    if lines and lines[0].startswith((" ", "\t")):
        return f"malformed MIME header initial line: {lines[0]}"
    for line in lines:
        if not line:
            break
        if line.startswith((" ", "\t")):
            continue
        if not _HEADER.fullmatch(line):
            return f"malformed MIME header line: {line}"
        name, _, value = line.partition(":")
        length = value.strip(" \t")
        if name.lower() == "content-length" and not _LENGTH.fullmatch(length):
            subject = "bad Content-Length" if length else "invalid empty Content-Length"
            return f"{subject} {quote(length)}"
    return None


READ_BYTES: Final = 8192
"""At a time: so much may be a thousand pieces, which take the event loop some ten milliseconds."""
MAX_HEAD_BYTES: Final = 1 << 20
"""Of informational answers before the final one; Go has a limit of 10 MiB."""
HEAD_END: Final = b"\r\n\r\n"
_CODE_END: Final = len(b"HTTP/1.1 200")
_ERROR_NAMES: Final = {
    errno.ECONNREFUSED: "connection refused",
    errno.ECONNRESET: "connection reset by peer",
    errno.EHOSTUNREACH: "no route to host",
    errno.ENETUNREACH: "network is unreachable",
    errno.EPIPE: "broken pipe",
    errno.ETIMEDOUT: "connection timed out",
}
"""Go has its own words for these, in lower case."""

Route = Callable[[str, int], tuple[str, int]]
"""Where a host of a URL is dialed; may raise NetworkFailure."""


class ProtocolsSwitched(Exception):
    """The answer is 101, after which no HTTP comes."""


class GoNetwork(httpcore.AsyncNetworkBackend):
    """The network as `httpcore` wants it."""

    def __init__(self, route: Route) -> None:
        self._route = route

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore.AsyncNetworkStream:
        """Connect to wherever the host is. Raises NetworkFailure."""
        host, port = self._route(host, port)
        address, family = await _looked_up(host, port)
        try:
            reader, writer = await asyncio.open_connection(address, port, family=family)
        except (socket.gaierror, UnicodeError):  # the latter for a long zone of an address
            raise unknown_host(host) from None
        except OSError as error:
            message = f"[{address}]" if ":" in address else address
            text = f"dial tcp {message}:{port}: connect: {_words(error)}"
            raise NetworkFailure(text) from None
        return GoStream(reader, writer)

    async def sleep(self, seconds: float) -> None:
        """Sleep, as the interface of `httpcore` demands."""
        await asyncio.sleep(seconds)


_LOOKUPS: Final = ThreadPoolExecutor(64, "lookup")
"""Threads in which names are looked up. They wait for as long as the server of a name says nothing,
so they are none of those that the event loop has for all."""


async def _looked_up(host: str, port: int) -> tuple[str, int]:
    """Return the first address of a host, and its family. The zone of an address is as in a URL.
    Raises NetworkFailure."""
    address = host.replace("%25", "%", 1)
    try:
        is_of_link = ip_address(address).is_link_local
    except ValueError:
        pass
    else:
        # The system takes no zone of any other address, where it would mean nothing.
        return address if is_of_link else address.partition("%")[0], 0
    lookup = functools.partial(socket.getaddrinfo, host, port, type=socket.SOCK_STREAM)
    try:
        infos = await asyncio.get_running_loop().run_in_executor(_LOOKUPS, lookup)
    except (OSError, UnicodeError):  # the latter for labels that no name has
        raise unknown_host(host) from None
    # Loopback names have an address of each family; servers listen on that of version 4.
    family, _, _, _, place = min(infos, key=lambda address_info: address_info[0])
    return str(place[0]), family


def unknown_host(host: str) -> NetworkFailure:
    """Return the failure of a name that nobody has."""
    return NetworkFailure(f"dial tcp: lookup {host}: no such host")


def _words(error: OSError) -> str:
    number = error.errno or 0
    return _ERROR_NAMES.get(number) or os.strerror(number).lower()


def _shown(address: tuple[Any, ...]) -> str:
    host, port = address[:2]
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def _is_informational(line: bytes) -> bool:
    """Return whether that begins, or may begin, what is no answer yet; 101 is one."""
    is_whole = len(line) == _CODE_END
    version, code = line[:8], line[8:]
    matches = version.startswith(b"HTTP/1.") or b"HTTP/1.".startswith(version)
    return matches and code.startswith(b" 1"[: len(code)]) and not (is_whole and code == b" 101")


def _can_be_certified(host: str) -> bool:
    """Return whether Python's TLS takes a name; its handshake ends with a traceback otherwise."""
    try:
        return bool(host.encode("idna")) and "\0" not in host and not host.startswith(".")
    except UnicodeError:
        return False


class GoStream(httpcore.AsyncNetworkStream):
    """One connection. It knows whether the first bytes of an answer are still to come, for that is
    what tells a closed connection from a broken answer."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer
        self._ends = [_shown(writer.get_extra_info(item)) for item in ("sockname", "peername")]
        self._waiting = False
        self._has_read = False

    async def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        """Read what comes next; of an answer in HTTP/1.1, the beginning is checked as Go does.
        Raises NetworkFailure."""
        data = await self._piece(max_bytes)
        if self._waiting:
            self._waiting = False
            if not data:
                raise NetworkFailure("EOF")
            if self._selected_protocol() != "h2":
                data = await self._final(data)
                self._require_http(data)
        return data

    async def _piece(self, max_bytes: int) -> bytes:
        """Return what has come. Who sends without end gives others their turn, too: reading what is
        there already does not wait."""
        if self._has_read:
            await asyncio.sleep(0)
        self._has_read = True
        try:
            return await self._reader.read(min(max_bytes, READ_BYTES))
        except OSError as error:
            raise self._broken("read", error) from None

    async def _final(self, data: bytes) -> bytes:
        """Return the data from the beginning of the answer that counts: informational ones are read
        over. Raises NetworkFailure if they have no end."""
        answer = bytearray(data)
        size = looked = 0
        while _is_informational(bytes(answer[:_CODE_END])):
            end = answer.find(HEAD_END, looked)
            if end >= 0:
                size += end + len(HEAD_END)
                del answer[: end + len(HEAD_END)]
                looked = 0
                continue
            looked = max(len(answer) - len(HEAD_END) + 1, 0)
            if size + len(answer) > MAX_HEAD_BYTES:
                raise NetworkFailure(
                    f"net/http: server response headers exceeded {MAX_HEAD_BYTES} bytes; aborted"
                )
            piece = await self._piece(READ_BYTES)
            if not piece:
                break
            answer += piece
        return bytes(answer)

    def _require_http(self, data: bytes) -> None:
        if data[8:12] == b" 101":
            raise ProtocolsSwitched
        complaint = head_complaint(data)
        if complaint is not None:
            text = f"net/http: HTTP/1.x transport connection broken: {complaint}"
            raise NetworkFailure(text)

    def _selected_protocol(self) -> str | None:
        tls = self._writer.get_extra_info("ssl_object")
        return None if tls is None else tls.selected_alpn_protocol()

    async def write(self, buffer: bytes, timeout: float | None = None) -> None:
        """Send bytes that an answer in HTTP follows. Raises NetworkFailure."""
        self._waiting, self._has_read = True, False
        try:
            self._writer.write(buffer)
            await self._writer.drain()
        except OSError as error:
            raise self._broken("write", error) from None

    async def send(self, data: bytes) -> None:
        """Send bytes as `write` does, where no answer in HTTP follows. Raises NetworkFailure."""
        try:
            self._writer.write(data)
            await self._writer.drain()
        except OSError as error:
            raise self._broken("write", error) from None

    def _broken(self, operation: str, error: OSError) -> NetworkFailure:
        local, remote = self._ends
        return NetworkFailure(f"{operation} tcp {local}->{remote}: {operation}: {_words(error)}")

    async def aclose(self) -> None:
        """Close the connection without a farewell, for which TLS would wait."""
        self._writer.transport.abort()

    async def start_tls(
        self,
        ssl_context: ssl.SSLContext,
        server_hostname: str | None = None,
        timeout: float | None = None,
    ) -> httpcore.AsyncNetworkStream:
        """Return the same connection, encrypted. Raises NetworkFailure."""
        if server_hostname is not None and not _can_be_certified(server_hostname):
            self._writer.transport.abort()
            raise NetworkFailure(f"tls: {server_hostname!r} is no name of a server")
        host, port = self._writer.get_extra_info("peername")[:2]
        pool = ssl_context.pool if isinstance(ssl_context, RootedContext) else ()
        try:
            await self._writer.start_tls(ssl_context, server_hostname=server_hostname)
        except ssl.SSLError as error:
            self._writer.transport.abort()
            raise NetworkFailure(
                await handshake_failure(error, (host, port), server_hostname or "", pool)
            ) from None
        except ConnectionResetError as error:
            raise self._broken("read", error) from None
        except OSError:
            raise NetworkFailure("EOF") from None
        return self

    def get_extra_info(self, info: str) -> Any:  # noqa: ANN401 - httpcore's signature
        """Return what `httpcore` asks for: the TLS session, and whether the connection is done
        for."""
        if info == "ssl_object":
            return self._writer.get_extra_info("ssl_object")
        if info == "is_readable":
            return self._reader.at_eof() or self._writer.is_closing()
        return None
