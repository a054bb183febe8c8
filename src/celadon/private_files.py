"""Files and folders that only their owner may read, whatever the umask; and files of others, which
are read in a bounded memory, and replaced whole or not at all.

What is made here is made for its owner from the first moment on; nothing is written through a link
that somebody else may have put there. What is there already keeps its mode, for it may be meant so:
`exposure` says what is to be said of it. Windows has no such modes: there, files have the rights of
their folder, and nothing is said.
"""

from __future__ import annotations

import contextlib
import errno
import fnmatch
import glob
import os
import shlex
import stat
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

_FILE: Final = 0o600
_FOLDER: Final = 0o700
_NO_LINKS: Final = getattr(os, "O_NOFOLLOW", 0)
_NEW: Final = os.O_CREAT | os.O_EXCL | _NO_LINKS
_HAS_MODES: Final = os.name == "posix"
_MOST_READ: Final = 64 << 20
"""Bytes of a file that an option or a kubeconfig names: keys, certificates, configurations, and the
OpenAPI documents of a server, which are the largest."""


def content(path: str | Path) -> bytes:
    """Return the content of a file that may be a pipe, or a device without end. Raises OSError, for
    more than 64 MiB, too, and ValueError for a name that no file can have."""
    with open(path, "rb") as stream:
        data = stream.read(_MOST_READ + 1)
    if len(data) > _MOST_READ:
        raise OSError(errno.EFBIG, os.strerror(errno.EFBIG), str(path))
    return data


# The draft stands beside the file, since only there a rename is one step. A file of several names
# would lose all but one, a file of somebody else its owner: those are written in place.
def replace_content(path: Path, data: bytes) -> None:
    """Give a file other content, or leave it as it is where the disk is full. It keeps its mode,
    and a link leads to it as before. Raises OSError."""
    file = path.resolve()
    before = file.stat()
    is_ours = not hasattr(os, "geteuid") or before.st_uid == os.geteuid()
    draft = file.with_name(f".celadon-{os.getpid()}")
    if not (is_ours and stat.S_ISREG(before.st_mode) and before.st_nlink == 1):
        file.write_bytes(data)
        return
    try:
        stream = draft.open("xb")
    except OSError:  # a folder in which nothing new may be made
        file.write_bytes(data)
        return
    try:
        with stream:
            stream.write(data)
            stream.flush()
            os.fsync(stream.fileno())
        draft.chmod(stat.S_IMODE(before.st_mode))
        draft.replace(file)
    except OSError as error:
        draft.unlink(missing_ok=True)
        raise type(error)(error.errno, error.strerror, str(path)) from None


def create(path: str | Path) -> None:
    """Create an empty file, if there is nothing of that name. Raises OSError."""
    with contextlib.suppress(FileExistsError):
        os.close(_created(path, os.O_WRONLY))


def open_to_append(path: str | Path) -> int:
    """Return the descriptor of a file that is there, or is made. Raises OSError."""
    # The file may come or go between the two attempts; twice is enough unless somebody plays.
    for _ in range(2):
        with contextlib.suppress(FileExistsError):
            return _created(path, os.O_WRONLY | os.O_APPEND)
        with contextlib.suppress(FileNotFoundError):
            return os.open(path, os.O_WRONLY | os.O_APPEND)
    return os.open(path, os.O_WRONLY | os.O_APPEND)  # a link to nothing, for instance


def write(path: Path, content: bytes) -> None:
    """Write a file in place of what has the name now, a link among that; there is never half of it.
    Raises OSError."""
    # In the same folder, since only there a rename is one step.
    draft = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        draft.unlink(missing_ok=True)
        with os.fdopen(_created(draft, os.O_WRONLY), "wb") as file:
            file.write(content)
        draft.replace(path)
    except OSError as error:
        with contextlib.suppress(OSError):
            draft.unlink(missing_ok=True)
        raise type(error)(error.errno, error.strerror, str(path)) from None


def make_folder(path: Path) -> None:
    """Make a folder, if there is none; those above it are there. Raises OSError."""
    with contextlib.suppress(FileExistsError):
        path.mkdir(mode=_FOLDER)
        if _HAS_MODES:
            path.chmod(_FOLDER)


def _created(path: str | Path, access: int) -> int:
    descriptor = os.open(path, access | _NEW, _FILE)
    if _HAS_MODES:
        os.fchmod(descriptor, _FILE)  # a umask may have taken even the owner's rights
    return descriptor


