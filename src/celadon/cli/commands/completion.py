"""`celadon completion`: a script that completes command lines in a shell."""

from __future__ import annotations

import argparse
from typing import Final

from celadon.cli import output
from celadon.cli.reading.documents import Exit

DESCRIPTION: Final = """\
Print a script with which a shell completes command lines of celadon: commands, options and their
values, files, releases of Kubernetes, lint rules.
"""

EPILOG: Final = """\
examples:
  celadon completion bash > ~/.local/share/bash-completion/completions/celadon
  celadon completion zsh > "${fpath[1]}/_celadon"
  celadon completion fish > ~/.config/fish/completions/celadon.fish

exit codes:
  0  the script was printed
  2  wrong usage
"""


def arguments(parser: argparse.ArgumentParser) -> None:
    """The shell."""
    parser.add_argument(
        "shell", choices=("bash", "zsh", "fish"), metavar="SHELL", help="bash, zsh or fish"
    )


def run(options: argparse.Namespace) -> Exit:
    """Print it."""
    from celadon.cli.completion import bash_script, every_command, fish_script, zsh_script

    scripts = {"bash": bash_script, "zsh": zsh_script, "fish": fish_script}
    output.write(scripts[options.shell](every_command()))
    return Exit.OK
