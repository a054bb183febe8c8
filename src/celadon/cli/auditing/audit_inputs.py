"""What the user named, cut into blocks: files, folders, globs, standard input, packed or not.

Everything may be gone through several times, by several processes, so what can be read only once
(standard input, a pipe) is first copied to a file that has no name and is gone at the end.

Dumps in object stores have addresses (`s3://bucket/folder/`). fsspec knows the stores
(docs/decisions/0033); each needs a package of its own, which it names.
"""

from __future__ import annotations

import functools
import gzip
import io
import itertools
import os
import shutil
import sys
import tempfile
import zlib
from collections.abc import Iterable, Iterator, Sequence
from typing import BinaryIO, Final, cast

from celadon.cli.auditing.audit_blocks import Block, FileBlock, PieceBlock
from celadon.cli.auditing.backup_archives import archive_blocks, is_tar
from celadon.cli.auditing.etcd_snapshots.bolt_pages import is_bolt
from celadon.cli.auditing.etcd_snapshots.snapshot_blocks import (
    DEFAULT_PREFIX,
    SnapshotObjects,
    snapshot_objects,
)
from celadon.cli.auditing.object_streams import Position, blocks_of
from celadon.cli.checking.check_report import Notice
from celadon.cli.reading.problems import Problem
from celadon.cli.reading.sources import STDIN, STDIN_CLOSED, STDIN_NAME, expand, is_address
from celadon.records import dataclass

GZIP: Final = b"\x1f\x8b"
_WHOLE: Final = 1 << 19
"""Files up to this size are read when their turn comes, each by one process."""
_BUFFER: Final = 1 << 16


@dataclass(frozen=True, slots=True)
class Input:
    """A file, or an open one that has no name of its own."""

    name: str
    size: int
    copied: int | None = None
    """The descriptor of what was copied."""

    @property
    def is_file(self) -> bool:
        """Whether anybody on this machine can open it by its name."""
        return self.copied is None and not is_address(self.name)

    def open(self) -> BinaryIO:
        """A stream from its beginning. Raises OSError."""
        if is_address(self.name):
            return opened(self.name)
        if self.copied is None:
            return open(self.name, "rb")
        return cast(BinaryIO, _Copy(self.copied))


