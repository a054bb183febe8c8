"""`celadon lsp`: a language server for CEL in YAML."""

from __future__ import annotations

import argparse
import importlib.util
import ipaddress
import logging
import socket
import sys
from typing import TYPE_CHECKING, BinaryIO, Final, cast

from celadon.cli import output
from celadon.cli.exit_codes import Exit, WrongUseError

if TYPE_CHECKING:
    from celadon.cli.language_server.lsp_adapter import CeladonServer

_PROGRAM: Final = "celadon lsp"
_PORTS: Final = range(1, 65536)
MAX_HEAD_LINE_BYTES: Final = 4096
_HEAD_NAMES: Final = (b"content-length:", b"content-type:")
MAX_MESSAGE_BYTES: Final = 256 << 20
"""As much as a file may have."""

DESCRIPTION: Final = """\
Serve an editor: diagnostics as of `celadon lint`, hover, completion, signatures, definitions,
rename, fixes, layout as of `celadon fmt`, costs, and the tests of policies. Editors start it and
talk to it over standard input and output; docs/editors.md says how each of them is set up.
"""

EPILOG: Final = """\
examples:
  celadon lsp
  celadon lsp --tcp 127.0.0.1:7777

needs pygls: pip install 'celadon[lsp]'

exit codes:
  0  the editor has ended the session
  2  wrong usage, or pygls is not installed
"""


def arguments(parser: argparse.ArgumentParser) -> None:
    """Everything `celadon lsp --help` shows."""
    parser.add_argument(
        "--stdio", action="store_true", help="talk over standard input and output (the default)"
    )
    parser.add_argument(
        "--tcp",
        metavar="HOST:PORT",
        help="wait for one editor to connect there instead; on the loopback only",
    )


class BoundedInput:
    """Reads what an editor sends. It ends where a message says that it is longer than any can be,
    where a line of its head is, and where a line is of no head: a web page can make a browser send
    a message to a port, but not without the head of HTTP before it."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream

    def readline(self) -> bytes:
        """Return a line of a head; empty at the end."""
        line = self._stream.readline(MAX_HEAD_LINE_BYTES)
        if not line.endswith(b"\n"):
            return b""
        if line.strip() and not line.lower().startswith(_HEAD_NAMES):
            output.complain(f"{_PROGRAM}: what comes is no message of an editor")
            return b""
        return line

    def read(self, size: int) -> bytes:
        """Return the body of a message; empty at the end."""
        if size > MAX_MESSAGE_BYTES:
            output.complain(f"{_PROGRAM}: a message of {size} bytes is too long")
            return b""
        return self._stream.read(size)


class Complaints(logging.Handler):
    """Tells on standard error what goes wrong, in a line: where in a program it did is nothing for
    who edits a file."""

    def emit(self, record: logging.LogRecord) -> None:
        """Tell of one record."""
        text = record.getMessage().partition("\n")[0]
        error = record.exc_info and record.exc_info[1]
        output.complain_if_possible(f"{_PROGRAM}: {text}" + (f": {error}" if error else ""))


def run(options: argparse.Namespace) -> Exit:
    """Serve until the editor goes."""
    if importlib.util.find_spec("pygls") is None:
        raise WrongUseError("`pygls` is not installed: pip install 'celadon[lsp]'")
    if options.tcp is None:
        _server().start_io(cast(BinaryIO, BoundedInput(sys.stdin.buffer)))
        return Exit.OK
    host, _, port = options.tcp.rpartition(":")
    if not host or not port.isdecimal() or len(port) > 5 or int(port) not in _PORTS:
        raise WrongUseError(f"`--tcp {options.tcp}` must be HOST:PORT")
    host = host.strip("[]")
    if not _is_loopback(host):
        reason = "is no address of the loopback: whoever connects may read files"
        raise WrongUseError(f"`--tcp {options.tcp}` {reason}")
    try:
        _serve_one(host, int(port))
    except OSError as error:
        raise WrongUseError(f"`--tcp {options.tcp}`: {error}") from None
    return Exit.OK


def _is_loopback(host: str) -> bool:
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _serve_one(host: str, port: int) -> None:
    """Serve the first editor that connects, and nobody else."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.create_server((host, port), family=family) as listener:
        connection, _ = listener.accept()
    with connection, connection.makefile("rb") as sent, connection.makefile("wb") as answers:
        _server().start_io(cast(BinaryIO, BoundedInput(sent)), answers)


def _server() -> CeladonServer:
    from celadon.cli.language_server.lsp_adapter import language_server

    library = logging.getLogger("pygls")
    library.addHandler(Complaints())
    library.propagate = False
    return language_server()
