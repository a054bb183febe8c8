"""From what the user typed to texts: files, folders, globs and `-` for standard input.

A folder stands for the `.yaml`, `.yml` and `.json` files in it and below it, in alphabetical order;
names that begin with a dot are skipped, and so are pipes, sockets and devices, and the tests of
policies, which stand beside them. Whoever asks for tests gets those in hidden folders, too
(`.kyverno-test/`): the caller knows them by their names (`is_hidden`). A file named on the command
line is read whatever its name and nature.
"""

from __future__ import annotations

import contextlib
import fnmatch
import glob
import os
import re
import sys
from collections.abc import Iterator, Sequence
from typing import BinaryIO, Final

from celadon.cli.reading.problems import Problem
from celadon.patterns import late_pattern
from celadon.records import dataclass

# --- Input limits ------------------------------------------------------------
#
# How much a file may contain, and why not more.
#
# Every limit answers the question "what would this input do to the person who runs the
# command": without them a kilobyte of YAML can ask for the memory of a data centre.


MAX_FILE_BYTES: Final = 256 * 1024 * 1024
"""Bytes of one file or of standard input. Larger inputs are better split than loaded at once."""

MAX_DOCUMENT_CHARACTERS: Final = 3 * 1024 * 1024
"""Characters of one object. kube-apiserver refuses request bodies over 3 MiB (3145728 bytes)."""

MAX_LIST_CHARACTERS: Final = 64 * 1024 * 1024
"""Characters of one document whose kind ends in `List`; its items are objects of their own."""

STDIN: Final = "-"
STDIN_NAME: Final = "<stdin>"
EXTENSIONS: Final = (".yaml", ".yml", ".json")
_TEST_FILES: Final = late_pattern(r"(?:.*[._-])?policytest\.(?:yaml|yml|json)", re.IGNORECASE)
"""What files are called that `celadon test` runs."""
_NEVER: Final = frozenset(
    {
        ".git",
        ".hg",
        ".svn",
        ".cache",
        ".direnv",
        ".eggs",
        ".gradle",
        ".idea",
        ".mypy_cache",
        ".nox",
        ".npm",
        ".pytest_cache",
        ".ruff_cache",
        ".terraform",
        ".tox",
        ".venv",
        ".vscode",
    }
)
"""Hidden folders in which other programs keep what nobody wrote."""
_GLOB_CHARACTERS: Final = frozenset("*?[")
_BYTE_ORDER_MARKS: Final = (
    (b"\xef\xbb\xbf", "utf-8"),
    (b"\xff\xfe", "utf-16-le"),
    (b"\xfe\xff", "utf-16-be"),
)


@dataclass(frozen=True, slots=True)
class Text:
    """The content of one file."""

    file: str
    content: str


class Exclusion:
    """This says which of the files in folders and of globs are left out: those that match one of
    the patterns as a whole, by a folder that they are in, or by a single name. `*` stands for
    anything, slashes included."""

    __slots__ = ("_match",)

    def __init__(self, patterns: Sequence[str] = ()) -> None:
        joined = "|".join(fnmatch.translate(os.path.normpath(one)) for one in patterns)
        self._match = late_pattern(joined).match if joined else None

    def covers(self, path: str) -> bool:
        """Return whether it is left out."""
        if self._match is None:
            return False
        part = os.path.normpath(path)
        while name := os.path.basename(part):
            if self._match(part) or self._match(name):
                return True
            part = os.path.dirname(part)
        return False


NOTHING_EXCLUDED: Final = Exclusion()


def expand(
    arguments: Sequence[str], exclusion: Exclusion = NOTHING_EXCLUDED, *, tests: bool = False
) -> Iterator[str | Problem]:
    """The files meant by the arguments, each once, in order; a problem for an empty argument. A
    file that an argument names is never left out. Tests are those of folders only if asked for."""
    seen: set[str] = set()
    for argument in arguments:
        for found in _expand_one(argument, exclusion, tests=tests):
            if isinstance(found, Problem):
                yield found
            elif (identity := _identity(found)) not in seen:
                seen.add(identity)
                yield found


def _identity(path: str) -> str:
    return path if path == STDIN else os.path.abspath(path)


def is_address(path: str) -> bool:
    """Return whether it is the address of something that is in no file of this machine."""
    return "://" in path


def is_test_file(path: str) -> bool:
    """Return whether a file is a test of policies, by its name."""
    return _TEST_FILES.fullmatch(os.path.basename(path)) is not None


