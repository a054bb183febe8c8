"""The parts that the sources of a fleet are cut into, which workers audit one by one, and the
folder that keeps the results of those that are finished."""

from __future__ import annotations

import contextlib
import dataclasses
import enum
import hashlib
import json
import os
import types
import typing
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cache
from operator import attrgetter
from pathlib import Path
from typing import Any, BinaryIO, Final, NamedTuple, NoReturn, TypeVar, cast

from celadon import __version__, private_files
from celadon.cli.audit import audit_inputs
from celadon.cli.audit.audit_blocks import Block, LineBlock, PieceBlock, TooLarge, lines_from
from celadon.cli.audit.etcd_snapshots import DEFAULT_PREFIX, SnapshotObjects
from celadon.cli.celadon_documents import API_VERSION, faults, is_own, problem_at
from celadon.cli.exit_codes import WrongUseError
from celadon.cli.reading.documents import Document, DocumentReader, Problem, is_address, read_text
from celadon.cli.reading.locations import Chunk, PlainChunk
from celadon.kube import FieldPath, GroupVersionResource, Json, JsonObject
from celadon.records import dataclass

PART_BYTES: Final = 8 << 20
_PART_KEYS: Final = 10_000
_BYTE_ORDER_MARK: Final = b"\xef\xbb\xbf"


class DumpPart(NamedTuple):
    """An input as a whole, or its bytes from `start` to `stop`; the first line is number `line`."""

    number: int
    start: int = 0
    stop: int = 0
    line: int = 1


class KeysPart(NamedTuple):
    """Some keys of a snapshot of etcd, by their numbers."""

    start: int
    stop: int


class ResourcePart(NamedTuple):
    """All objects of a resource of a cluster."""

    resource: GroupVersionResource


Part = DumpPart | KeysPart | ResourcePart


def surveyed_inputs(
    inputs: audit_inputs.Inputs, lookups: audit_inputs.LookupKinds
) -> tuple[audit_inputs.Survey, list[Part]]:
    """Return what policies may look up in inputs, and the parts of these. All is gone through
    once."""
    documents: list[Document] = []
    parts: list[Part] = []
    for number, item in enumerate(inputs.inputs):
        cutting = _Cutting(number, item)
        looked_up = audit_inputs.looked_up(cutting.blocks(), lookups)
        documents += (element for element in looked_up if isinstance(element, Document))
        parts += cutting.parts
    return audit_inputs.Survey(tuple(documents)), parts


class _Cutting:
    """Finds the parts of an input while its blocks go by."""

    def __init__(self, number: int, source: audit_inputs.Input | SnapshotObjects | Problem) -> None:
        self._source = source
        self.parts: list[Part] = [DumpPart(number)]
        if isinstance(source, SnapshotObjects):
            starts = range(0, len(source.keys), _PART_KEYS)
            self.parts = [KeysPart(start, start + _PART_KEYS) for start in starts]

    def blocks(self) -> Iterator[Block]:
        cuts: list[DumpPart] = []
        start = self._beginning()
        for block in audit_inputs.input_blocks(self._source):
            if isinstance(block, LineBlock) and start is not None:
                stop = start + len(block.data) + 1
                if cuts and stop - cuts[-1].start <= PART_BYTES:
                    cuts[-1] = cuts[-1]._replace(stop=stop)
                else:
                    (whole,) = self.parts
                    cuts.append(
                        DumpPart(cast(DumpPart, whole).number, start, stop, block.first_line)
                    )
                start = stop
            else:
                start = None
            yield block
        if start is not None and len(cuts) > 1:
            self.parts = [*cuts]

    def _beginning(self) -> int | None:
        """Return where its first line begins; None where lines cannot be found by their place."""
        if not isinstance(self._source, audit_inputs.Input):
            return None
        try:
            with self._source.open() as stream:
                begin = stream.read(len(_BYTE_ORDER_MARK))
        except OSError:
            return None
        if begin.startswith(audit_inputs.GZIP):
            return None
        return len(_BYTE_ORDER_MARK) if begin == _BYTE_ORDER_MARK else 0


