"""The texts of built-in types in OpenAPI: from a file of the user's, or from an installed client.

Celadon knows the structure of Kubernetes' types, and has none of their texts (what requests and
their parameters do, it says itself: `data/texts.json`). A server's own
OpenAPI documents have them, in version 2 (`swagger.json`) or 3; so has the Python package
`kubernetes`, whose classes are made of such a document. Its files are read as text: nothing of it
is imported. Where there is neither, types say how to get their texts.
"""

from __future__ import annotations

import hashlib
import importlib.util
import json
import re
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Final, NamedTuple, Protocol

from celadon import private_files
from celadon.kube import JsonObject
from celadon.late_patterns import late_pattern

MISSING: Final = (
    "Celadon has no descriptions of built-in types. Install the Python package `kubernetes` beside "
    "it, or name a file: `--openapi-descriptions swagger.json`."
)
"""What types say where nobody has their texts."""


class Texts(NamedTuple):
    """Holds what there is to say of a type, and of its fields by their names."""

    description: str
    fields: Mapping[str, str]


class Descriptions(Protocol):
    """Gives the texts of types. They are the same for as long as `fingerprint` is."""

    @property
    def fingerprint(self) -> str:
        """Return a text that changes with the texts."""

    def of(self, name: str) -> Texts | None:
        """Return the texts of the type with this OpenAPI name; None if there are none."""


class DescriptionsError(ValueError):
    """The file cannot be read, or has no texts."""


def with_texts(name: str, schema: JsonObject, descriptions: Descriptions | None) -> JsonObject:
    """Return the type with the texts that there are of it and its fields."""
    texts = Texts(MISSING, {}) if descriptions is None else descriptions.of(name)
    if texts is None:
        return schema
    result = {"description": texts.description, **schema} if texts.description else dict(schema)
    if "properties" in schema:
        result["properties"] = {
            field: _with_text(node, texts.fields.get(field, ""))
            for field, node in schema["properties"].items()
        }
    return result


def _with_text(node: JsonObject, text: str) -> JsonObject:
    """Add a text; a mention that stands alone has no text upstream either."""
    return {"description": text, **node} if text and "$ref" not in node else node


# --- Documents ---------------------------------------------------------------


class DocumentTexts:
    """Holds the texts of OpenAPI documents, which are read at once."""

    def __init__(self, types: Mapping[str, Texts], fingerprint: str) -> None:
        self._types = types
        self._fingerprint = fingerprint

    @property
    def fingerprint(self) -> str:
        """Return a hash of the files."""
        return self._fingerprint

    def of(self, name: str) -> Texts | None:
        """Return the texts of the type, if a document has it."""
        return self._types.get(name)


def read_descriptions(path: Path) -> DocumentTexts:
    """Return the texts of a document of version 2 or 3, or of all documents in a folder. Raises
    DescriptionsError."""
    types: dict[str, Texts] = {}
    digest = hashlib.sha512()
    try:
        for file in sorted(path.glob("*.json")) if path.is_dir() else [path]:
            content = private_files.content(file)
            digest.update(content)
            types.update(_texts_of(json.loads(content)))
    except (OSError, ValueError, RecursionError) as error:
        raise DescriptionsError(f"cannot read descriptions from `{path}`: {error}") from error
    if not types:
        raise DescriptionsError(f"no OpenAPI document with types in `{path}`")
    return DocumentTexts(types, digest.hexdigest())


def _texts_of(document: object) -> Iterator[tuple[str, Texts]]:
    version_3 = _members(_members(document, "components"), "schemas")
    for name, schema in (version_3 or _members(document, "definitions")).items():
        fields = {key: _text(node) for key, node in _members(schema, "properties").items()}
        yield name, Texts(_text(schema), {key: text for key, text in fields.items() if text})


def _members(value: object, key: str) -> Mapping[str, object]:
    result = value.get(key) if isinstance(value, dict) else None
    return result if isinstance(result, dict) else {}


def _text(schema: object) -> str:
    description = schema.get("description") if isinstance(schema, dict) else None
    return description if isinstance(description, str) else ""


# --- The installed client ----------------------------------------------------
#
# One file for each type, `v1_pod.py` or, where several groups have the kind, `core_v1_event.py`.
# Until version 35 a class had properties, whose getters begin with the text of the field; later it
# has fields with a `description`. Both begin with the text of the type, or say nothing of it.

_CLASS: Final = late_pattern(r'^class \w+\(BaseModel\):\n    """\n    (.*?)\n', re.MULTILINE)
_FIELD: Final = late_pattern(
    r'^    (\w+): [^\n]*?= Field\([^\n]*?description="((?:[^"\\\n]++|\\.)*+)"', re.MULTILINE
)
_ALIAS: Final = late_pattern(r'serialization_alias="(\w+)"')
_GETTER: Final = late_pattern(
    r'^    def (\w+)\(self\):\n        """Gets the [^\n]*\n\n'
    r"        ([^\n]*?)(?:  # noqa: E501)?\n",
    re.MULTILINE,
)
_MAPPED: Final = late_pattern(r"^        '(\w+)': '([^'\n]+)',?$", re.MULTILINE)


class ClientTexts:
    """Reads the texts of the Python package `kubernetes` in its folder, each file when its type is
    asked for."""

    def __init__(self, folder: Path) -> None:
        models = folder / "client" / "models"
        self._files = {path.stem.replace("_", ""): path for path in models.glob("*.py")}
        self._version = _read(folder / "__init__.py")
        self._texts: dict[str, Texts | None] = {}

    def __bool__(self) -> bool:
        return bool(self._files)

    @property
    def fingerprint(self) -> str:
        """Return a hash of what names the version of the package."""
        return hashlib.sha512(self._version.encode()).hexdigest()

    def of(self, name: str) -> Texts | None:
        """Return the texts of the class that stands for the type."""
        if name not in self._texts:
            self._texts[name] = self._of_class(name)
        return self._texts[name]

    def _of_class(self, name: str) -> Texts | None:
        *_, group, version, kind = ("", "", *name.split("."))
        for stem in (f"{group}{version}{kind}", f"{version}{kind}"):
            path = self._files.get(stem.lower())
            if path is not None:
                return client_texts(_read(path))
        return None


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""


def client_texts(source: str) -> Texts:
    """Return what the source of a class says of the type and its fields."""
    about = _CLASS.search(source)
    fields: dict[str, str] = {}
    for item in _FIELD.finditer(source):
        alias = _ALIAS.search(item[0])
        fields[alias[1] if alias else item[1]] = _unquoted(item[2])
    names = dict(_MAPPED.findall(source))
    for attribute, text in _GETTER.findall(source):
        fields[names.get(attribute, attribute)] = text
    return Texts(
        about[1].strip() if about else "", {key: text for key, text in fields.items() if text}
    )


def _unquoted(text: str) -> str:
    """Return what a string between quotes means; its escapes are those that JSON has, too."""
    try:
        decoded = json.loads(f'"{text}"')
    except ValueError:
        return text
    return str(decoded)


@cache
def installed_descriptions() -> Descriptions | None:
    """Return the descriptions of the installed client; None if it is not there."""
    spec = importlib.util.find_spec("kubernetes")
    for folder in (spec.submodule_search_locations or ()) if spec else ():
        texts = ClientTexts(Path(folder))
        if texts:
            return texts
    return None