def is_hidden(path: str, folders: Sequence[str]) -> bool:
    """Return whether a file of one of the folders is in a hidden one below it."""
    for folder in folders:
        below = os.path.relpath(path, folder or os.curdir).split(os.sep)
        if below[0] != os.pardir and not any(one.startswith(".") for one in below[:-1]):
            return False
    return True


def _expand_one(argument: str, exclusion: Exclusion, *, tests: bool) -> Iterator[str | Problem]:
    if argument == STDIN or os.path.isfile(argument):
        yield argument
    elif os.path.isdir(argument or os.curdir):
        below = _files_below(argument, hidden=tests)
        files = sorted(one for one in below if tests or not is_test_file(one))
        yield from (file for file in files if not exclusion.covers(file))
        if not files:
            yield Problem(argument, 0, "no .yaml, .yml or .json file in this folder")
    elif not os.path.exists(argument) and _GLOB_CHARACTERS.intersection(argument):
        matches = sorted(glob.glob(argument, recursive=True))
        if not matches:
            yield Problem(argument, 0, "no file matches this pattern")
        yield from (one for one in matches if _is_plain(one) and not exclusion.covers(one))
    else:
        # Something that is not there, or a pipe: reading it will tell.
        yield argument


def _files_below(folder: str, *, hidden: bool) -> Iterator[str]:
    for parent, folders, files in os.walk(folder):
        folders[:] = [
            name for name in folders if not name.startswith(".") or (hidden and name not in _NEVER)
        ]
        for name in files:
            path = os.path.join(parent, name)
            if name.lower().endswith(EXTENSIONS) and not name.startswith(".") and _is_plain(path):
                yield path


def _is_plain(path: str) -> bool:
    """Return whether it is a file, or a link to nothing, which reading will tell."""
    return os.path.isfile(path) or not os.path.exists(path)


def read(path: str) -> Text | Problem:
    """The content of a file, decoded, with line ends as `\\n`."""
    name = STDIN_NAME if path == STDIN else path
    try:
        if path == STDIN:
            if sys.stdin is None:
                return STDIN_CLOSED
            data = _bounded(sys.stdin.buffer)
        else:
            with open(path, "rb") as stream:
                data = _bounded(stream)
    except OSError as error:
        return Problem(name, 0, f"cannot be read: {(error.strerror or str(error)).lower()}")
    except ValueError:
        return Problem(name, 0, "cannot be read: not the name of a file")
    if data is None:
        limit = MAX_FILE_BYTES // (1024 * 1024)
        return Problem(name, 0, f"larger than {limit} MiB", "split it into several files")
    return decoded(name, data)


def _bounded(stream: BinaryIO) -> bytes | None:
    data = stream.read(MAX_FILE_BYTES + 1)
    return None if len(data) > MAX_FILE_BYTES else data


def encoded_like(content: str, data: bytes) -> bytes | None:
    """A text as bytes, with the byte order mark, the encoding and the line ends that the bytes of
    its file have; None where those are of both kinds."""
    encoding, mark = "utf-8", b""
    for known, marked in _BYTE_ORDER_MARKS:
        if data.startswith(known):
            encoding, mark = marked, known
            break
    before = data[len(mark) :].decode(encoding)
    pairs = before.count("\r\n")
    if pairs and pairs != before.count("\n"):
        return None
    return mark + (content.replace("\n", "\r\n") if pairs else content).encode(encoding)


def decoded(name: str, data: bytes) -> Text | Problem:
    """The bytes of a file as its text, with line ends as `\\n`."""
    encoding = "utf-8"
    for mark, marked in _BYTE_ORDER_MARKS:
        if data.startswith(mark):
            data, encoding = data[len(mark) :], marked
            break
    try:
        content = data.decode(encoding)
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        byte = data[error.start]
        return Problem(name, line, f"invalid UTF-8: byte 0x{byte:02x}", "save the file as UTF-8")
    if "\r" in content:
        content = content.replace("\r\n", "\n")
    return Text(name, content)


STDIN_CLOSED: Final = Problem(STDIN_NAME, 0, "cannot be read: standard input is closed")
"""Said where its descriptor was closed when Python started: `sys.stdin` is None then."""


# --- File signatures ---------------------------------------------------------
#
# Whether files are still the same ones, without reading them.


def signatures(paths: Sequence[str]) -> object:
    """Equal for as long as the paths mean the same files with the same contents. Links are
    followed, so that a mounted ConfigMap is another one when Kubernetes has written it anew."""
    found: list[object] = []
    for file in expand(paths):
        if isinstance(file, Problem):
            found.append((file.file, file.message))
            continue
        with contextlib.suppress(OSError):
            about = os.stat(file)
            found.append((file, about.st_ino, about.st_size, about.st_mtime_ns))
    return found
