"""`celadon schema`: the fields of the built-in kinds, of those of a pack, and of definitions."""

from __future__ import annotations

import argparse
import http.client
import json
import os
import ssl
import time
import urllib.error
import urllib.parse
import urllib.request
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, BinaryIO, Final

from celadon import private_files
from celadon.cli import output
from celadon.cli.exit_codes import Exit, WrongUseError
from celadon.cli.options import add_files, did_you_mean
from celadon.cli.project_config import read_manifests
from celadon.cli.reading.documents import Document, Problem, read_text, shape_problem
from celadon.kube import GroupVersionKind
from celadon.kube.go import json_text
from celadon.kube.json_types import JsonDict, Needed, Shape, misfit
from celadon.kube.resources import Resource, custom_resources, known_resources
from celadon.kube.schemas import ABSENT, Schema, SchemaPack, built_in, custom_schemas, pack_schemas
from celadon.late_patterns import late_pattern
from celadon.records import dataclass, field

# --- Schemas -----------------------------------------------------------------

# The schemas that `celadon schema` shows: the built-in kinds or those of a pack, and CRDs.
#
# A kind may be asked for by kind, plural or short name, in any case: `Deployment`, `deploy`,
# `apps/v1/Deployment`, `v1/Pod`; fields follow after dots, `deploy.spec.template`. Lists and maps
# stand for their items, as in `kubectl explain`.

_VERSION: Final = late_pattern(r"v(\d{1,18})(?:(alpha|beta)(\d{1,18}))?")
_STAGES: Final = {"alpha": 0, "beta": 1, None: 2}


@dataclass(frozen=True, slots=True)
class SchemaMatch:
    """A schema and the way to it: a kind, and the fields that were followed."""

    gvk: GroupVersionKind
    schema: Schema
    fields: tuple[str, ...] = ()


@dataclass(slots=True)
class Schemas:
    """Schemas by kind, and the resources that give kinds other names."""

    pack: SchemaPack
    custom: dict[GroupVersionKind, Schema] = field(default_factory=dict)
    resources: list[Resource] = field(default_factory=lambda: list(known_resources()))

    def add(self, definition: JsonDict) -> None:
        """Add the served versions of a CustomResourceDefinition."""
        self.custom.update(custom_schemas(definition))
        self.resources += custom_resources(definition)

    def kinds(self) -> list[GroupVersionKind]:
        """Return every kind: by group and kind, the preferred version first."""
        return sorted({*self.pack.kinds, *self.custom}, key=_order)

    def find(self, text: str) -> SchemaMatch:
        """Return what a user means. Raises WrongUseError when it is nothing."""
        prefix, slash, last = text.rpartition("/")
        words = last.split(".")
        kind = self._kind(prefix + slash, words[0])
        schema = self.custom.get(kind) or self.pack.component(self.pack.kinds[kind])
        fields: tuple[str, ...] = ()
        for word in words[1:]:
            schema, fields = self._field(schema, word), (*fields, word)
        return SchemaMatch(kind, schema, fields)

    def _kind(self, api_version: str, word: str) -> GroupVersionKind:
        kinds = self.kinds()
        names = {word.lower()}
        for resource in self.resources:
            if word.lower() in {resource.gvr.resource, resource.singular, *resource.short_names}:
                names.add(resource.gvk.kind.lower())
        version = api_version.removesuffix("/").lower()
        for kind in kinds:
            if kind.kind.lower() in names and version in {"", kind.group, kind.api_version}:
                return kind
        hint = did_you_mean(word, [kind.kind for kind in kinds])
        raise WrongUseError(f"no kind `{api_version}{word}`{hint}")

    def _field(self, schema: Schema, word: str) -> Schema:
        members = element(schema, self.pack).properties
        if word not in members:
            raise WrongUseError(f"no field `{word}`{did_you_mean(word, members)}")
        return members[word]


def element(schema: Schema, pack: SchemaPack) -> Schema:
    """Return what a list or map holds at last; references followed."""
    schema = pack.resolve(schema)
    while (inner := schema.items or schema.additional_properties) is not None:
        schema = pack.resolve(inner)
    return schema


def type_name(schema: Schema, pack: SchemaPack) -> str:
    """Return the name of a type, `string`, `[]Container`, `map[string]Quantity`, as `kubectl
    explain` writes it."""
    if schema.ref:
        return schema.ref.rpartition(".")[2]
    if schema.items is not None:
        return f"[]{type_name(schema.items, pack)}"
    if schema.additional_properties is not None:
        return f"map[string]{type_name(schema.additional_properties, pack)}"
    if schema.int_or_string:
        return "IntOrString"
    if schema.name:
        return schema.name.rpartition(".")[2]
    return schema.type.capitalize() if schema.type == "object" else schema.type or "any"


