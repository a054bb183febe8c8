"""Results in a folder, so that an audit that was stopped goes on where it was.

A result is found by what it is the result of: policies, settings, the source with the sizes and
times of its files, the part. Whatever has changed since is simply not found. Files are written
beside and then renamed, so none is ever half there; one that cannot be read counts as not there.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import pickle
import tempfile
from typing import Any, Final

_OURS: Final = "celadon."
_PLAIN: Final = frozenset(
    {("builtins", "set"), ("builtins", "frozenset"), ("collections", "Counter")}
)


class NothingKept:
    """For an audit that starts from the beginning and leaves nothing."""

    def found(self, key: str) -> object | None:
        """Nothing."""
        return None

    def keep(self, key: str, result: object) -> None:
        """Not at all."""


class KeptResults:
    """The results in a folder, which is made if there is none. Raises OSError."""

    def __init__(self, folder: str) -> None:
        os.makedirs(folder, exist_ok=True)
        self._folder = folder

    def found(self, key: str) -> object | None:
        """A result of an earlier run."""
        try:
            with open(self._path(key), "rb") as stream:
                return _Reader(stream).load()  # type: ignore[no-any-return]
        except FileNotFoundError:
            return None
        except Exception:  # noqa: BLE001 - a damaged file may make pickle raise anything
            return None

    def keep(self, key: str, result: object) -> None:
        """Once; a result that is there already is not written again."""
        path = self._path(key)
        if os.path.exists(path):
            return
        with tempfile.NamedTemporaryFile(dir=self._folder, delete=False) as stream:
            pickle.dump(result, stream, pickle.HIGHEST_PROTOCOL)
        os.replace(stream.name, path)

    def forget(self, key: str) -> None:
        """A result that nobody wants any more. Raises OSError."""
        with contextlib.suppress(FileNotFoundError):
            os.unlink(self._path(key))

    def _path(self, key: str) -> str:
        return os.path.join(self._folder, f"{key}.result")


class _Reader(pickle.Unpickler):
    """Makes nothing but values of ours: the folder may have been in other hands."""

    def find_class(self, module: str, name: str) -> Any:  # noqa: ANN401 - a class
        found = super().find_class(module, name)
        ours = module.startswith(_OURS) or (module, name) in _PLAIN
        if ours and isinstance(found, type) and found.__module__ == module:
            return found
        raise pickle.UnpicklingError(f"{module}.{name} is no value of ours")


def key_of(*parts: object) -> str:
    """Tells a result from all others: a digest of what it is the result of. Parts are told apart by
    their representation."""
    return hashlib.sha256(repr(parts).encode("utf-8", "backslashreplace")).hexdigest()
