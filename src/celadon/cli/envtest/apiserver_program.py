"""The stand-in for kube-apiserver: flags of kube-apiserver in, `celadon serve` out.

A program of two lines in the folder of assets calls `main` with the release of that folder. The
process that a test starts is the server itself: it can be told to end, or be killed, without
anything left behind. `--help` is asked for before each start, so nothing is loaded for it that a
server needs; not even Python's `site` is (`python -S`), which finds installed packages.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from typing import Final

from celadon.cli.envtest.apiserver_flags import (
    FlagError,
    help_text,
    read_flags,
    serve_arguments,
    warnings_about,
)

CONTROLLERS: Final = "CELADON_ENVTEST_CONTROLLERS"
"""An environment variable: the controllers that run. Without it there are none, as in envtest."""

HELP: Final = ("-h", "--help")
FAILED: Final = 1
"""Exit code of kube-apiserver for whatever is wrong."""


def main(release: str, words: Sequence[str] | None = None) -> int:
    """Serve until told to end; returns the exit code of kube-apiserver for what it was told."""
    words = sys.argv[1:] if words is None else words
    if any(word in HELP for word in words):
        return _say(help_text(release))
    if any(word.partition("=")[0] == "--version" for word in words):
        # late: `--help` and complaints about flags come without it
        from celadon.kube.releases import PATCHES

        return _say(f"Kubernetes v{release}.{PATCHES.get(release, 0)}\n")
    if sys.flags.no_site:
        import site

        site.main()
    from celadon.cli import output

    try:
        flags = read_flags(words)
        arguments = serve_arguments(flags, release, os.environ.get(CONTROLLERS, ""))
    except FlagError as error:
        output.complain(f"error: {error}")
        return FAILED
    for warning in warnings_about(flags):
        output.complain(f"warning: {warning}")
    from celadon.cli.main import main as celadon

    return FAILED if celadon(["serve", *arguments], is_process=True) else 0


def _say(text: str) -> int:
    """Write without what writes for commands: that would take longer to load than all the rest."""
    if sys.stdout is not None:
        sys.stdout.write(text)
        sys.stdout.flush()
    return 0