def part_blocks(inputs: audit_inputs.Inputs, part: DumpPart | KeysPart) -> Iterator[Block]:
    """Yield the blocks of a part; the only input there is, of keys."""
    if isinstance(part, KeysPart):
        (snapshot,) = inputs.inputs
        if isinstance(snapshot, SnapshotObjects):
            yield from replace(snapshot, keys=snapshot.keys[part.start : part.stop]).blocks(0)
        return
    source = inputs.inputs[part.number]
    if not isinstance(source, audit_inputs.Input) or not part.stop:
        yield from audit_inputs.input_blocks(source)
        return
    try:
        with source.open() as stream:
            stream.seek(part.start)
            few = cast(BinaryIO, _Piece(stream, part.stop - part.start))
            yield from lines_from(source.name, few, part.line, lambda: part.stop)
    except TooLarge as error:
        yield PieceBlock((Problem(source.name, 0, str(error), "split it into several files"),), 0)
    except OSError as error:
        yield PieceBlock((Problem(source.name, 0, f"cannot be read: {str(error).lower()}"),), 0)


class _Piece:
    """A stream that ends early."""

    def __init__(self, stream: BinaryIO, left: int) -> None:
        self._stream, self._left = stream, left

    def read(self, size: int) -> bytes:
        data = self._stream.read(min(size, self._left))
        self._left -= len(data)
        return data


# --- Fleet file --------------------------------------------------------------
#
# Files of kind Fleet: the sources of an audit, by name.

KIND: Final = "Fleet"

_TEXT: Final = {"type": "string", "minLength": 1}
_SOURCE: Final = {
    "type": "object",
    "required": ["name"],
    "additionalProperties": False,
    "properties": {
        "name": {"description": "What reports call it.", **_TEXT},
        "dumps": {
            "description": "Files, folders and patterns, relative to this file, or addresses of "
            "an object store.",
            "type": "array",
            "minItems": 1,
            "items": _TEXT,
        },
        "etcdSnapshot": {
            "description": "A snapshot of the etcd of a cluster, relative to this file.",
            **_TEXT,
        },
        "etcdPrefix": {"description": "Where in it the objects are (default: /registry).", **_TEXT},
        "kubeconfig": {
            "description": "The kubeconfig of a cluster, relative to this file.",
            **_TEXT,
        },
        "context": {"description": "The context of the kubeconfig.", **_TEXT},
    },
}
_KINDS: Final = ({"dumps"}, {"etcdSnapshot"}, {"kubeconfig", "context"})
"""By which fields a source says what it is."""
SCHEMA: Final[JsonObject] = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "$id": "https://celadon.dev/schemas/fleet.json",
    "title": KIND,
    "description": "What `celadon audit --fleet` audits.",
    "type": "object",
    "required": ["apiVersion", "kind", "sources"],
    "additionalProperties": False,
    "properties": {
        "apiVersion": {"const": API_VERSION},
        "kind": {"const": KIND},
        "metadata": {"type": "object"},
        "sources": {
            "description": "In the order of the report.",
            "type": "array",
            "minItems": 1,
            "items": _SOURCE,
        },
    },
}
"""The one place where the format stands."""


@dataclass(frozen=True, slots=True)
class Source:
    """Dumps, a snapshot of etcd, or a cluster: by a context, or by all that its kubeconfig says."""

    name: str
    dumps: tuple[str, ...] = ()
    snapshot: str = ""
    prefix: str = DEFAULT_PREFIX
    kubeconfig: str = ""
    context: str = ""


def read_fleet(file: str) -> tuple[Source, ...] | list[Problem]:
    """Return the sources of a file, or what is wrong with it."""
    text = read_text(file)
    if isinstance(text, Problem):
        return [text]
    documents_read = list(DocumentReader().read(text))
    problems = [problem for problem in documents_read if isinstance(problem, Problem)]
    documents = [item for item in documents_read if isinstance(item, Document)]
    if not problems:
        problems = list(_wrong(file, documents))
    if problems:
        return problems
    folder = os.path.dirname(file)
    return tuple(_source(folder, source) for source in documents[0].value["sources"])


