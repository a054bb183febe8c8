"""`celadon envtest`: programs for tests of operators, in the words of `setup-envtest`."""

from __future__ import annotations

import argparse
import contextlib
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Final, TextIO

from celadon import __version__
from celadon.cli import output
from celadon.cli.exit_codes import Exit
from celadon.cli.options import missing_package

if TYPE_CHECKING:
    from celadon.cli.envtest.asset_folders import AssetFolder, VersionSelector

DESCRIPTION: Final = """\
Make a folder with programs that tests of operators start in place of envtest's: `kube-apiserver`
is `celadon serve` with the flags of kube-apiserver, `etcd` says that it is healthy, `kubectl` is
the one that is installed. Nothing is downloaded. `use` makes the folder and shows where it is,
`list` shows versions, `installed` those that are made, `cleanup` takes them away.
"""

EPILOG: Final = """\
versions:
  1.33 or 1.33.x  that release            ~1.33.2  1.33.2 or a later patch of 1.33
  1.33.4          that release, by name   <1.33    an older one
  latest          the latest there is; so does a `!` behind a version
  latest-on-disk  the latest that is made

examples:
  celadon envtest list
  celadon envtest use 1.33 --bin-dir ~/.kubeapitest
  export KUBEBUILDER_ASSETS=$(celadon envtest use 1.33)

No controllers run in the server, as none run in envtest; the variable CELADON_ENVTEST_CONTROLLERS
names some, or `*` those of `celadon serve`. CELADON_ENVTEST_SIMULATE=3 lets workloads run, on three
nodes.

needs: pip install 'celadon[serve]'

exit codes:
  0  it is done
  2  wrong usage, a version that there is not, or a folder that cannot be written
"""

VERBS: Final = ("use", "list", "installed", "cleanup", "sideload", "version")
ASSETS: Final = "KUBEBUILDER_ASSETS"


def arguments(parser: argparse.ArgumentParser) -> None:
    """Everything `celadon envtest --help` shows."""
    parser.add_argument("verb", choices=VERBS, metavar="VERB", help=", ".join(VERBS))
    parser.add_argument("version", nargs="?", default="", metavar="VERSION", help="see below")
    parser.add_argument(
        "-p",
        "--print",
        dest="form",
        choices=("overview", "path", "env"),
        help="what `use` shows: all, the path alone, a line for a shell (default: overview on a "
        "terminal, else path)",
    )
    parser.add_argument(
        "-i",
        "--installed-only",
        action="store_true",
        default=bool(os.environ.get("ENVTEST_INSTALLED_ONLY")),
        help="only what is made already",
    )
    parser.add_argument(
        "--use-env",
        action="store_true",
        default=bool(os.environ.get("ENVTEST_USE_ENV")),
        help=f"use the folder that {ASSETS} names, if it is a version's or has the programs",
    )
    parser.add_argument(
        "--bin-dir", type=Path, metavar="FOLDER", help="where folders are made (default: a cache)"
    )
    parser.add_argument("--force", action="store_true", help="make the folder anew")
    for name in ("os", "arch"):
        parser.add_argument(f"--{name}", metavar="NAME", help="this machine's, or `*`")
    of_others = parser.add_argument_group("accepted, since setup-envtest has them")
    of_others.add_argument("--index", metavar="URL", help="nothing is downloaded")
    for name in ("--remote-bucket", "--remote-server"):
        of_others.add_argument(name, metavar="NAME", help="nothing is downloaded")
    for name in ("--use-deprecated-gcs", "--verify"):
        of_others.add_argument(name, action="store_true", help="nothing is downloaded")
    of_others.add_argument("-v", "--v", metavar="LEVEL", help="nothing is logged")


def run(options: argparse.Namespace) -> Exit:
    """Do what the verb says."""
    if options.verb == "version":
        output.write(f"celadon {__version__}\n")
        return Exit.OK
    from celadon.cli.envtest.asset_folders import AssetError, VersionUnknown, parse_selector

    try:
        selector = parse_selector(options.version)
        if options.verb in ("list", "installed"):
            return _list(options, selector)
        if options.verb == "cleanup":
            return _clean_up(options, selector)
        return _use(options, selector)
    except (AssetError, VersionUnknown) as error:
        output.complain(f"error: {error}")
    except OSError as error:
        where = f"`{error.filename}`: " if error.filename else ""
        output.complain(f"error: {where}{error.strerror or error}")
    return Exit.USAGE


def _check_platform(options: argparse.Namespace) -> None:
    """Check the platform. Raises AssetError for another machine's: the programs are of this
    machine's Python."""
    from celadon.cli.envtest.asset_folders import AssetError, this_platform

    for name, text in zip(("os", "arch"), this_platform(), strict=True):
        expected = getattr(options, name)
        if expected not in (None, "*", text):
            raise AssetError(f"--{name} {expected}: the programs are for this machine, {text}")


