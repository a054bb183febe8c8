"""`celadon playground`: the page, handed out on loopback."""

from __future__ import annotations

import argparse
import http.server
import io
import socket
import sys
from contextlib import suppress
from functools import partial
from http import HTTPStatus
from pathlib import Path
from typing import Any, BinaryIO, ClassVar, Final

from celadon.cli import output
from celadon.cli.exit_codes import Exit, WrongUseError

# --- The server of the page --------------------------------------------------

# The page handed out on loopback: `celadon playground`.
#
# A folder of static files, which any web server could hand out. This one says of everything what a
# browser needs to keep it: the folder whose name is a hash never changes, the page itself may.

LOOPBACK: Final = "127.0.0.1"
PAGE: Final = "index.html"
IDLE_SECONDS: Final = 60.0
"""After which a connection is closed on which nothing comes, and nothing is taken."""
CONNECTIONS: Final = 64
"""At once, each with a thread; for one more, the oldest ends. A browser has half a dozen."""
_TYPES: Final = {
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".mjs": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".json": "application/json",
    ".svg": "image/svg+xml",
    ".wasm": "application/wasm",
}
"""Some systems have tables of their own that say otherwise."""
_HEADERS: Final = {
    "Content-Security-Policy": (
        "default-src 'self'; script-src 'self' 'wasm-unsafe-eval'; img-src 'self' data:"
    ),
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}


def packaged_site() -> Path:
    """Return where `make site` puts it, and where a wheel has it."""
    return Path(__file__).parents[1] / "playground" / "site"


class SiteServer(http.server.ThreadingHTTPServer):
    """Hands out a folder on a port of loopback; 0: a free one. OSError if it cannot listen."""

    daemon_threads = True

    def __init__(self, folder: Path, port: int) -> None:
        super().__init__((LOOPBACK, port), partial(_Files, directory=str(folder)))
        self._open: dict[socket.socket, None] = {}

    @property
    def url(self) -> str:
        """Return the url of the page."""
        return f"http://{LOOPBACK}:{self.server_port}/"

    def process_request(self, request: Any, client_address: Any) -> None:  # noqa: ANN401 - as there
        """Give a connection a thread, and end the oldest if there are too many."""
        self._open[request] = None
        if len(self._open) > CONNECTIONS:
            oldest = next(iter(self._open))
            self._open.pop(oldest, None)
            with suppress(OSError):  # its thread closes it just now
                oldest.shutdown(socket.SHUT_RDWR)
        super().process_request(request, client_address)

    def shutdown_request(self, request: Any) -> None:  # noqa: ANN401 - as there
        """Forget a connection that has come to its end."""
        self._open.pop(request, None)
        super().shutdown_request(request)

    def handle_error(self, request: Any, client_address: Any) -> None:  # noqa: ANN401 - as there
        """Browsers hang up when they like; all else is ours."""
        if not isinstance(sys.exc_info()[1], ConnectionError):
            super().handle_error(request, client_address)


class _Files(http.server.SimpleHTTPRequestHandler):
    """Files and nothing else: no lists of folders, no log."""

    extensions_map = _TYPES
    protocol_version = "HTTP/1.1"
    timeout: ClassVar[float | None] = IDLE_SECONDS
    path = ""
    """Also of what is no request."""

    def send_head(self) -> io.BytesIO | BinaryIO | None:
        """Answer only those who ask for this host: no page of another can, whatever its name."""
        if self.headers.get("Host", "").rpartition(":")[0] not in (LOOPBACK, "localhost"):
            self.send_error(HTTPStatus.MISDIRECTED_REQUEST)
            return None
        try:
            return super().send_head()
        except ValueError:  # no file has such a name
            self.send_error(HTTPStatus.NOT_FOUND)
            return None

    def list_directory(self, path: object) -> None:
        """Show no folder."""
        self.send_error(HTTPStatus.NOT_FOUND)

    def end_headers(self) -> None:
        """Add the headers that every answer has."""
        is_immutable = "/assets-" in self.path
        self.send_header(
            "Cache-Control", "public, max-age=31536000, immutable" if is_immutable else "no-cache"
        )
        for name, value in _HEADERS.items():
            self.send_header(name, value)
        super().end_headers()

    def log_message(self, format: str, *args: object) -> None:
        """Write nothing: nobody reads it."""


# --- The command -------------------------------------------------------------

_PROGRAM: Final = "celadon playground"

DESCRIPTION: Final = """\
Serve the playground: a page on which policies are tried out while they are typed.

The page has panes for a policy, an object and what is around them. It decides and proves in the
browser, with the code that this command is made of; nothing is sent anywhere. The server listens on
loopback only, until it is interrupted.
"""

EPILOG: Final = """\
examples:
  celadon playground
  celadon playground --open
  celadon playground --port 8000 --site build/site

exit codes:
  0  interrupted
  2  wrong usage, or there are no files to serve
"""


def arguments(parser: argparse.ArgumentParser) -> None:
    """Everything `celadon playground --help` shows."""
    parser.add_argument(
        "--port", type=_port, default=0, metavar="PORT", help="(default: a free one)"
    )
    parser.add_argument("--open", action="store_true", help="open it in a browser")
    parser.add_argument(
        "--site",
        metavar="DIR",
        help="the page's files, as `make site` builds them (default: those that were installed)",
    )


def _port(text: str) -> int:
    if not text.isdecimal() or len(text) > 5 or int(text) > 65535:
        raise argparse.ArgumentTypeError(f"`{text}` is no port")
    return int(text)


def run(options: argparse.Namespace) -> Exit:
    """Serve until somebody interrupts."""
    site = Path(options.site) if options.site else packaged_site()
    if not (site / PAGE).is_file():
        hint = "" if options.site else ": build it with `make site`, or name its folder with --site"
        raise WrongUseError(f"there is no playground in {site}{hint}")
    try:
        server = SiteServer(site, options.port)
    except OSError as error:
        raise WrongUseError(f"cannot listen: {(error.strerror or '').lower()}") from None
    with server:
        output.say(f"the playground is at {server.url}")
        if options.open:
            import webbrowser

            webbrowser.open(server.url)
        try:
            server.serve_forever()
        except KeyboardInterrupt:
            return Exit.OK
    return Exit.OK
