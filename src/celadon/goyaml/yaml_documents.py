"""YAML as an API server takes it: the first document, with Go's words for what is wrong.

As sigs.k8s.io/yaml `YAMLToJSON` and `YAMLToJSONStrict`: a key that is given twice is no fault, the
last one counts, and strict reading complains about it. What follows the first document is not
looked at; no document at all is null.

Most of what is sent as YAML is JSON. JSON that YAML cannot take for something else is read as such,
in a twentieth of the time.
"""

from __future__ import annotations

import json
from typing import Any, Final, NoReturn

import yaml

from celadon.goyaml.nesting import NotQuick, TooDeep, check_depth
from celadon.goyaml.repeated_keys import RepeatedKey, YamlDocument
from celadon.goyaml.unreadable import UnreadableError
from celadon.goyaml.yaml_events import EventReader, syntax_error
from celadon.goyaml.yaml_limits import MAX_QUICK_TAG_DIRECTIVES
from celadon.goyaml.yaml_scalars import integer_or_double
from celadon.patterns import late_pattern

_ONLY_YAML_KNOWS: Final = late_pattern(rb'[\t\x7f]|\\[/u]|"[ \r]*\n[ \r\n]*:')
"""What the two read differently: tabs and escapes, and a key on a line before its colon."""

_LONGEST_KEY: Final = 512
"""Characters: YAML takes a key of 1024 bytes without a `?`, and escapes make it longer."""


class _NotAlike(ValueError):
    """JSON that YAML may read in another way."""


def first_document(data: bytes) -> YamlDocument:
    """Raises `UnreadableError`, whose `upstream` is the text for clients."""
    if data.startswith(b"{") and data.isascii() and not _ONLY_YAML_KNOWS.search(data):
        try:
            return YamlDocument(_read_json(data))
        except (ValueError, RecursionError):
            pass  # not JSON, or to be read with care
    try:
        try:
            return _first(data, quick=data.count(b"%TAG") <= MAX_QUICK_TAG_DIRECTIVES)
        except NotQuick:
            return _first(data, quick=False)
    except yaml.YAMLError as error:
        raise syntax_error(error, data.decode("utf-8", "replace")) from error


def _first(data: bytes, *, quick: bool) -> YamlDocument:
    """Raises NotQuick, UnreadableError, yaml.YAMLError."""
    noticed: list[RepeatedKey] = []
    reader = EventReader(data, noticed, quick=quick)
    try:
        for _, value in reader.documents():
            reader.finish_document()
            return YamlDocument(value, tuple(one.text for one in noticed))
    except TooDeep:
        raise
    except UnreadableError:
        reader.finish_document()
        raise
    return YamlDocument(None)


def _read_json(data: bytes) -> Any:
    value = json.loads(
        data,
        object_pairs_hook=_distinct,
        parse_int=integer_or_double,
        parse_float=_refuse,
        parse_constant=_refuse,
    )
    try:
        check_depth(value, 1)
    except UnreadableError:
        raise _NotAlike from None
    return value


def _distinct(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    if len(made) != len(pairs) or any(len(key) > _LONGEST_KEY for key in made):
        raise _NotAlike
    return made


def _refuse(_: str) -> NoReturn:
    raise _NotAlike