def _is_meant(options: argparse.Namespace, platform: str) -> bool:
    """Return whether `--os` and `--arch` select a platform, such as `linux/amd64`."""
    from celadon.cli.envtest.asset_folders import this_platform

    platform_options = (options.os, options.arch)
    expected = [
        option or text for option, text in zip(platform_options, this_platform(), strict=True)
    ]
    parts = platform.split("/")
    return all(item in ("*", part) for item, part in zip(expected, parts, strict=True))


def _meant(options: argparse.Namespace, selector: VersionSelector) -> list[AssetFolder]:
    """Return the folders of the versions and platforms that are meant, newest first."""
    from celadon.cli.envtest.asset_folders import installed_folders

    folders = installed_folders(_root(options), selector)
    return [folder for folder in folders if _is_meant(options, folder.platform)]


def _root(options: argparse.Namespace) -> Path:
    from celadon.cli.envtest.asset_folders import default_root

    folder: Path | None = options.bin_dir
    return default_root() if folder is None else folder


def _use(options: argparse.Namespace, selector: VersionSelector) -> Exit:
    """Make the folder of a version, if need be, and show it."""
    from celadon.cli.envtest.asset_folders import (
        RELEASES,
        AssetError,
        installed_folders,
        make_folder,
        this_platform,
        version_to_use,
    )

    folder_of_environment = _folder_of_environment(options)
    if folder_of_environment is not None:
        return _show(options.form, *folder_of_environment)
    _check_platform(options)
    if options.verb == "sideload":
        if selector.exact is None:
            raise AssetError("`sideload` needs a whole version, such as 1.33.0")
        _read_away(sys.stdin)
        output.complain("warning: the archive is not used: the programs come with Celadon")
    if options.installed_only and options.force:
        raise AssetError("`--installed-only` and `--force` exclude each other")
    missing = missing_package()
    if missing:
        raise AssetError(missing)
    root, join = _root(options), "/".join(this_platform())
    installed = {
        installed_folder.version: installed_folder
        for installed_folder in installed_folders(root, selector)
        if installed_folder.platform == join
        and (installed_folder.is_own or installed_folder.version == selector.exact)
    }
    version = selector.exact
    if version is None or options.installed_only:
        version = version_to_use(selector, installed, only_installed=options.installed_only)
    elif version.release not in RELEASES:
        version_to_use(selector, (), only_installed=False)
    path = make_folder(root, version, anew=options.force)
    return _show(options.form, str(version), join, str(path))


def _folder_of_environment(options: argparse.Namespace) -> tuple[str, str, str] | None:
    """Version, platform and path of the folder that the environment names, with `--use-env`. A name
    of a version is believed; another folder must have the programs."""
    from celadon.cli.envtest.asset_folders import holds_programs, version_in_name

    assets = os.environ.get(ASSETS, "")
    if not (options.use_env and assets and options.verb == "use"):
        return None
    named = version_in_name(Path(assets))
    if named is not None:
        return str(named[0]), named[1], assets
    return ("*", "*/*", assets) if holds_programs(Path(assets)) else None


def _read_away(stream: TextIO | None) -> None:
    """Whoever writes an archive into a pipe fails if nobody reads it."""
    if stream is not None and not stream.isatty():
        with contextlib.suppress(OSError):
            while stream.buffer.read(1 << 20):
                pass


def _show(form: str | None, version: str, platform: str, path: str) -> Exit:
    """Show the path in one of the forms of `setup-envtest`; alone it has no end of line. Who does
    not name a form gets the path, if no person reads it: `$(celadon envtest use 1.33)`."""
    if form is None:
        form = "overview" if output.is_terminal(sys.stdout) else "path"
    if form == "path":
        output.write(path)
    elif form == "env":
        quoted = path.replace("'", "'\"'\"'")
        output.write(f"export {ASSETS}='{quoted}'\n")
    else:
        output.write(f"Version: {version}\nOS/Arch: {platform}\nPath: {path}\n")
    return Exit.OK


def _list(options: argparse.Namespace, selector: VersionSelector) -> Exit:
    """Versions that are made, and those that can be."""
    from celadon.cli.envtest.asset_folders import available_versions, this_platform

    platform = "/".join(this_platform())
    rows = [
        ("(installed)", f"v{folder.version}", folder.platform)
        for folder in _meant(options, selector)
    ]
    if options.verb == "list" and not options.installed_only and _is_meant(options, platform):
        rows += [
            ("(available)", f"v{available_version}", platform)
            for available_version in available_versions(selector)
        ]
    width = max((len(version) for _, version, _ in rows), default=0)
    output.write("".join(f"{state}  {row:{width}}  {where}\n" for state, row, where in rows))
    return Exit.OK


def _clean_up(options: argparse.Namespace, selector: VersionSelector) -> Exit:
    """Take folders away; without a version all."""
    from celadon.cli.envtest.asset_folders import remove_folders

    folders = _meant(options, selector)
    for folder in remove_folders(folders):
        output.write(f"removed {folder.version} ({folder.platform})\n")
    for folder in folders:
        if not folder.is_own:
            output.complain(f"warning: `{folder.path}` was not made by Celadon: it stays")
    return Exit.OK