def document(schema: Schema, pack: SchemaPack, open_: frozenset[str] = frozenset()) -> Any:  # noqa: ANN401 - any JSON
    """Return the schema as OpenAPI, references followed; a type inside itself is an object of any
    content."""
    if schema.ref:
        if schema.ref in open_:
            return {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
        return {**document(pack.resolve(schema), pack, open_), **_own(schema)}
    if schema.name:
        open_ |= {schema.name}
    result: JsonDict = {}
    if schema.int_or_string:
        result["x-kubernetes-int-or-string"] = True
    elif schema.type:
        result["type"] = schema.type
        if schema.format:
            result["format"] = schema.format
    if schema.properties:
        members = sorted(schema.properties.items())
        result["properties"] = {key: document(member, pack, open_) for key, member in members}
    if schema.items is not None:
        result["items"] = document(schema.items, pack, open_)
    if schema.additional_properties is not None:
        result["additionalProperties"] = document(schema.additional_properties, pack, open_)
    return {**result, **_own(schema)}


def _own(schema: Schema) -> JsonDict:
    keywords = {
        "required": list(schema.required),
        "enum": list(schema.enum),
        "default": None if schema.default is ABSENT else schema.default,
        "nullable": schema.nullable,
        "x-kubernetes-list-type": schema.list_type,
        "x-kubernetes-list-map-keys": list(schema.list_map_keys),
        "x-kubernetes-map-type": schema.map_type,
        "x-kubernetes-patch-merge-key": schema.merge_key,
        "x-kubernetes-patch-strategy": schema.patch_strategy,
        "x-kubernetes-preserve-unknown-fields": schema.preserve_unknown or schema.open_values,
    }
    return {key: value for key, value in keywords.items() if value not in ([], "", False, None)}


@dataclass(frozen=True, slots=True)
class Row:
    """A field in the human listing; `notes` are what `kubectl explain` puts behind the type."""

    depth: int
    name: str
    type: str
    notes: str


def rows(schema: Schema, pack: SchemaPack, *, recursive: bool) -> Iterator[Row]:
    """Yield the fields of a schema or of what it holds; with `recursive`, theirs below them."""
    yield from _rows(schema, pack, frozenset(), 0, recursive=recursive)


def _rows(
    schema: Schema, pack: SchemaPack, open_: frozenset[str], depth: int, *, recursive: bool
) -> Iterator[Row]:
    resolved = element(schema, pack)
    if resolved.name and resolved.name in open_:
        return
    for name, member in sorted(resolved.properties.items()):
        yield Row(depth, name, type_name(member, pack), _notes(name, member, resolved))
        if recursive:
            yield from _rows(member, pack, open_ | {resolved.name}, depth + 1, recursive=recursive)


def _notes(name: str, member: Schema, owner: Schema) -> str:
    notes = ["required"] if name in owner.required else []
    if member.enum:
        notes.append("one of " + ", ".join(map(_shown, member.enum)))
    if member.default is not ABSENT:
        notes.append(f"default {_shown(member.default)}")
    if member.list_type in ("set", "map"):
        keys = ", ".join(member.list_map_keys)
        notes.append(f"unique by {keys}" if keys else "unique")
    if member.nullable:
        notes.append("nullable")
    if member.preserve_unknown or member.open_values:
        notes.append("keeps unknown fields")
    return "; ".join(notes)


def _shown(value: object) -> str:
    return value if isinstance(value, str) else json_text(value)


def _order(kind: GroupVersionKind) -> tuple[str, str, tuple[int, int, int], str]:
    """Stable versions before beta before alpha, later before earlier."""
    match = _VERSION.fullmatch(kind.version)
    if match is None:
        return kind.group, kind.kind, (1, 0, 0), kind.version
    stage = _STAGES[match[2]]
    return (
        kind.group,
        kind.kind,
        (-stage, -int(match[1]), -int(match[3] or 0)),
        kind.version,
    )


# --- Openapi documents -------------------------------------------------------
#
# OpenAPI v3 documents: from a folder, or from a server's `/openapi/v3`.
#
# A server lists its documents under `paths`, each with the address it is at. Saved documents
# are `.json` files, however they are named; the list itself (`index.json`) may be among them.

MAX_DOCUMENT_BYTES: Final = 64 * 1024 * 1024
_ENTRY: Final = "/openapi/v3"
_TIMEOUT: Final = 30.0
"""Seconds that a server may take to answer, or to send more of an answer."""
_WHOLE_TIMEOUT: Final = 300.0
"""Seconds that all of an answer may take."""
_PIECE_BYTES: Final = 1 << 16

_TYPE: Final[Shape] = {
    "type": str,
    "format": str,
    "required": [Needed(str)],
    "enum": [],
    "allOf": [],
    "x-kubernetes-group-version-kind": [
        Needed({"group": Needed(str), "version": Needed(str), "kind": Needed(str)})
    ],
    "x-kubernetes-list-type": str,
    "x-kubernetes-list-map-keys": [Needed(str)],
    "x-kubernetes-map-type": str,
    "x-kubernetes-patch-merge-key": str,
    "x-kubernetes-patch-strategy": str,
}
_TYPE["properties"] = {str: _TYPE}
_TYPE["items"] = _TYPE
_TYPE["additionalProperties"] = (bool, _TYPE)
_DOCUMENT: Final[Shape] = {"components": {"schemas": {str: _TYPE}}}
"""Of what is known of an OpenAPI document."""


@dataclass(frozen=True, slots=True)
class Access:
    """A server is spoken to with this: a bearer token, the file of its CA certificates."""

    token: str = ""
    ca_file: str = ""
    insecure: bool = False


def is_url(source: str) -> bool:
    """Return whether the documents are on a server."""
    return source.startswith(("http://", "https://"))


def documents(source: str, access: Access) -> Iterator[JsonDict | Problem]:
    """Yield every document of a folder, file or server; a problem for each that cannot be had."""
    if is_url(source):
        yield from _served(source, access)
        return
    path = Path(source)
    paths = sorted(path.rglob("*.json")) if path.is_dir() else [path]
    if not paths:
        yield Problem(source, 0, "no .json file in this folder")
    for item in paths:
        saved = _saved(item)
        if isinstance(saved, Problem) or "components" in saved:
            yield saved


def _saved(path: Path) -> JsonDict | Problem:
    try:
        if os.path.getsize(path) > MAX_DOCUMENT_BYTES:
            return Problem(str(path), 0, "larger than an OpenAPI document should be")
        return _decoded(str(path), private_files.content(path))
    except OSError as error:
        return Problem(str(path), 0, f"cannot be read: {(error.strerror or str(error)).lower()}")


def _decoded(name: str, data: bytes) -> JsonDict | Problem:
    try:
        document = json.loads(data)
    except (ValueError, RecursionError):
        return Problem(name, 0, "not a JSON document")
    if not isinstance(document, dict):
        return Problem(name, 0, "not a JSON object")
    wrong = misfit(document, _DOCUMENT)
    return document if wrong is None else Problem(name, 0, str(wrong))


def _served(url: str, access: Access) -> Iterator[JsonDict | Problem]:
    entry = url if url.rstrip("/").endswith(_ENTRY) else url.rstrip("/") + _ENTRY
    index = _fetched(entry, access)
    if isinstance(index, Problem):
        yield index
        return
    paths = index.get("paths")
    if not isinstance(paths, dict):
        yield Problem(entry, 0, "not a list of OpenAPI documents")
        return
    for name in sorted(paths):
        address = paths[name].get("serverRelativeURL") if isinstance(paths[name], dict) else None
        if not isinstance(address, str):
            yield Problem(entry, 0, f"no address for `{name}`")
            continue
        # The list may not lead to another server: the token is for this one.
        joined = urllib.parse.urljoin(entry, address)
        if urllib.parse.urlsplit(joined)[:2] != urllib.parse.urlsplit(entry)[:2]:
            yield Problem(entry, 0, f"`{name}` is on another server")
            continue
        yield _fetched(joined, access)


def _fetched(url: str, access: Access) -> JsonDict | Problem:
    request = urllib.request.Request(url, headers={"Accept": "application/json"})
    if access.token:
        # A redirect may lead to another server.
        request.add_unredirected_header("Authorization", f"Bearer {access.token}")
    try:
        with urllib.request.urlopen(
            request, timeout=_TIMEOUT, context=_context(url, access)
        ) as response:
            data = _received(response)
    except urllib.error.HTTPError as error:
        with error:  # it is the answer, too
            return Problem(url, 0, f"cannot be fetched: {error.reason.lower()}")
    except (http.client.HTTPException, OSError, ValueError) as error:
        reason = getattr(error, "reason", error)
        return Problem(url, 0, f"cannot be fetched: {str(reason).lower()}")
    if len(data) > MAX_DOCUMENT_BYTES:
        return Problem(url, 0, "larger than an OpenAPI document should be")
    return _decoded(url, data)


def _received(response: BinaryIO) -> bytes:
    """Return the body, or one byte more of it than there may be. Raises TimeoutError for one that
    trickles in."""
    data, ends = bytearray(), time.monotonic() + _WHOLE_TIMEOUT
    while len(data) <= MAX_DOCUMENT_BYTES:
        piece = response.read(_PIECE_BYTES)
        if not piece:
            break
        data += piece
        if time.monotonic() > ends:
            raise TimeoutError(f"it has not come in {_WHOLE_TIMEOUT:.0f} seconds")
    return bytes(data)


def _context(url: str, access: Access) -> ssl.SSLContext | None:
    if not url.startswith("https://"):
        return None
    try:
        context = ssl.create_default_context(cafile=access.ca_file or None)
    except ssl.SSLError:
        raise ValueError(f"`{access.ca_file}`: no certificates of authorities") from None
    context.verify_flags |= ssl.VERIFY_X509_PARTIAL_CHAIN  # as kubectl: what is given is trusted
    context.verify_flags &= ~ssl.VERIFY_X509_STRICT
    if access.insecure:
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    return context


# --- Schema sources ----------------------------------------------------------
#
# Where `celadon schema` gets schemas from: packs, OpenAPI documents, files with CRDs.

_MAX_PACK_BYTES: Final = 256 * 1024 * 1024
"""Of the JSON inside a pack."""


@dataclass(frozen=True, slots=True)
class Built:
    """Tells what `build` made, or why it made nothing."""

    types: int = 0
    kinds: int = 0
    size: int = 0
    problems: tuple[Problem, ...] = ()


def access(options: argparse.Namespace) -> Access:
    """Read the options. Raises WrongUseError when the token cannot be read."""
    token = ""
    if options.token_file:
        text = read_text(options.token_file)
        if isinstance(text, Problem):
            raise WrongUseError(f"`{options.token_file}` {text.message}")
        token = text.content.strip()
    return Access(token, options.ca_file or "", options.insecure)


def build(source: str, allowed: Access, target: str) -> Built:
    """Return a pack of all documents, written to a file. Nothing is written when one cannot be
    read."""
    result: list[JsonDict] = []
    problems: list[Problem] = []
    for item in documents(source, allowed):
        if isinstance(item, Problem):
            problems.append(item)
        else:
            result.append(item)
    if problems:
        return Built(problems=tuple(problems))
    packed = pack_schemas(result, built_in().encodings())
    if not packed:
        return Built(problems=(Problem(source, 0, "no schemas in these documents"),))
    text = json.dumps(packed, ensure_ascii=False, separators=(",", ":"))
    data = zlib.compress(text.encode(), 9)
    try:
        Path(target).write_bytes(data)
    except OSError as error:
        return Built(problems=(Problem(target, 0, output.unwritten(error)),))
    return Built(len(packed), len(SchemaPack(packed).kinds), len(data))


def read_pack(path: str) -> SchemaPack | str:
    """Return a pack that `build` wrote; a complaint when the file is none."""
    try:
        data = zlib.decompressobj().decompress(private_files.content(path), _MAX_PACK_BYTES)
        entries = json.loads(data)
        pack = SchemaPack(entries)
        for name in entries:
            pack.component(name)
    except OSError as error:
        return f"cannot be read: {(error.strerror or str(error)).lower()}"
    except (zlib.error, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return "not a schema pack: make one with `celadon schema build`"
    return pack


def definitions(paths: Sequence[str]) -> tuple[list[JsonDict], list[Problem]]:
    """Return the CustomResourceDefinitions in files; other documents are passed over, and files of
    folders that are no manifests."""
    result: list[JsonDict] = []
    problems: list[Problem] = []
    for item in read_manifests(paths, []):
        problem = item if isinstance(item, Problem) else shape_problem(item)
        if problem is not None:
            problems.append(problem)
        elif isinstance(item, Document) and item.is_definition:
            result.append(item.value)
    return result, problems


# --- The command -------------------------------------------------------------

# `celadon schema`: the fields of Kubernetes' types.

_ACTIONS: Final = ("list", "show", "build")
_FORMATS: Final = ("text", "json", "yaml")

DESCRIPTION: Final = """\
Show the fields of Kubernetes' types, and of those that CustomResourceDefinitions define.

  list             every kind whose schema is known
  show KIND        its fields; KIND.FIELD.FIELD goes down, KIND may be a plural or short name
  build SOURCE     make a schema pack of a folder of OpenAPI v3 documents, or of a server's
"""

EPILOG: Final = """\
examples:
  celadon schema list
  celadon schema show deployment.spec.strategy
  celadon schema show apps/v1/Deployment -o json
  celadon schema show gizmo.spec -f crds/
  celadon schema build openapi/ --to cluster.pack
  celadon schema build http://127.0.0.1:8001 --to cluster.pack
  celadon schema list --pack cluster.pack

exit codes:
  0  done
  2  wrong usage, an unknown kind, or an input that cannot be read
"""


def arguments(parser: argparse.ArgumentParser) -> None:
    """Everything `celadon schema --help` shows."""
    parser.add_argument("action", metavar="ACTION", choices=_ACTIONS, help="list, show or build")
    parser.add_argument("name", metavar="NAME", nargs="?", default="", help="a KIND or a SOURCE")
    add_files(parser, "CustomResourceDefinitions")
    parser.add_argument("--pack", metavar="FILE", help="a schema pack instead of the built-in one")
    parser.add_argument("-o", "--output", choices=_FORMATS, default="text", help="(default: text)")
    parser.add_argument("-r", "--recursive", action="store_true", help="fields of fields too")
    parser.add_argument("--to", metavar="FILE", help="where `build` writes the pack")
    parser.add_argument("--token-file", metavar="FILE", help="holds a bearer token for the server")
    parser.add_argument("--ca-file", metavar="FILE", help="CA certificates of the server")
    parser.add_argument("--insecure", action="store_true", help="trust any certificate")


def run(options: argparse.Namespace) -> Exit:
    """List, show or build."""
    if (options.action == "list") == bool(options.name):
        wants = "takes no name" if options.name else "needs a name"
        raise WrongUseError(f"`{options.action}` {wants}")
    if (options.action == "build") != bool(options.to):
        raise WrongUseError("`build` and `--to` go together")
    if options.action == "build":
        return _build(options)
    schemas = _schemas(options)
    if schemas is None:
        return Exit.USAGE
    return _list(schemas, options) if options.action == "list" else _show(schemas, options)


def _schemas(options: argparse.Namespace) -> Schemas | None:
    pack = read_pack(options.pack) if options.pack else built_in()
    if isinstance(pack, str):
        output.complain(f"error: {options.pack}: {pack}")
        return None
    schemas = Schemas(pack)
    result, problems = definitions(options.files)
    for problem in problems:
        output.complain(f"error: {problem.text()}")
    for definition in result:
        schemas.add(definition)
    return None if problems else schemas


def _list(schemas: Schemas, options: argparse.Namespace) -> Exit:
    kinds = schemas.kinds()
    if options.output == "text":
        width = max((len(kind.kind) for kind in kinds), default=0)
        output.say("\n".join(f"{kind.kind:{width}}  {kind.api_version}" for kind in kinds))
    else:
        listed = [{"apiVersion": kind.api_version, "kind": kind.kind} for kind in kinds]
        _print(listed, options.output)
    return Exit.OK


def _show(schemas: Schemas, options: argparse.Namespace) -> Exit:
    match = schemas.find(options.name)
    if options.output == "text":
        output.say(_text(match, schemas.pack, recursive=options.recursive))
    else:
        _print(document(match.schema, schemas.pack), options.output)
    return Exit.OK


def _text(match: SchemaMatch, pack: SchemaPack, *, recursive: bool) -> str:
    lines = [f"KIND     {match.gvk.kind}", f"VERSION  {match.gvk.api_version}"]
    if match.fields:
        lines.append(f"FIELD    {'.'.join(match.fields)} <{type_name(match.schema, pack)}>")
    table = [
        ("  " * row.depth + row.name, f"<{row.type}>", row.notes)
        for row in rows(match.schema, pack, recursive=recursive)
    ]
    if table:
        lines += ["", "FIELDS"]
        width = max(len(name) for name, _, _ in table)
        middle = max(len(kind) for _, kind, _ in table)
        lines += [
            f"  {name:{width}}  {kind:{middle}}  {notes}".rstrip() for name, kind, notes in table
        ]
    return "\n".join(lines)


def _print(value: object, format: str) -> None:
    if format == "json":
        output.write(json.dumps(value, indent=2, ensure_ascii=False) + "\n")
        return
    import yaml

    output.write(yaml.safe_dump(value, sort_keys=False, allow_unicode=True, width=1000))


def _build(options: argparse.Namespace) -> Exit:
    built = build(options.name, access(options), options.to)
    for problem in built.problems:
        output.complain(f"error: {problem.text()}")
    if built.problems:
        return Exit.USAGE
    output.write(f"{options.to}: {built.types} types, {built.kinds} kinds, {built.size} bytes\n")
    return Exit.OK