def _wrong(file: str, documents: list[Document]) -> Iterator[Problem]:
    if len(documents) != 1 or not is_own(documents[0], KIND):
        yield Problem(file, 0, f"not one document of kind {KIND} ({API_VERSION})")
        return
    (fleet,) = documents
    shape = faults(fleet.value, SCHEMA)
    if shape:
        yield from (problem_at(fleet, *mistake) for mistake in shape)
        return
    seen: set[str] = set()
    for index, source in enumerate(fleet.value["sources"]):
        place = ("sources", index)
        if source["name"] in seen:
            yield problem_at(
                fleet, (*place, "name"), f"a source `{source['name']}` is there already"
            )
        seen.add(source["name"])
        kinds = sum(not source.keys().isdisjoint(kind) for kind in _KINDS)
        if kinds != 1:
            text = f"source `{source['name']}` must be one of dumps, an `etcdSnapshot`, a cluster"
            yield problem_at(fleet, place, text)


def _source(folder: str, value: JsonObject) -> Source:
    snapshot, kubeconfig = value.get("etcdSnapshot", ""), value.get("kubeconfig", "")
    return Source(
        value["name"],
        tuple(_beside(folder, dump) for dump in value.get("dumps", ())),
        snapshot and _beside(folder, snapshot),
        value.get("etcdPrefix", DEFAULT_PREFIX),
        kubeconfig and _beside(folder, kubeconfig),
        value.get("context", ""),
    )


def _beside(folder: str, path: str) -> str:
    """Return a path as seen from where the file stands; addresses are what they are."""
    return path if is_address(path) else os.path.join(folder, os.path.expanduser(path))


# --- Finished parts ----------------------------------------------------------

# Results in a folder, so that an audit that was stopped goes on where it was.
#
# A result is found by what it is the result of: policies, settings, the source with the sizes
# and times of its files, the part. Whatever has changed since is simply not found, and neither
# is what another version of Celadon has left. Files are written beside and then renamed, so none
# is ever half there. They are JSON (the section on plain records); one that is not what it
# should be ends the audit.

# --- Plain records -----------------------------------------------------------
#
# Records as plain JSON, and back: by the types of their fields, which are checked.
#
# A text of JSON says nothing of classes. What is made of it is decided by the type that the
# reader asks for: it can hold nothing but that class, the classes of its fields, and so on. So
# a file that was in other hands can lie about results, but it cannot make the reader run
# anything.
#
# A record becomes an object of its fields, those left out that `==` does not compare: they are
# made anew. Tuples, sets and maps with keys that are no texts become arrays. A value of a union
# is an array too: the name of its type, and the value.

_SCALARS: Final = (str, int, float, bool, types.NoneType)
_LISTS: Final = (list, set, frozenset)

_STANDS_FOR: Final[dict[type[object], tuple[Any, Callable[[Any], Any], Callable[[Any], Any]]]] = {
    Chunk: (PlainChunk, Chunk.plain, Chunk.from_plain),
    FieldPath: (tuple[str | int, ...], attrgetter("steps"), lambda steps: FieldPath(*steps)),
}
"""Types that are no records: what is written in place of their values, how it is made of them, and
they of it."""


class NotPlainError(ValueError):
    """JSON that is no value of the type, or a value that has no JSON; the text says where."""


class _Form(NamedTuple):
    """Says how the values of a type become JSON, and JSON becomes values of it."""

    plain: Callable[[Any], Any]
    value: Callable[[Any], Any]


def to_plain(kind: object, value: object) -> Any:  # noqa: ANN401 - any JSON
    """Return the JSON of a value of a type. Raises NotPlainError for a value that has none."""
    return _form(kind).plain(value)


def from_plain(kind: type[T], plain: object) -> T:
    """Return the value of a type that JSON stands for. Raises NotPlainError for any other JSON."""
    expected: Any = kind
    return _form(expected).value(plain)  # type: ignore[no-any-return]


