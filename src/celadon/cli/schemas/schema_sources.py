"""Where `celadon schema` gets schemas from: packs, OpenAPI documents, files with CRDs."""

from __future__ import annotations

import argparse
import json
import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from celadon.cli.reading import sources
from celadon.cli.reading.documents import Document, DocumentReader
from celadon.cli.reading.object_shape import shape_problem
from celadon.cli.reading.problems import Problem
from celadon.cli.schemas.openapi_documents import Access, documents
from celadon.kube.schemas import SchemaPack, built_in, pack_schemas
from celadon.records import dataclass

_MAX_PACK_BYTES: Final = 256 * 1024 * 1024
"""Of the JSON inside a pack."""


@dataclass(frozen=True, slots=True)
class Built:
    """What `build` made, or why it made nothing."""

    types: int = 0
    kinds: int = 0
    size: int = 0
    problems: tuple[Problem, ...] = ()


def access(options: argparse.Namespace) -> Access | str:
    """From the options; a complaint when the token cannot be read."""
    token = ""
    if options.token_file:
        text = sources.read(options.token_file)
        if isinstance(text, Problem):
            return f"`{options.token_file}` {text.message}"
        token = text.content.strip()
    return Access(token, options.ca_file or "", options.insecure)


def build(source: str, allowed: Access, target: str) -> Built:
    """A pack of all documents, written to a file. Nothing is written when one cannot be read."""
    found: list[dict[str, Any]] = []
    problems: list[Problem] = []
    for one in documents(source, allowed):
        if isinstance(one, Problem):
            problems.append(one)
        else:
            found.append(one)
    if problems:
        return Built(problems=tuple(problems))
    packed = pack_schemas(found, built_in().encodings())
    if not packed:
        return Built(problems=(Problem(source, 0, "no schemas in these documents"),))
    text = json.dumps(packed, ensure_ascii=False, separators=(",", ":"))
    data = zlib.compress(text.encode(), 9)
    try:
        Path(target).write_bytes(data)
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        return Built(problems=(Problem(target, 0, f"cannot be written: {reason}"),))
    return Built(len(packed), len(SchemaPack(packed).kinds), len(data))


def read_pack(path: str) -> SchemaPack | str:
    """A pack that `build` wrote; a complaint when the file is none."""
    try:
        data = zlib.decompressobj().decompress(Path(path).read_bytes(), _MAX_PACK_BYTES)
        entries = json.loads(data)
        pack = SchemaPack(entries)
        for name in entries:
            pack.component(name)
    except OSError as error:
        return f"cannot be read: {(error.strerror or str(error)).lower()}"
    except (zlib.error, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return "not a schema pack: make one with `celadon schema build`"
    return pack


def definitions(paths: Sequence[str]) -> tuple[list[dict[str, Any]], list[Problem]]:
    """The CustomResourceDefinitions in files; other documents are passed over."""
    found: list[dict[str, Any]] = []
    problems: list[Problem] = []
    reader = DocumentReader()
    for file in sources.expand(paths):
        text = file if isinstance(file, Problem) else sources.read(file)
        if isinstance(text, Problem):
            problems.append(text)
            continue
        for item in reader.read(text):
            problem = item if isinstance(item, Problem) else shape_problem(item)
            if problem is not None:
                problems.append(problem)
            elif isinstance(item, Document) and item.value["kind"] == "CustomResourceDefinition":
                found.append(item.value)
    return found, problems
