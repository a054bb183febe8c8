"""`celadon data`: data files of `celadon serve`, checked, copied, put back."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Final

from celadon.cli import output
from celadon.cli.exit_codes import Exit, WrongUseError
from celadon.cli.options import count

if TYPE_CHECKING:
    from celadon.storage.sqlite_file import DataReport

DESCRIPTION: Final = """\
Look after a data file of `celadon serve`. `check` compares everything in it with its checksums;
`backup` makes a copy, while the server runs or not; `restore` puts a copy in its place, for a
server that is to be started.
"""

EPILOG: Final = """\
examples:
  celadon data check cluster.db
  celadon data backup cluster.db backup.db
  celadon data restore backup.db cluster.db --force

exit codes:
  0  all is well
  1  the file is damaged
  2  wrong usage, or a file that cannot be read or written
"""

IN_ETCD: Final = (
    "objects in etcd are copied by `etcdctl snapshot save`, and put back by "
    "`etcdutl snapshot restore`"
)


def arguments(parser: argparse.ArgumentParser) -> None:
    """Everything `celadon data --help` shows."""
    actions = ("check", "backup", "restore")
    parser.add_argument("action", choices=actions, metavar="ACTION", help=", ".join(actions))
    parser.add_argument("file", metavar="FILE", help="the data file; for `restore`, the copy")
    parser.add_argument(
        "target", nargs="?", metavar="PATH", help="the copy; for `restore`, the data file"
    )
    parser.add_argument(
        "--force", action="store_true", help="restore: replace the data that is there"
    )
    parser.add_argument(
        "--bump-revision",
        type=count,
        default=0,
        metavar="N",
        help="restore: go on so many revisions later, so that clients list again (default: 0)",
    )


def run(options: argparse.Namespace) -> Exit:
    """Do it, and say what was found."""
    if "://" in options.file or "://" in (options.target or ""):
        raise WrongUseError(IN_ETCD)
    if (options.target is None) != (options.action == "check"):
        needs = "takes one file" if options.action == "check" else "needs a file and a target"
        raise WrongUseError(f"`{options.action}` {needs}")
    if options.action != "restore" and (options.force or options.bump_revision):
        raise WrongUseError("`--force` and `--bump-revision` are for `restore`")
    from celadon.storage import FileError
    from celadon.storage.sqlite_file import FileDamaged, FileExists, backup, check, restore

    try:
        if options.action == "check":
            return _told(options.file, check(options.file))
        if options.action == "backup":
            return _told(options.target, backup(options.file, options.target))
        return _told(
            options.target,
            restore(options.file, options.target, options.bump_revision, force=options.force),
        )
    except FileDamaged as error:
        return output.failure(str(error), Exit.DENIED)
    except FileError as error:
        can_force = isinstance(error, FileExists) and options.action == "restore"
        return output.failure(f"{error}{': see `--force`' if can_force else ''}")


def _told(path: str, report: DataReport) -> Exit:
    for finding in report.findings:
        output.complain(f"damaged: {finding}")
    if report.findings:
        return Exit.DENIED
    output.write(
        f"{path}: revision {report.revision}, {report.entries} objects, "
        f"{report.changes} changes, history since revision {report.compacted}\n"
    )
    return Exit.OK