@cache
def _form(kind: object) -> _Form:
    if kind is Any:
        return _Form(_same, _same)
    if kind in _SCALARS:
        return _scalar(kind)
    origin, arguments = typing.get_origin(kind), typing.get_args(kind)
    if origin in (types.UnionType, typing.Union):
        return _union(arguments)
    if origin in _LISTS:
        return _sequence(origin, arguments[0])
    if origin is tuple:
        repeated = arguments[1:] == (...,)
        return _sequence(tuple, arguments[0]) if repeated else _row(tuple, arguments)
    if origin is dict:
        return _mapping(*arguments)
    if origin is Counter:
        counts = _mapping(arguments[0], int)
        return _Form(counts.plain, lambda plain: Counter(counts.value(plain)))
    if isinstance(kind, type):
        return _class(kind)
    return _none(str(kind))


def _class(kind: Any) -> _Form:  # noqa: ANN401 - a class
    if kind in _STANDS_FOR:
        other, plain, value = _STANDS_FOR[kind]
        form = _form(other)
        return _Form(lambda data: form.plain(plain(data)), lambda data: value(form.value(data)))
    if issubclass(kind, enum.Enum):
        return _choice(kind)
    if issubclass(kind, tuple) and hasattr(kind, "_fields"):
        hints = typing.get_type_hints(kind)
        return _row(kind._make, tuple(hints[name] for name in kind._fields))
    if dataclasses.is_dataclass(kind):
        return _record(kind)
    return _none(kind.__name__)


def _same(value: Json) -> Any:  # noqa: ANN401 - any JSON
    return value


def _none(name: str) -> _Form:
    """Return nothing for what belongs to this process alone, as an open file does."""

    def refuse(_: object) -> NoReturn:
        _refuse(f"{name} has no plain form")

    return _Form(refuse, refuse)


def _scalar(kind: type[object]) -> _Form:
    def checked(value: object) -> object:
        if value.__class__ is not kind:
            _refuse(f"expected {kind.__name__}, not {value.__class__.__name__}")
        return value

    return _Form(checked, checked)


def _choice(kind: type[enum.Enum]) -> _Form:
    members = kind.__members__

    def value(plain: object) -> enum.Enum:
        if plain.__class__ is not str or plain not in members:
            _refuse(f"no {kind.__name__}: {plain!r}")
        return members[plain]

    return _Form(lambda member: member.name, value)


def _union(kinds: tuple[object, ...]) -> _Form:
    by_name = {_name(kind): _form(kind) for kind in kinds if kind is not types.NoneType}
    optional = types.NoneType in kinds

    def plain(value: object) -> object:
        if value is None and optional:
            return None
        name = value.__class__.__name__
        if name not in by_name:
            _refuse(f"expected one of {', '.join(by_name)}, not {name}")
        return [name, by_name[name].plain(value)]

    def value(plain: object) -> object:
        if plain is None and optional:
            return None
        name, inner = _items(plain, 2)
        if name.__class__ is not str or name not in by_name:
            _refuse(f"expected one of {', '.join(by_name)}, not {name!r}")
        return by_name[name].value(inner)

    return _Form(plain, value)


def _name(kind: Any) -> str:  # noqa: ANN401 - a type
    name: str = (typing.get_origin(kind) or kind).__name__
    return name


def _sequence(make: Callable[[Iterator[Any]], Any], kind: Any) -> _Form:  # noqa: ANN401 - a type
    item = _form(kind)
    return _Form(
        lambda values: [item.plain(value) for value in values],
        lambda plain: make(
            _plain_records_read(item, index, element) for index, element in enumerate(_items(plain))
        ),
    )


def _row(make: Callable[[Iterator[object]], object], kinds: tuple[object, ...]) -> _Form:
    forms = [_form(kind) for kind in kinds]

    def value(plain: object) -> object:
        items = enumerate(_items(plain, len(forms)))
        return make(_plain_records_read(forms[index], index, item) for index, item in items)

    return _Form(
        lambda values: [form.plain(value) for form, value in zip(forms, values, strict=True)], value
    )


def _mapping(key: Any, item: Any) -> _Form:  # noqa: ANN401 - types
    """Return the form of an object; where its keys are no texts, of an array of pairs."""
    if key is not str:
        pairs = _sequence(dict, tuple[key, item])
        return _Form(lambda values: pairs.plain(values.items()), pairs.value)
    form = _form(item)
    return _Form(
        lambda values: {name: form.plain(value) for name, value in values.items()},
        lambda plain: {
            name: _plain_records_read(form, name, member) for name, member in _object(plain).items()
        },
    )


