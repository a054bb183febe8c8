"""`celadon playground`: the page on which policies are tried out."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Final

from celadon.cli import output
from celadon.cli.reading.documents import Exit

_PROGRAM: Final = "celadon playground"

DESCRIPTION: Final = """\
Serve the playground: a page on which policies are tried out while they are typed.

The page has panes for a policy, an object and what is around them. It decides in the browser, with
the code that this command is made of; nothing is sent anywhere. The server listens on loopback
only, until it is interrupted.
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
    if not text.isdecimal() or int(text) > 65535:
        raise argparse.ArgumentTypeError(f"`{text}` is no port")
    return int(text)


def run(options: argparse.Namespace) -> Exit:
    """Serve until somebody interrupts."""
    from celadon.cli.playground.site_server import PAGE, SiteServer, packaged_site

    site = Path(options.site) if options.site else packaged_site()
    if not (site / PAGE).is_file():
        hint = "" if options.site else ": build it with `make site`, or name its folder with --site"
        return output.usage_error(_PROGRAM, f"there is no playground in {site}{hint}")
    try:
        server = SiteServer(site, options.port)
    except OSError as error:
        return output.usage_error(_PROGRAM, f"cannot listen: {(error.strerror or '').lower()}")
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
