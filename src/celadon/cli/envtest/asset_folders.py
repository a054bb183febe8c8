"""Folders of programs for tests: made, found again and taken away.

A folder stands where `setup-envtest` and fabric8's test server put theirs:
`ROOT/k8s/1.33.0-linux-amd64`. What it was made by stands in a file in it (`MARKER`), so that one of
another Celadon or another Python is made anew, and one of somebody else's is left alone. A folder
is complete when it appears: it is made under another name and renamed.

Without a folder of the user's, the root is one in the cache of the user that has the version of
Celadon in its name, and which installation of it this is.

The programs are files that begin with the right Python. Where the system does not run such files
(Windows), they are what pip makes of scripts: the launcher that came with `celadon.exe`, with the
program behind it. Without that launcher they are `.cmd` files.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import platform
import shutil
import sys
import tempfile
import zipfile
from collections.abc import Iterable, Iterator, Mapping
from io import BytesIO
from pathlib import Path
from typing import Final, NamedTuple

from celadon import __version__
from celadon.cli.envtest import etcd_program, kubectl_program
from celadon.cli.envtest.kubectl_program import MARKER
from celadon.cli.options import DEFAULT_VERSION, VERSIONS
from celadon.late_patterns import late_pattern
from celadon.records import dataclass

# --- Versions ----------------------------------------------------------------
#
# Versions as `setup-envtest` understands them: `1.33`, `1.33.x`, `~1.33.2`, `<1.34`, `latest`.
#
# A version of Celadon's assets is that of a release with any patch number: what is served is the
# release, and a suite that asks for 1.33.4 gets a folder of that name. As
# sigs.k8s.io/controller-runtime `tools/setup-envtest/versions`.

RELEASES: Final = VERSIONS[: VERSIONS.index(DEFAULT_VERSION) + 1]
"""Those that can be served, oldest first."""

LATEST: Final = "latest"
LATEST_ON_DISK: Final = "latest-on-disk"

_SELECTOR: Final = late_pattern(
    r"(?P<compare><=|<|~)?v?(?P<major>0|[1-9]\d*)\.(?P<minor>0|[1-9]\d*)"
    r"(?:\.(?P<patch>0|[1-9]\d*|x|\*))?(?P<newest>!)?"
)


class VersionUnknown(Exception):
    """Says why there are no assets of a version."""


class AssetVersion(NamedTuple):
    """Versions compare by their numbers."""

    major: int
    minor: int
    patch: int

    def __str__(self) -> str:
        return f"{self.major}.{self.minor}.{self.patch}"

    @property
    def release(self) -> str:
        """Return the release of a version: `1.33` of 1.33.4."""
        return f"{self.major}.{self.minor}"


@dataclass(frozen=True, slots=True)
class VersionSelector:
    """Selects versions. `compare` is empty, `<`, `<=` or `~`; without numbers all versions are
    meant. `patch` is None for a wildcard; `newest` asks for the newest there is, not for the newest
    that is installed."""

    text: str
    compare: str = ""
    numbers: tuple[int, int] | None = None
    patch: int | None = None
    newest: bool = False
    only_installed: bool = False

    def matches(self, version: AssetVersion) -> bool:
        """Return whether a version is meant."""
        if self.numbers is None:
            return True
        numbers = version[:2]
        if self.compare in ("<", "<="):
            if numbers != self.numbers:
                return numbers < self.numbers
            if self.patch is None or self.patch == version.patch:
                return self.compare == "<="
            return version.patch < self.patch
        if numbers != self.numbers:
            return False
        if self.compare == "~":
            return version.patch >= (self.patch or 0)
        return self.patch is None or self.patch == version.patch

    @property
    def exact(self) -> AssetVersion | None:
        """Return the one version that is meant, if it is one."""
        if self.numbers is None or self.patch is None or self.compare:
            return None
        return AssetVersion(*self.numbers, self.patch)


def parse_selector(text: str) -> VersionSelector:
    """Parse a selector. An empty text means the latest version. Raises VersionUnknown."""
    if text in ("", LATEST):
        return VersionSelector(text or LATEST, newest=True)
    if text == LATEST_ON_DISK:
        return VersionSelector(text, only_installed=True)
    match = _SELECTOR.fullmatch(text)
    if match is None:
        raise VersionUnknown(
            f"`{text}` is not a version: 1.33, 1.33.x, 1.33.4, ~1.33.4, <1.34, "
            f"{LATEST} or {LATEST_ON_DISK}, the numbers with a `!` behind them or not"
        )
    patch = match["patch"]
    return VersionSelector(
        text,
        match["compare"] or "",
        (int(match["major"]), int(match["minor"])),
        int(patch) if patch and patch.isdigit() and len(patch) < 10 else None,
        newest=match["newest"] is not None,
    )


def available_versions(selector: VersionSelector) -> list[AssetVersion]:
    """Return one version of each release that is meant, newest first."""
    if selector.exact is not None or selector.compare == "~":
        major, minor = selector.numbers or (0, 0)
        candidates = [AssetVersion(major, minor, selector.patch or 0)]
    else:
        numbers = [release.split(".") for release in RELEASES]
        candidates = [AssetVersion(int(major), int(minor), 0) for major, minor in numbers]
    return [
        version
        for version in reversed(candidates)
        if version.release in RELEASES and selector.matches(version)
    ]


def version_to_use(
    selector: VersionSelector, installed: Iterable[AssetVersion], *, only_installed: bool
) -> AssetVersion:
    """Return the newest one that is meant, of those that are installed if there is one and nothing
    newer is asked for. Raises VersionUnknown."""
    matching = [version for version in installed if selector.matches(version)]
    if only_installed or selector.only_installed:
        if not matching:
            raise VersionUnknown(f"no assets of `{selector.text}` are installed (see `list -i`)")
        return max(matching)
    if matching and not selector.newest:
        return max(matching)
    candidates = [*matching, *available_versions(selector)]
    if not candidates:
        raise VersionUnknown(
            f"`{selector.text}` is none of the releases {RELEASES[0]} to {RELEASES[-1]}"
        )
    return max(candidates)


PROGRAMS: Final = ("kube-apiserver", "etcd", "kubectl")
WINDOWS: Final = "nt"
ARCHITECTURES: Final[Mapping[str, str]] = {
    "aarch64": "arm64",
    "amd64": "amd64",
    "arm64": "arm64",
    "ppc64le": "ppc64le",
    "s390x": "s390x",
    "x86_64": "amd64",
}
"""Go's names of the machines that Python names."""

