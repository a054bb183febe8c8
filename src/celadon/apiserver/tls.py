"""Contexts of TLS, whatever they are for.

Keys reach TLS in private files; a listener can change its certificate while it listens. The last
part says what of a pool of certificates Go would trust. `self_signed`, a door of its own, signs
certificates.
"""

from __future__ import annotations

import contextlib
import socket
import ssl
import tempfile
from contextvars import ContextVar
from pathlib import Path
from typing import Final

from celadon import private_files

__all__ = ["ACCEPTED", "ChangingTls", "context_with", "load_pair", "server_context"]

# --- Private files -----------------------------------------------------------
#
# Keys and certificates that TLS takes from files alone, and only for a moment.


def load_pair(context: ssl.SSLContext, certificate: bytes, key: bytes) -> None:
    """Load a certificate and its key (PEM) into a context; the standard library reads them from
    files only. A key with a password is not asked for it. Raises OSError, ssl.SSLError among
    them."""
    with tempfile.TemporaryDirectory(prefix="celadon-") as folder:
        files = Path(folder, "tls.crt"), Path(folder, "tls.key")
        for path, content in zip(files, (certificate, key), strict=True):
            private_files.write(path, content)
        context.load_cert_chain(*files, password="")


# --- Changing tls ------------------------------------------------------------
#
# A server's side of TLS whose certificate can change while it listens.
#
# A listener has one context for as long as it lives; each new handshake is sent on to the
# context that counts now. Connections that exist keep theirs, so nothing that is under way
# notices.

PROTOCOLS: Final = ("http/1.1",)


class ChangingTls:
    """Give `context` to the listener. It shows the first certificate even to a client that names
    no host (`sni_callback` is called all the same)."""

    def __init__(self, first: ssl.SSLContext) -> None:
        self.context = self._current = first
        self.context.sni_callback = self._choose

    def use(self, context: ssl.SSLContext) -> None:
        """Use another context for all handshakes from now on."""
        self._current = context

    def _choose(self, connection: ssl.SSLObject, _name: str | None, _: ssl.SSLContext) -> None:
        """Give a handshake the context that counts now, whatever name the client asks for."""
        connection.context = self._current


def server_context() -> ssl.SSLContext:
    """Return a context of a server that has no certificate yet. Sessions are not resumed by
    tickets: those would bring back what was trusted when they were given."""
    context = _ServerContext(ssl.PROTOCOL_TLS_SERVER)
    context.sslobject_class = _ServerSide
    context.options |= ssl.OP_NO_TICKET
    context.num_tickets = 0
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    context.set_alpn_protocols(PROTOCOLS)
    return context


def context_with(certificate: bytes, key: bytes) -> ssl.SSLContext:
    """Return a context of a server that shows this certificate (PEM). Raises OSError, ssl.SSLError
    among them."""
    context = server_context()
    load_pair(context, certificate, key)
    return context


# --- Alerts ------------------------------------------------------------------
#
# Why a handshake fails.
#
# asyncio closes the connection without the alert that says why: whoever shows a certificate that
# has expired would only see that the connection ended. So it is sent before asyncio hears of it.

ACCEPTED: Final[ContextVar[socket.socket]] = ContextVar("accepted")
"""Whose handshake a task makes."""


class _ServerSide(ssl.SSLObject):
    """One connection. `outgoing` is what asyncio would send, if it did."""

    outgoing: ssl.MemoryBIO

    def do_handshake(self) -> None:
        try:
            super().do_handshake()
        except (ssl.SSLWantReadError, ssl.SSLWantWriteError):
            raise
        except ssl.SSLError:
            self._tell()
            raise

    def _tell(self) -> None:
        accepted = ACCEPTED.get(None)
        if accepted is not None:
            with contextlib.suppress(OSError):
                accepted.send(self.outgoing.read())


class _ServerContext(ssl.SSLContext):
    """Makes such connections, if its `sslobject_class` says so."""

    def wrap_bio(
        self,
        incoming: ssl.MemoryBIO,
        outgoing: ssl.MemoryBIO,
        server_side: bool = False,  # noqa: FBT001, FBT002 - ssl's
        server_hostname: str | bytes | None = None,
        session: ssl.SSLSession | None = None,
    ) -> ssl.SSLObject:
        server_side_object = super().wrap_bio(
            incoming, outgoing, server_side, server_hostname, session
        )
        assert isinstance(server_side_object, _ServerSide)
        server_side_object.outgoing = outgoing
        return server_side_object


# --- Go trust ----------------------------------------------------------------
#
# What of a certificate Go trusts, where OpenSSL, or Python for it, would decide otherwise.


def trust_as_go(context: ssl.SSLContext) -> None:
    """Make a context trust what Go's `crypto/x509` trusts. Whatever is in a pool is an anchor: an
    intermediate certificate, the certificate of the other side itself, an authority whose
    certificate lacks some extension. A common name is no name of a host."""
    context.verify_flags |= ssl.VERIFY_X509_PARTIAL_CHAIN
    context.verify_flags &= ~ssl.VERIFY_X509_STRICT
    if context.protocol is ssl.PROTOCOL_TLS_CLIENT:
        context.hostname_checks_common_name = False


# --- Chains ------------------------------------------------------------------
#
# Which certificates lead from that of the other side to one that is trusted.


def verified_chain(tls: ssl.SSLObject) -> frozenset[bytes]:
    """Return the chain in DER form; it is empty if the peer shows none, or the session was
    resumed."""
    # of `ssl` from Python 3.13 on, as bytes; before that only below it, as objects
    result = getattr(tls, "get_verified_chain", None) or tls._sslobj.get_verified_chain  # type: ignore[attr-defined]
    return frozenset(
        item if isinstance(item, bytes) else item.public_bytes(_DER) for item in result() or ()
    )


_DER: Final = 1 << 1
"""`ENCODING_DER` of Python's `_ssl`."""
