"""Servers on the loopback interface that answer a webhook's call in every wrong way."""

from __future__ import annotations

import asyncio
import base64
import datetime
import ipaddress
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

from tests.servers import stop_listening

NOW = datetime.datetime.now(datetime.UTC)
DAY = datetime.timedelta(days=1)
KEY = ec.generate_private_key(ec.SECP256R1())
AUTHORITY_KEY = ec.generate_private_key(ec.SECP256R1())
AUTHORITY_NAME = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "authority")])


def certificate(
    *names: str,
    common_name: str = "",
    end: datetime.datetime = NOW + DAY,
    issuer: x509.Name = AUTHORITY_NAME,
    usage: x509.ObjectIdentifier | None = None,
    has_names: bool | None = None,
) -> x509.Certificate:
    """One of `AUTHORITY`'s, for hosts and addresses. `has_names`: there is a list of names, perhaps
    an empty one; `usage` is the only extended one."""
    attributes = [x509.NameAttribute(x509.NameOID.COMMON_NAME, common_name)] if common_name else []
    builder = (
        x509.CertificateBuilder()
        .subject_name(x509.Name(attributes))
        .issuer_name(issuer)
        .public_key(KEY.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(NOW - 2 * DAY)
        .not_valid_after(end)
    )
    if usage is not None:
        builder = builder.add_extension(x509.ExtendedKeyUsage([usage]), critical=False)
    if names or has_names:
        named = x509.SubjectAlternativeName([_general_name(name) for name in names])
        builder = builder.add_extension(named, critical=not attributes)
    return builder.sign(AUTHORITY_KEY, hashes.SHA256())


def _general_name(name: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ipaddress.ip_address(name))
    except ValueError:
        return x509.DNSName(name)


def authority(
    name: x509.Name = AUTHORITY_NAME,
    key: ec.EllipticCurvePrivateKey = AUTHORITY_KEY,
    issuer: x509.Name = AUTHORITY_NAME,
    signer: ec.EllipticCurvePrivateKey = AUTHORITY_KEY,
    end: datetime.datetime = NOW + DAY,
    *,
    is_authority: bool = True,
) -> x509.Certificate:
    """The one that `certificate` is signed by, or another."""
    return (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(issuer)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(NOW - 2 * DAY)
        .not_valid_after(end)
        .add_extension(x509.BasicConstraints(ca=is_authority, path_length=None), critical=True)
        .sign(signer, hashes.SHA256())
    )


def bundle(*certificates: x509.Certificate) -> str:
    """A `caBundle` of them."""
    texts = (one.public_bytes(serialization.Encoding.PEM) for one in certificates)
    return base64.b64encode(b"".join(texts)).decode()


CA_BUNDLE = bundle(authority())

Handler = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


@dataclass
class Server:
    """`connections` counts them; `requests` are the heads of those that came."""

    port: int
    connections: int = 0
    requests: list[str] = field(default_factory=list)


def server_context(made: x509.Certificate, folder: Path) -> ssl.SSLContext:
    file = folder / "server.pem"
    key = KEY.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    )
    file.write_bytes(key + made.public_bytes(serialization.Encoding.PEM))
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(file)
    return context


@asynccontextmanager
async def serving(
    answers: Callable[[int], bytes | None], context: ssl.SSLContext | None
) -> AsyncIterator[Server]:
    """Answers the n-th request with those bytes; None closes the connection without any."""
    made = Server(0)

    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        made.connections += 1
        try:
            await converse(reader, writer)
        finally:
            writer.close()

    async def converse(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while True:
            try:
                head = (await reader.readuntil(b"\r\n\r\n")).decode()
            except (asyncio.IncompleteReadError, ConnectionError):
                return
            length = [line for line in head.lower().split("\r\n") if "content-length" in line]
            if length:
                await reader.readexactly(int(length[0].partition(":")[2]))
            made.requests.append(head)
            answer = answers(len(made.requests))
            if answer is None:
                return
            writer.write(answer)
            if b"connection: close" in answer.lower():
                return

    running = await asyncio.start_server(handle, "127.0.0.1", 0, ssl=context)
    made.port = running.sockets[0].getsockname()[1]
    try:
        yield made
    finally:
        await stop_listening(running)


def http(body: bytes, code: int = 200, *headers: str) -> bytes:
    lines = [f"HTTP/1.1 {code} Fine", f"Content-Length: {len(body)}", *headers, "", ""]
    return "\r\n".join(lines).encode() + body