LONGEST_FIRST_LINE: Final = 127
"""Bytes that old kernels read of the line that names an interpreter."""

TRIES: Final = 5
_FOLDER: Final = late_pattern(r"(\d+)\.(\d+)\.(\d+)-(\w+)-(\w+)")

_PACKAGES: Final = str(Path(__file__).resolve().parents[3])
"""Where this Celadon is imported from."""

_APISERVER: Final = """\
import sys

sys.path.append({packages!r})
from celadon.cli.envtest.apiserver_program import main

sys.exit(main({release!r}))
"""


class AssetError(Exception):
    """Says why a folder cannot be made."""


@dataclass(frozen=True, slots=True)
class AssetFolder:
    """A folder that is there. `own` says that this Celadon made it, or another one."""

    version: AssetVersion
    platform: str
    path: Path
    is_own: bool


def this_platform() -> tuple[str, str]:
    """System and machine in Go's words."""
    machine = platform.machine().lower()
    return platform.system().lower(), ARCHITECTURES.get(machine, machine)


def default_root(environment: Mapping[str, str] = os.environ) -> Path:
    """Return where folders stand if nobody says."""
    installation = hashlib.sha256(f"{sys.executable}\n{_PACKAGES}".encode()).hexdigest()[:8]
    return _cache_folder(environment) / "celadon" / "envtest" / f"{__version__}-{installation}"


def _cache_folder(environment: Mapping[str, str]) -> Path:
    system = platform.system()
    if system == "Windows":
        return Path(environment.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local")
    if system == "Darwin":
        return Path.home() / "Library" / "Caches"
    return Path(environment.get("XDG_CACHE_HOME") or Path.home() / ".cache")


def installed_folders(root: Path, selector: VersionSelector) -> list[AssetFolder]:
    """Return the folders that are meant, newest first; those of other programs, too."""
    folders = []
    for path in (root / "k8s").glob("*-*-*"):
        named = version_in_name(path)
        if named is not None and path.is_dir() and selector.matches(named[0]):
            folders.append(AssetFolder(*named, path, is_own=(path / MARKER).is_file()))
    return sorted(folders, key=lambda folder: (folder.version, folder.platform), reverse=True)


def version_in_name(path: Path) -> tuple[AssetVersion, str] | None:
    """Return what a folder's name says that it has, such as 1.33.0 for `linux/amd64`."""
    match = _FOLDER.fullmatch(path.name)
    if match is None:
        return None
    return AssetVersion(*map(int, match.groups()[:3])), f"{match[4]}/{match[5]}"


def make_folder(root: Path, version: AssetVersion, *, anew: bool = False) -> Path:
    """Return the folder of a version, which is made if it is not there or not of this installation;
    with `anew` in any case. Raises AssetError, and OSError for a disk that does not take it."""
    place = root.absolute() / "k8s" / f"{version}-{'-'.join(this_platform())}"
    marker = _marker(version)
    for _ in range(TRIES):
        if place.exists() and not (place / MARKER).is_file():
            raise AssetError(f"`{place}` was not made by Celadon: name another `--bin-dir`")
        if not anew and _read(place / MARKER) == marker:
            return place
        place.parent.mkdir(parents=True, exist_ok=True)
        path = Path(tempfile.mkdtemp(prefix=".made-", dir=place.parent))
        try:
            _fill(path, version, marker)
            _take_away(place)
            path.rename(place)
        except FileExistsError:  # somebody else was quicker
            continue
        except OSError:
            if not place.is_dir():
                raise
            continue
        finally:
            shutil.rmtree(path, ignore_errors=True)
        return place
    raise AssetError(f"`{place}` is made again and again by others")


def remove_folders(folders: list[AssetFolder]) -> Iterator[AssetFolder]:
    """Take folders away that Celadon made, and give each that has gone."""
    for folder in folders:
        if folder.is_own:
            _take_away(folder.path)
            yield folder


def holds_programs(path: Path) -> bool:
    """Return whether it is a folder that tests can use."""
    return all(
        any((path / f"{name}{end}").exists() for end in ("", ".exe", ".cmd")) for name in PROGRAMS
    )


def _marker(version: AssetVersion) -> str:
    """Return what a folder is made of: if it is another text, the folder is made anew."""
    made_of = {"celadon": __version__, "packages": _PACKAGES, "python": sys.executable}
    return json.dumps({**made_of, "version": str(version)}, indent=2) + "\n"


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeError):
        return ""


