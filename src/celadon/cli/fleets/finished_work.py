"""Results in a folder, so that an audit that was stopped goes on where it was.

A result is found by what it is the result of: policies, settings, the source with the sizes and
times of its files, the part. Whatever has changed since is simply not found, and neither is what
another version of Celadon has left. Files are written beside and then renamed, so none is ever half
there. They are JSON (`plain_records`); one that is not what it should be ends the audit.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
from pathlib import Path
from typing import Final, TypeVar

from celadon import __version__, owner_only
from celadon.cli.fleets.plain_records import NotPlainError, from_plain, to_plain

T = TypeVar("T")

_VERSION: Final = "celadonVersion"
_RESULT: Final = "result"


class DamagedResultError(ValueError):
    """A file in the folder that is no result; the text says which, and why."""


class NothingKept:
    """For an audit that starts from the beginning and leaves nothing."""

    def found(self, kind: type[T], key: str) -> T | None:
        """Nothing."""
        return None

    def keep(self, key: str, result: object) -> None:
        """Not at all."""


class KeptResults:
    """The results in a folder, which is made if there is none. Raises OSError."""

    def __init__(self, folder: str) -> None:
        with contextlib.suppress(FileExistsError):
            Path(folder).parent.mkdir(parents=True)
        owner_only.make_folder(Path(folder))
        self._folder = folder

    def found(self, kind: type[T], key: str) -> T | None:
        """A result of an earlier run, of this type. Raises DamagedResultError, OSError."""
        path = self._path(key)
        try:
            with open(path, encoding="ascii") as stream:
                return _read(kind, json.load(stream))
        except FileNotFoundError:
            return None
        except (ValueError, RecursionError) as error:
            why = "nested too deeply" if isinstance(error, RecursionError) else str(error)
            wrong = f"`{path}` is no result of an audit ({why}): remove it"
            raise DamagedResultError(wrong) from None

    def keep(self, key: str, result: object) -> None:
        """For a later run. Raises OSError."""
        plain = {_VERSION: __version__, _RESULT: to_plain(type(result), result)}
        text = json.dumps(plain, separators=(",", ":"))
        owner_only.write(Path(self._path(key)), text.encode("ascii"))

    def forget(self, key: str) -> None:
        """A result that nobody wants any more. Raises OSError."""
        with contextlib.suppress(FileNotFoundError):
            os.unlink(self._path(key))

    def _path(self, key: str) -> str:
        return os.path.join(self._folder, f"{key}.json")


def _read(kind: type[T], plain: object) -> T | None:
    """None for what another version of Celadon has written."""
    if not isinstance(plain, dict) or plain.keys() != {_VERSION, _RESULT}:
        raise NotPlainError(f"expected an object with {_VERSION} and {_RESULT}")
    return from_plain(kind, plain[_RESULT]) if plain[_VERSION] == __version__ else None


def key_of(*parts: object) -> str:
    """Tells a result from all others: a digest of what it is the result of. Parts are told apart by
    their representation."""
    return hashlib.sha256(repr(parts).encode("utf-8", "backslashreplace")).hexdigest()