def _record(kind: Any) -> _Form:  # noqa: ANN401 - a dataclass
    hints = typing.get_type_hints(kind)
    names = [field.name for field in dataclasses.fields(kind) if field.init and field.compare]
    forms: dict[str, _Form] = {name: _form(hints[name]) for name in names}

    def value(plain: object) -> object:
        result = _object(plain)
        if result.keys() != forms.keys():
            wrong = sorted(result.keys() ^ forms.keys())
            _refuse(f"not the fields of {kind.__name__}: {', '.join(map(repr, wrong))}")
        return kind(
            **{name: _plain_records_read(form, name, result[name]) for name, form in forms.items()}
        )

    return _Form(
        lambda record: {name: form.plain(getattr(record, name)) for name, form in forms.items()},
        value,
    )


def _plain_records_read(form: _Form, step: str | int, plain: object) -> Any:  # noqa: ANN401 - a value of any type
    """Read a part of a value; what is wrong with it is said with its place."""
    try:
        return form.value(plain)
    except NotPlainError as error:
        raise NotPlainError(f".{step}{'' if str(error)[0] == '.' else ': '}{error}") from None


def _items(plain: object, count: int | None = None) -> list[object]:
    if not isinstance(plain, list) or (count is not None and len(plain) != count):
        _refuse("expected an array" if count is None else f"expected an array of {count}")
    return plain


def _object(plain: object) -> JsonObject:
    if not isinstance(plain, dict):
        _refuse("expected an object")
    return plain


def _refuse(reason: str) -> NoReturn:
    raise NotPlainError(reason)


T = TypeVar("T")

_VERSION: Final = "celadonVersion"
_RESULT: Final = "result"


class DamagedResultError(WrongUseError):
    """A file in the folder that is no result; the text says which, and why."""


class NothingKept:
    """The store of an audit that starts from the beginning and leaves nothing."""

    def found(self, kind: type[T], key: str) -> T | None:
        """Return None: no result is kept."""
        return None

    def keep(self, key: str, result: object) -> None:
        """Keep nothing."""


class KeptResults:
    """The results in a folder, which is made if there is none. Raises OSError."""

    def __init__(self, folder: str) -> None:
        with contextlib.suppress(FileExistsError):
            Path(folder).parent.mkdir(parents=True)
        private_files.make_folder(Path(folder))
        self._folder = folder

    def found(self, kind: type[T], key: str) -> T | None:
        """Return a result of an earlier run, of this type. Raises DamagedResultError, OSError."""
        path = self._path(key)
        try:
            with open(path, encoding="ascii") as stream:
                return _read(kind, json.load(stream))
        except FileNotFoundError:
            return None
        except (ValueError, RecursionError) as error:
            reason = "nested too deeply" if isinstance(error, RecursionError) else str(error)
            wrong = f"`{path}` is no result of an audit ({reason}): remove it"
            raise DamagedResultError(wrong) from None

    def keep(self, key: str, result: object) -> None:
        """Keep the result for a later run. Raises OSError."""
        plain = {_VERSION: __version__, _RESULT: to_plain(type(result), result)}
        text = json.dumps(plain, separators=(",", ":"))
        private_files.write(Path(self._path(key)), text.encode("ascii"))

    def forget(self, key: str) -> None:
        """Forget a result that nobody wants any more. Raises OSError."""
        with contextlib.suppress(FileNotFoundError):
            os.unlink(self._path(key))

    def _path(self, key: str) -> str:
        return os.path.join(self._folder, f"{key}.json")


def _read(kind: type[T], plain: object) -> T | None:
    """Return what was kept; None for what another version of Celadon has written."""
    if not isinstance(plain, dict) or plain.keys() != {_VERSION, _RESULT}:
        raise NotPlainError(f"expected an object with {_VERSION} and {_RESULT}")
    return from_plain(kind, plain[_RESULT]) if plain[_VERSION] == __version__ else None


def key_of(*parts: object) -> str:
    """Return what tells a result from all others: a digest of what it is the result of. Parts are
    told apart by their representation."""
    return hashlib.sha256(repr(parts).encode("utf-8", "backslashreplace")).hexdigest()
