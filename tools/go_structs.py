"""What the Go sources of Kubernetes tell of API types, and OpenAPI documents do not.

The order of fields, their numbers in protobuf, which of them Go writes even when they are not set,
and which it holds by pointer. Only struct tags are read: the folder is that of a release's
repository, or `staging/src/k8s.io` alone.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

Json = Any

_FOLDERS: Final = {
    "io.k8s.apiextensions-apiserver.": "apiextensions-apiserver",
    "io.k8s.kube-aggregator.": "kube-aggregator",
    "io.k8s.apimachinery.": "apimachinery",
    "io.k8s.api.": "api",
}
_STRUCT: Final = re.compile(r"^(?:type |\t)(\w+) struct \{\n(.*?)^\t?\}", re.MULTILINE | re.DOTALL)
_EMPTY_STRUCT: Final = re.compile(r"^type (\w+) struct ?\{\}", re.MULTILINE)
_NAMED: Final = re.compile(r"^(?:type |\t)(\w+) =? ?([\w\[\].*]+)$", re.MULTILINE)
_FIELD: Final = re.compile(r"^\s*(?:(\w+)\s+)?([\w.*\[\]]+)\s+`([^`]*)`")
_IMPORT: Final = re.compile(
    r'^\s*(\w+)?\s*"k8s\.io/(api|apimachinery|apiextensions-apiserver|kube-aggregator)/([\w/.-]+)"',
    re.MULTILINE,
)
_NUMBER: Final = re.compile(r'protobuf:"\w+,(\d+)')
_JSON: Final = re.compile(r'json:"([^"]*)"')
_SCALARS: Final[Mapping[str, Json]] = {
    "string": "",
    "bool": False,
    **dict.fromkeys(("byte", "int", "int32", "int64", "uint32", "uint64", "float64"), 0),
}
_OPAQUE: Final[Mapping[str, Json]] = {
    "Time": None,
    "MicroTime": None,
    "RawExtension": None,
    "JSON": None,
    "JSONSchemaPropsOrArray": None,
    "JSONSchemaPropsOrBool": None,
    "FieldsV1": {},
    "Quantity": "0",
    "Duration": "0s",
    "IntOrString": 0,
}
"""Structs that are no objects in JSON, and what they are when they are not set."""


@dataclass
class GoFacts:
    """Of one type. `fields` leads from names in JSON, in the order of the struct, to numbers."""

    fields: dict[str, int | str | None] = field(default_factory=dict)
    always: dict[str, Json] = field(default_factory=dict)
    ptr: list[str] = field(default_factory=list)
    embeds: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class _Kind:
    """`shape` is `pointer`, `list`, `map`, `scalar` or `struct`."""

    shape: str
    zero: Json = None
    inner: _Kind | None = None
    package: str = ""
    name: str = ""


@dataclass(frozen=True)
class _Package:
    structs: Mapping[str, tuple[tuple[str, str, str], ...]]
    named: Mapping[str, str]
    imports: Mapping[str, str]


class GoSources:
    """The API packages below a folder."""

    def __init__(self, root: Path) -> None:
        staging = root / "staging" / "src" / "k8s.io"
        self._root = staging if staging.is_dir() else root

    def folder(self, package: str) -> Path:
        """Where a package of OpenAPI is."""
        for prefix, name in _FOLDERS.items():
            if package.startswith(prefix):
                return self._root / name / package.removeprefix(prefix).replace(".", "/")
        raise ValueError(f"no folder is known for {package}")

    @functools.cache  # noqa: B019 - as long as the tool runs
    def _package(self, package: str) -> _Package:
        structs: dict[str, tuple[tuple[str, str, str], ...]] = {}
        named: dict[str, str] = {}
        imports: dict[str, str] = {}
        for path in sorted(self.folder(package).glob("*.go")):
            if path.name.startswith(("zz_generated", "generated.")):
                continue
            text = path.read_text(encoding="utf-8")
            structs.update((name, tuple(_fields(body))) for name, body in _STRUCT.findall(text))
            structs.update((name, ()) for name in _EMPTY_STRUCT.findall(text))
            for name, type_ in _NAMED.findall(text):
                named.setdefault(name, type_)
            for alias, module, inner in _IMPORT.findall(text):
                name = f"io.k8s.{module}.{inner.replace('/', '.')}"
                imports.setdefault(alias or inner.rpartition("/")[2], name)
        return _Package(structs, named, imports)

    def structs(self, package: str) -> Mapping[str, tuple[tuple[str, str, str], ...]]:
        """The fields of all structs of a package, by the names of these: their own names, types
        and tags."""
        return self._package(package).structs

    def facts(self, name: str) -> GoFacts | None:
        """Of the type with that OpenAPI name; None where there is no such struct."""
        package, _, type_ = name.rpartition(".")
        if type_ in _OPAQUE or type_ not in self._package(package).structs:
            return None
        found = GoFacts()
        self._add(found, package, type_, "")
        return found

    def _add(self, found: GoFacts, package: str, type_: str, above: str) -> None:
        for name, go_type, tag in self._package(package).structs[type_]:
            text = _JSON.search(tag)
            number = _NUMBER.search(tag)
            if text is None:
                continue
            key, *options = text[1].split(",")
            kind = self._kind(package, go_type)
            if not key and ("inline" in options or not name):
                self._embed(found, kind.inner or kind, above, number[1] if number else "")
            elif key != "-":
                path = f"{above}{number[1]}" if number else None
                found.fields[key] = int(path) if path and path.isdigit() else path
                _add_encoding(found, key, options, kind)

    def _embed(self, found: GoFacts, kind: _Kind, above: str, number: str) -> None:
        if kind.name == "TypeMeta" and not number:
            found.fields.update(kind=None, apiVersion=None)
        elif kind.shape == "struct":
            if number:
                found.embeds[above + number] = kind.name
            self._add(found, kind.package, kind.name, f"{above}{number}." if number else above)

    def _kind(self, package: str, type_: str) -> _Kind:
        if type_.startswith("*"):
            return _Kind("pointer", inner=self._kind(package, type_[1:]))
        if type_.startswith("[]"):
            return _Kind("list")
        if type_.startswith("map["):
            return _Kind("map")
        named, _, name = type_.rpartition(".")
        if name in _OPAQUE:
            return _Kind("struct", _OPAQUE[name], name=name)
        if name in _SCALARS:
            return _Kind("scalar", _SCALARS[name])
        place = self._package(package)
        if named:
            where = place.imports.get(named)
            return _Kind("scalar", "") if where is None else self._kind(where, name)
        if name in place.structs:
            return _Kind("struct", {}, package=package, name=name)
        if name in place.named and place.named[name] != name:
            return self._kind(package, place.named[name])
        raise ValueError(f"no type {type_} in {package}")


def _fields(body: str) -> Iterator[tuple[str, str, str]]:
    for line in body.split("\n"):
        match = None if line.lstrip().startswith("//") else _FIELD.match(line)
        if match is not None:
            yield match[1] or "", match[2], match[3]


def _add_encoding(found: GoFacts, key: str, options: list[str], kind: _Kind) -> None:
    if "omitzero" not in options and ("omitempty" not in options or kind.shape == "struct"):
        found.always[key] = kind.zero
    inner = kind.inner
    if inner is not None and (inner.shape != "struct" or inner.name in _OPAQUE):
        found.ptr.append(key)
