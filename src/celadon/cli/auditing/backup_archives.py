"""Backups as Velero writes them: a `.tar.gz` with one JSON file for each object.

`resources/<resource>.<group>/namespaces/<namespace>/<name>.json` and
`resources/<resource>.<group>/cluster/<name>.json`; newer ones have a folder
`<version>-preferredversion` beside, whose files are the same objects in the preferred version, and
others for further versions, which are left out. Members are read one after the other and never
written anywhere; links, devices and whatever else a tar may hold are passed over.
"""

from __future__ import annotations

import tarfile
from collections.abc import Iterator
from typing import BinaryIO, Final

from celadon.cli.auditing.audit_blocks import Block, Piece, PieceBlock
from celadon.cli.auditing.object_streams import Position
from celadon.cli.reading.input_limits import MAX_DOCUMENT_CHARACTERS
from celadon.cli.reading.problems import Problem
from celadon.patterns import late_pattern

MAX_MEMBERS: Final = 10_000_000
_MEMBERS: Final = 250
_BLOCK_BYTES: Final = 8 << 20
_OBJECT: Final = late_pattern(
    r"(?:\./)?resources/(?P<resource>[^/]+)/(?:namespaces/[^/]+/|cluster/)[^/]+\.json"
)
_TAR_MAGIC: Final = (257, b"ustar")


def is_tar(begin: bytes) -> bool:
    """Whether the first bytes of a file, unpacked, are those of a tar archive."""
    at, magic = _TAR_MAGIC
    return begin[at : at + len(magic)] == magic


def archive_blocks(file: str, stream: BinaryIO, position: Position) -> Iterator[Block | Problem]:
    """The objects of a backup; `stream` is the archive, unpacked. What is wrong with it ends it."""
    pieces: list[Piece | Problem] = []
    size = 0
    found = False
    try:
        with tarfile.open(fileobj=stream, mode="r|") as archive:
            for number, member in enumerate(archive):
                archive.members.clear()  # type: ignore[attr-defined]  # else all of them are kept
                if number >= MAX_MEMBERS:
                    pieces.append(Problem(file, 0, f"more than {MAX_MEMBERS} files"))
                    break
                piece = _piece(file, archive, member)
                if piece is None:
                    continue
                found = True
                pieces.append(piece)
                size += member.size
                if len(pieces) == _MEMBERS or size >= _BLOCK_BYTES:
                    yield PieceBlock(tuple(pieces), position())
                    pieces, size = [], 0
    except (tarfile.TarError, OSError, EOFError, ValueError, OverflowError) as error:
        pieces.append(Problem(file, 0, f"cannot be read as a backup: {str(error).lower()}"))
    else:
        if not found:
            pieces.append(
                Problem(file, 0, "no backup: it has no `resources/RESOURCE/...` with JSON files")
            )
    if pieces:
        yield PieceBlock(tuple(pieces), position())


def _piece(file: str, archive: tarfile.TarFile, member: tarfile.TarInfo) -> Piece | Problem | None:
    if not member.isreg() or _OBJECT.fullmatch(member.name) is None:
        return None
    name = f"{file}!{member.name.removeprefix('./')}"
    if member.size > MAX_DOCUMENT_CHARACTERS:
        return Problem(name, 0, f"larger than {MAX_DOCUMENT_CHARACTERS >> 20} MiB")
    content = archive.extractfile(member)
    return None if content is None else Piece(name, 1, content.read())