def _take_away(place: Path) -> None:
    """Remove a folder at once for whoever looks at it: it gets another name first."""
    with contextlib.suppress(FileNotFoundError):
        old = Path(tempfile.mkdtemp(prefix=".old-", dir=place.parent))
        try:
            place.rename(old / place.name)
        finally:
            shutil.rmtree(old, ignore_errors=True)


def _fill(folder: Path, version: AssetVersion, marker: str) -> None:
    folder.chmod(0o755)
    texts = {
        "kube-apiserver": ("-S", _APISERVER.format(packages=_PACKAGES, release=version.release)),
        "etcd": ("-IS", Path(etcd_program.__file__).read_text(encoding="utf-8")),
        "kubectl": ("-IS", Path(kubectl_program.__file__).read_text(encoding="utf-8")),
    }
    launcher = _launcher() if os.name == WINDOWS else b""
    for name, (options, text) in texts.items():
        if os.name != WINDOWS:
            path = folder / name
            path.write_text(first_lines(sys.executable, options) + text, encoding="utf-8")
            path.chmod(0o755)
        elif launcher:
            program = windows_program(launcher, sys.executable, options, text)
            (folder / f"{name}.exe").write_bytes(program)
        else:
            (folder / f"{name}.py").write_text(text, encoding="utf-8")
            command = f'@"{sys.executable}" {options} "%~dp0{name}.py" %*\r\n'
            (folder / f"{name}.cmd").write_text(command, encoding="utf-8", newline="")
    (folder / MARKER).write_text(marker, encoding="utf-8")


# --- Beginnings of programs --------------------------------------------------


def first_lines(python: str, options: str) -> str:
    """Return what makes a file a program of this Python. A path that is too long for the first
    line, or that has blanks, is given to the shell, which takes the second line for a command and
    Python for a text: as pip does it."""
    line = f"#!{python} {options}".rstrip()
    if " " not in python and len(line.encode()) <= LONGEST_FIRST_LINE:
        return f"{line}\n"
    quoted = python.translate({ord(text): f"\\{text}" for text in '"$`\\'})
    command = f"'''exec' \"{quoted}\" {options}".rstrip()
    return f"#!/bin/sh\n{command} \"$0\" \"$@\"\n' '''\n"


def windows_program(launcher: bytes, python: str, options: str, text: str) -> bytes:
    """Return a program for Windows: the launcher, the line that names Python, and an archive with
    what Python is to run."""
    archive = BytesIO()
    with zipfile.ZipFile(archive, "w") as files:
        files.writestr(zipfile.ZipInfo("__main__.py"), text)
    line = f'#!"{python}" {options}'.rstrip()
    return launcher + line.encode() + b"\r\n" + archive.getvalue()


def launcher_of(program: bytes) -> bytes:
    """Return the launcher that a program of pip's begins with; empty for another kind of
    program."""
    try:
        with zipfile.ZipFile(BytesIO(program)) as files:
            start = min(zip_info.header_offset for zip_info in files.infolist())
    except (zipfile.BadZipFile, ValueError):
        return b""
    end = program.rfind(b"#!", 0, start)
    return program[:end] if end > 0 else b""


def _launcher() -> bytes:
    """Return the program of the installed command; nothing if it was not installed by pip."""
    program = Path(sys.executable).parent / "celadon.exe"
    if not program.is_file():
        program = Path(sys.executable).parent / "Scripts" / "celadon.exe"
    return launcher_of(program.read_bytes()) if program.is_file() else b""