def exposures(paths: Iterable[str | Path | None]) -> Iterator[str]:
    """Yield what others may do with files that hold secrets, with the command that ends it; a
    folder is named once. Files that are not there are passed over."""
    told: set[str] = set()
    for path in paths:
        if path is None or not _HAS_MODES:
            continue
        for text in (*_of_file(Path(path)), *_of_folder(Path(path).absolute().parent)):
            if text not in told:
                told.add(text)
                yield text


def _of_file(path: Path) -> Iterator[str]:
    try:
        mode = path.stat().st_mode
    except OSError:
        return
    yield from _of_others(path)
    if stat.S_ISREG(mode) and mode & 0o077:
        subject = "changed" if mode & 0o022 else "read"
        yield f"`{path}` can be {subject} by others: chmod 600 {shlex.quote(str(path))}"


def _of_others(path: Path) -> Iterator[str]:
    """Said of what somebody else has made, who may change it whatever its mode is: where everybody
    may make files, another user can have been first. Root may anyway."""
    user = os.geteuid()
    if path.stat().st_uid not in {0, user}:
        repair = f"chown {user} {shlex.quote(str(path))}"
        yield f"`{path}` belongs to another user, who may change it: {repair}"


def _of_folder(path: Path) -> Iterator[str]:
    """Yield what is wrong with a folder that others can change. In one that is sticky, as `/tmp`
    is, nobody can take away the files of others."""
    try:
        mode = path.stat().st_mode
    except OSError:
        return
    yield from _of_others(path)
    if mode & 0o022 and not mode & stat.S_ISVTX:
        yield f"`{path}` can be changed by others: chmod go-w {shlex.quote(str(path))}"


# --- Patterns ----------------------------------------------------------------
#
# Which names a pattern matches, as `glob` has it; `**` does not look behind links, as in shells.
# Each folder is looked into once for each part of the pattern, by whatever names it can be reached:
# `glob` takes time without end where links lead back, or where `**` stands several times.

_MOST_NAMES: Final = 1_000_000


class TooManyNamesError(ValueError):
    """Says that more names would have to be looked at than anybody has files."""


def matching(pattern: str, folder: str | Path = "") -> list[str]:
    """Return the names that a pattern matches, in order; a relative one is looked for in a folder.
    Raises TooManyNamesError."""
    drive, rest = os.path.splitdrive(pattern)
    names = rest.replace(os.sep, "/")
    found = [drive + os.sep if names.startswith("/") else drive]
    search = _Search(folder)
    parts = [part for part in names.split("/") if part]
    for number, part in enumerate(parts, 1):
        stepped = (name for path in found for name in search.step(path, part))
        found = sorted(stepped) if number == len(parts) else search.folders(stepped)
    return found


class _Search:
    """What is left of the names that one pattern may have looked at."""

    def __init__(self, folder: str | Path) -> None:
        self._folder = folder
        self._left = _MOST_NAMES

    def step(self, path: str, part: str) -> Iterator[str]:
        """Yield what one part of a pattern matches in a folder."""
        if part == "**":
            yield from self._below(path)
        elif glob.has_magic(part):
            for entry in self._entries(path):
                if fnmatch.fnmatch(entry.name, part) and _is_shown(entry, part):
                    yield os.path.join(path, entry.name)
        elif os.path.lexists(os.path.join(self._folder, path, part)):
            yield os.path.join(path, part)

    def folders(self, paths: Iterable[str]) -> list[str]:
        """Return the folders among them, each once."""
        found: dict[tuple[int, int], str] = {}
        for path in paths:
            with contextlib.suppress(OSError):
                about = os.stat(os.path.join(self._folder, path or os.curdir))
                if stat.S_ISDIR(about.st_mode):
                    found.setdefault((about.st_dev, about.st_ino), path)
        return list(found.values())

    def _below(self, path: str) -> Iterator[str]:
        pending = [path]
        while pending:
            path = pending.pop()
            yield path
            for entry in self._entries(path):
                if _is_shown(entry):
                    name = os.path.join(path, entry.name)
                    if entry.is_dir(follow_symlinks=False):
                        pending.append(name)
                    else:
                        yield name

    def _entries(self, path: str) -> Iterator[os.DirEntry[str]]:
        with (
            contextlib.suppress(OSError),
            os.scandir(os.path.join(self._folder, path) or os.curdir) as entries,
        ):
            for entry in entries:
                self._left -= 1
                if self._left < 0:
                    raise TooManyNamesError
                yield entry


def _is_shown(entry: os.DirEntry[str], part: str = "") -> bool:
    return not entry.name.startswith(".") or part.startswith(".")
