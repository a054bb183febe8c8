"""The policies that a command is about, with what they look up: the files of `-f` and of the
project's configuration."""

from __future__ import annotations

import argparse
from collections.abc import Callable

from celadon.cli.checking.manifests import Manifests, Parts, gather
from celadon.cli.project_files.other_files import summary
from celadon.cli.reading.sources import Exclusion


def read_policies(
    options: argparse.Namespace, complain: Callable[[str], None], *, strict: bool
) -> Manifests:
    """What the files say. Those of folders that are no manifests are errors for the `strict`, and
    complained of in one line to the others."""
    found = gather(options.files, (), (), Parts(), lambda _: None, Exclusion(options.exclude))
    if found.others and strict:
        found.problems += found.others
    elif found.others:
        complain(summary(found.others))
    return found