class _Copy(io.RawIOBase):
    """A view of a descriptor with a position of its own: processes share the descriptor's."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor, self._at = descriptor, 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: bytearray | memoryview) -> int:  # type: ignore[override]
        found = os.pread(self._descriptor, len(buffer), self._at)
        buffer[: len(found)] = found
        self._at += len(found)
        return len(found)

    def tell(self) -> int:
        return self._at


@dataclass(frozen=True, slots=True)
class Inputs:
    """All of them, in their order; `total` bytes."""

    inputs: tuple[Input | SnapshotObjects | Problem, ...]

    @property
    def total(self) -> int:
        """In bytes, as they lie on the disk."""
        return sum(one.size for one in self.inputs if not isinstance(one, Problem))

    @property
    def notices(self) -> tuple[Notice, ...]:
        """What is known not to be among the blocks."""
        found = (one.notices for one in self.inputs if isinstance(one, SnapshotObjects))
        return tuple(itertools.chain.from_iterable(found))

    def blocks(self) -> Iterator[Block]:
        """All blocks, the same ones each time."""
        before = 0
        for one in self.inputs:
            yield from input_blocks(one, before)
            before += 0 if isinstance(one, Problem) else one.size


def input_blocks(one: Input | SnapshotObjects | Problem, before: int = 0) -> Iterator[Block]:
    """The blocks of one input; `before` are the bytes of those before it."""
    if isinstance(one, Problem):
        yield PieceBlock((one,), before)
    elif isinstance(one, SnapshotObjects):
        yield from one.blocks(before)
    else:
        for block in _blocks(one, before):
            yield PieceBlock((block,), before) if isinstance(block, Problem) else block


def given_inputs(
    arguments: Sequence[str], snapshots: Sequence[str] = (), prefix: str = DEFAULT_PREFIX
) -> Inputs:
    """What the arguments mean, then snapshots of etcd with objects under the prefix. Standard input
    and pipes are read now, and snapshots looked through."""
    files = _all(arguments)
    return Inputs((*files, *(snapshot_objects(one, prefix) for one in snapshots)))


def _all(arguments: Sequence[str]) -> Iterator[Input | Problem]:
    for remote, together in itertools.groupby(arguments, is_address):
        if not remote:
            yield from (_input(one) for one in expand(list(together)))
            continue
        for one in stored(together):
            yield one if isinstance(one, Problem) else Input(*one)


def _input(found: str | Problem) -> Input | Problem:
    if isinstance(found, Problem):
        return found
    try:
        if found == STDIN:
            if sys.stdin is None:
                return STDIN_CLOSED
            return _copied(STDIN_NAME, sys.stdin.buffer)
        if os.path.isfile(found):
            return Input(found, os.path.getsize(found))
        with open(found, "rb") as stream:
            return _copied(found, stream)
    except OSError as error:
        return Problem(found, 0, f"cannot be read: {(error.strerror or str(error)).lower()}")
    except ValueError:
        return Problem(found, 0, "cannot be read: not the name of a file")


def _copied(name: str, stream: BinaryIO) -> Input:
    with tempfile.TemporaryFile() as copy:
        shutil.copyfileobj(stream, copy)
        copy.flush()
        return Input(name, os.fstat(copy.fileno()).st_size, os.dup(copy.fileno()))


def _blocks(one: Input, before: int) -> Iterator[Block | Problem]:
    try:
        with one.open() as raw:
            begin = raw.read(_BUFFER)
            if is_bolt(begin):
                help = "give it with `--etcd-snapshot`"
                yield Problem(one.name, 0, "it is a snapshot of etcd, not a dump", help)
                return
            packed = begin.startswith(GZIP)
            if one.is_file and one.size <= _WHOLE and not packed and not is_tar(begin):
                yield FileBlock(one.name, before + one.size)
                return
        with one.open() as raw:
            buffered = io.BufferedReader(cast(io.RawIOBase, raw), _BUFFER)
            stream = cast(BinaryIO, gzip.GzipFile(fileobj=buffered) if packed else buffered)
            with io.BufferedReader(cast(io.RawIOBase, stream), _BUFFER) as peekable:
                position = functools.partial(_position, before, raw)
                yield from _formed(one, cast(io.BufferedReader, peekable), position)
    except (OSError, EOFError, zlib.error) as error:
        why = getattr(error, "strerror", None) or str(error)
        yield Problem(one.name, 0, f"cannot be read: {why.lower()}")


def _position(before: int, raw: BinaryIO) -> int:
    return before + raw.tell()


def _formed(one: Input, stream: io.BufferedReader, position: Position) -> Iterator[Block | Problem]:
    if is_tar(stream.peek(_BUFFER)):
        yield from archive_blocks(one.name, stream, position)
    else:
        yield from blocks_of(one.name, stream, position)


# --- object stores --------------------------------------------------------------------------------


_MISSING: Final = "pip install 'celadon[fleet]'"


def stored(addresses: Iterable[str]) -> Iterator[tuple[str, int] | Problem]:
    """Everything at and below these addresses, with its size in bytes."""
    for address in addresses:
        try:
            yield from _below(address)
        except ImportError as error:
            yield Problem(address, 0, f"cannot be read: {error}", _MISSING)
        except Exception as error:  # noqa: BLE001 - each store raises its own
            yield Problem(address, 0, f"cannot be read: {error}")


def _below(address: str) -> Iterator[tuple[str, int] | Problem]:
    import fsspec  # late: an extra

    store, path = fsspec.core.url_to_fs(address)
    found = sorted(store.find(path, detail=True).items())
    if not found:
        yield Problem(address, 0, "there is nothing at this address")
    for name, about in found:
        yield store.unstrip_protocol(name), int(about["size"])


def opened(address: str) -> BinaryIO:
    """A stream that can be read from any place. Raises OSError."""
    import fsspec  # late: an extra

    try:
        return cast(BinaryIO, fsspec.open(address, "rb").open())
    except OSError:
        raise
    except Exception as error:
        raise OSError(str(error)) from error
