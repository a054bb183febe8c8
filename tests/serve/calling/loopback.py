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
) -> x509.Certificate:
    """One of `AUTHORITY`'s, for hosts and addresses."""
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
    if names:
        named = x509.SubjectAlternativeName([_general_name(name) for name in names])
        builder = builder.add_extension(named, critical=not attributes)
    return builder.sign(AUTHORITY_KEY, hashes.SHA256())


def _general_name(name: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ipaddress.ip_address(name))
    except ValueError:
        return x509.DNSName(name)


def _authority() -> x509.Certificate:
    return (
        x509.CertificateBuilder()
        .subject_name(AUTHORITY_NAME)
        .issuer_name(AUTHORITY_NAME)
        .public_key(AUTHORITY_KEY.public_key())
        .serial_number(1)
        .not_valid_before(NOW - 2 * DAY)
        .not_valid_after(NOW + DAY)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(AUTHORITY_KEY, hashes.SHA256())
    )


CA_BUNDLE = base64.b64encode(_authority().public_bytes(serialization.Encoding.PEM)).decode()

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
        while True:
            try:
                head = (await reader.readuntil(b"\r\n\r\n")).decode()
            except (asyncio.IncompleteReadError, ConnectionError):
                break
            length = [line for line in head.lower().split("\r\n") if "content-length" in line]
            if length:
                await reader.readexactly(int(length[0].partition(":")[2]))
            made.requests.append(head)
            answer = answers(len(made.requests))
            if answer is None:
                break
            writer.write(answer)
            if b"connection: close" in answer.lower():
                break
        writer.close()

    running = await asyncio.start_server(handle, "127.0.0.1", 0, ssl=context)
    made.port = running.sockets[0].getsockname()[1]
    try:
        yield made
    finally:
        running.close()


def http(body: bytes, code: int = 200, *headers: str) -> bytes:
    lines = [f"HTTP/1.1 {code} Fine", f"Content-Length: {len(body)}", *headers, "", ""]
    return "\r\n".join(lines).encode() + body
