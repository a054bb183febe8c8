"""`celadon diff`: whether a change of policies changes any decision."""

from __future__ import annotations

import argparse
import importlib.util
import tempfile
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

from celadon.cli import output
from celadon.cli.exit_codes import Exit, WrongUseError
from celadon.cli.options import (
    DEFAULT_VERSION,
    add_cache,
    add_exclude,
    add_proof_limits,
    kubernetes_versions,
)
from celadon.cli.report.report_model import DIFF

if TYPE_CHECKING:
    from celadon.cli.diff import DiffSide

_PROGRAM: Final = "celadon diff"

DESCRIPTION: Final = """\
Compare two sets of policies and bindings: is any request decided differently? The answer is a proof
that none is, or a request, written as a manifest, with what both sets say of it, which the engine
has decided as claimed. Of CustomResourceDefinitions it is asked whether an object that the old one
has taken is invalid by the new one.

OLD and NEW are files, folders or globs; or one range of revisions and the paths that are compared.
Needs z3 (pip install 'celadon[prove]'), and git for revisions.
"""

EPILOG: Final = """\
examples:
  celadon diff policies-old/ policies/
  celadon diff main..HEAD -- policies/
  celadon diff --git HEAD policies/
  celadon diff --git main --only looser policies/ -o github
  celadon diff --kubernetes-version 1.33,1.36 policies/

what is compared:
  whether a request is refused; if not, whether the client is warned, or the request recorded.
  Messages are not compared, nor are the costs of expressions modelled.

exit codes:
  0  nothing is decided differently (or was found to be, where lists are longer than a bound)
  1  something is decided differently
  2  wrong usage, or an input that cannot be read
  3  no difference was found, but something is not decided, or a policy is broken
"""


def arguments(parser: argparse.ArgumentParser) -> None:
    """Everything `celadon diff --help` shows."""
    parser.add_argument(
        "paths",
        nargs="*",
        metavar="PATHS",
        help="OLD and NEW: files, folders or globs; or a range of revisions (A..B, or A...B for "
        "what B changed since both parted), and paths",
    )
    parser.add_argument(
        "--git",
        default="",
        metavar="REV",
        help="compare a revision with the working tree; PATHS are those of both",
    )
    parser.add_argument(
        "--kubernetes-version",
        type=kubernetes_versions,
        default=(DEFAULT_VERSION,),
        metavar="VERSION",
        help="the release of both sides; of two, as 1.33,1.36, the same policies are compared in "
        f"both (default: {DEFAULT_VERSION})",
    )
    parser.add_argument(
        "--only",
        choices=("looser", "stricter"),
        default="",
        help="only what the new policies admit (or refuse) and the old ones do not",
    )
    add_exclude(parser)
    add_proof_limits(parser)
    add_cache(parser, "keep what was proved there, and do not prove it again where nothing changed")
    DIFF.add_options(parser)


def run(options: argparse.Namespace) -> Exit:
    """Read both sides, compare, report."""
    if importlib.util.find_spec("z3") is None:
        raise WrongUseError("z3 is not installed: pip install 'celadon[prove]'")
    from celadon.cli.celadon_documents import AnswerCache
    from celadon.cli.diff import DiffSettings, compared, with_definitions
    from celadon.prove import Direction

    directions = tuple(
        direction for direction in Direction if options.only in ("", direction.value)
    )
    try:
        cache = AnswerCache(options.cache)
    except OSError as error:
        raise WrongUseError(f"{error.filename}: {error.strerror}") from None
    settings = DiffSettings(directions, options.items, options.timeout, cache)
    with ExitStack() as stack:
        sides = _sides(options, stack)
        if all(side.is_empty for side in sides):
            raise WrongUseError(_NOTHING)
        report = with_definitions(compared(*sides, settings, output.progress), *sides, settings)
    if cache.problem:
        output.complain(f"{_PROGRAM}: {cache.problem}")
    output.show(report, DIFF, options)
    return report.exit


_NOTHING: Final = "there is no policy and no CustomResourceDefinition on either side"


def _sides(options: argparse.Namespace, stack: ExitStack) -> tuple[DiffSide, DiffSide]:
    """Return both sides. Raises WrongUseError."""
    from celadon.cli.diff import read_side, require_paths, revisions
    from celadon.cli.reading.documents import Exclusion

    paths, versions = options.paths, options.kubernetes_version
    exclude = Exclusion(options.exclude)
    read_files = partial(read_side, version=versions[0], exclude=exclude)
    if len(versions) > 2:
        raise WrongUseError("`--kubernetes-version` takes one release, or two")
    revision_range = revisions(paths[0]) if paths and not options.git else None
    if len(versions) == 2:
        if options.git or revision_range is not None:
            raise WrongUseError(
                "two releases are compared with the same policies, not with revisions"
            )
        if not paths:
            raise WrongUseError("nothing to compare: give files or folders")
        old, new = (read_side(version, paths, version, exclude=exclude) for version in versions)
        return old, new
    if options.git:
        return _revision(options.git, paths or ["."], read_files, stack), read_files(
            "the working tree", paths or ["."]
        )
    if revision_range is not None:
        paths_below = paths[1:] or ["."]
        sides = [
            _revision(text, paths_below, read_files, stack)
            for text in (revision_range.old, revision_range.new)
        ]
        require_paths(paths_below, (revision_range.old, revision_range.new))
        return sides[0], sides[1]
    if len(paths) != 2:
        raise WrongUseError("give OLD and NEW, a range of revisions, or --git and a revision")
    return read_files(paths[0], [paths[0]]), read_files(paths[1], [paths[1]])


def _revision(
    revision: str, paths: list[str], read_files: partial[DiffSide], stack: ExitStack
) -> DiffSide:
    from celadon.cli.diff import write_files

    folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="celadon-diff-"))
    files = write_files(revision, paths, Path(folder))
    return read_files(revision, files, display_name=lambda file: file.removeprefix(f"{folder}/"))
