"""The complete YAML reader: any YAML to JSON values, by Kubernetes' rules.

Scanning and parsing is libyaml's (through PyYAML, or PyYAML's own parser where libyaml is not
built in); the values are made here from its events, because PyYAML's constructors follow other
rules than Kubernetes, accept duplicate keys, and spend three times as long.

`yaml_blocks` is the quick reader for everyday documents; whatever it does not understand comes
here, and for what it does understand the two must agree. `yaml_documents` reads the bodies of
requests with it.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Callable, Iterator
from typing import Any, Final

import yaml
from yaml.scanner import ScannerError

from celadon.goyaml import yaml_scalars
from celadon.kube import Json
from celadon.kube.go import quote
from celadon.kube.releases import is_since
from celadon.late_patterns import late_pattern

# --- Flow parser -------------------------------------------------------------
#
# A parser whose work is linear however deep `[` and `{` nest.
#
# libyaml looks at one possible key per open flow collection before every token, so that 20 KB
# of `[` take it a second, and 3 MB hours. PyYAML's own parser does the same; here it looks at
# the oldest possible key only. Keys are possible within one line and 1024 characters, so where
# the oldest one is, the later ones are, too.
#
# It is twenty times slower than libyaml for ordinary text: see `yaml_events` for when it is
# asked.

_LONGEST_KEY = 1024
"""Characters from the beginning of a key to its colon."""

_NO_CHARACTER: Final = "found invalid Unicode character escape code"
"""What is wrong with half a surrogate pair, and with a number beyond the last character."""


class FlowParser(yaml.SafeLoader):
    """Yields the same events as libyaml's, but for the escapes, which are go-yaml's.
    `possible_simple_keys` is in the order of its tokens: a key that replaces another one of its
    level goes to the end. As in go-yaml, a list or map with nothing in it, such as `{}`, lets go
    of itself as a key: unless an older key holds it, its tokens are given out before its colon is
    seen, and the token of the key comes after them."""

    ESCAPE_REPLACEMENTS = {  # type: ignore[misc]  # noqa: RUF012 - the stub calls it final
        **{char: text for char, text in yaml.SafeLoader.ESCAPE_REPLACEMENTS.items() if char != "/"},
        "'": "'",
    }

    def __init__(self, stream: str | bytes) -> None:
        super().__init__(stream)
        self._newest_keys: list[int] = []
        self._let_go: set[int] = set()

    def fetch_flow_collection_start(self, token_class: Any) -> None:
        """Fetch `[` or `{`; its number stands for the newest key in it as long as there is none."""
        number = self.tokens_taken + len(self.tokens)
        super().fetch_flow_collection_start(token_class)
        self._newest_keys.append(number)

    def fetch_flow_collection_end(self, token_class: Any) -> None:
        """Fetch `]` or `}`, which lets go of what had the number of the newest key in it."""
        super().fetch_flow_collection_end(token_class)
        if self._newest_keys:
            self._let_go.add(self._newest_keys.pop())

    def save_possible_simple_key(self) -> None:
        """Remember that a key may begin here."""
        super().save_possible_simple_key()
        if self.allow_simple_key and self._newest_keys:
            self._newest_keys[-1] = self.tokens_taken + len(self.tokens)

    def fetch_value(self) -> None:
        """Fetch `:`. The token of a key whose tokens are gone comes late."""
        key = self.possible_simple_keys.get(self.flow_level)
        if key is None or key.token_number >= self.tokens_taken:
            super().fetch_value()
            return
        del self.possible_simple_keys[self.flow_level]
        self.tokens.append(yaml.KeyToken(key.mark, key.mark))
        if not self.flow_level and self.add_indent(key.column):
            self.tokens.append(yaml.BlockMappingStartToken(key.mark, key.mark))
        self.allow_simple_key = False
        start_mark = self.get_mark()
        self.forward()
        self.tokens.append(yaml.ValueToken(start_mark, self.get_mark()))

    def scan_flow_scalar_non_spaces(self, double: bool, start_mark: Any) -> list[str]:
        """Return pieces of a quoted text. Raises ScannerError, also for an escape that is no
        character."""
        try:
            pieces: list[str] = super().scan_flow_scalar_non_spaces(double, start_mark)
            "".join(pieces).encode()
        except (OverflowError, ValueError):
            context, problem = "while parsing a quoted scalar", _NO_CHARACTER
            raise ScannerError(context, start_mark, problem, self.get_mark()) from None
        return pieces

    def next_possible_simple_key(self) -> int | None:
        """Return the number of the token that the oldest possible key begins with."""
        for key in self.possible_simple_keys.values():
            number: int = key.token_number
            if number not in self._let_go:
                return number
        return None

    def stale_possible_simple_keys(self) -> None:
        """Forget keys that are none any more, the oldest first. Raises ScannerError where there
        must be a key."""
        keys = self.possible_simple_keys
        while keys:
            level = next(iter(keys))
            key = keys[level]
            if key.line == self.line and self.index - key.index <= _LONGEST_KEY:
                return
            if key.required and key.token_number not in self._let_go:
                raise ScannerError(
                    "while scanning a simple key",
                    key.mark,
                    "could not find expected ':'",
                    self.get_mark(),
                )
            del keys[level]


# --- Parser words ------------------------------------------------------------
#
# The words of libyaml for what PyYAML's own parser says.
#
# Where PyYAML has no libyaml (in a browser) it finds the same faults at the same places, and
# names them otherwise. Clients know libyaml's words: go-yaml, which the API server reads with,
# has them.

_BLOCK_END: Final = "expected <block end>"
_IN_SEQUENCES: Final = "while parsing a block collection"
_WORDS: Final = (
    ("mapping values are not allowed here", "mapping values are not allowed in this context"),
    ("mapping keys are not allowed here", "mapping keys are not allowed in this context"),
    (
        "sequence entries are not allowed here",
        "block sequence entries are not allowed in this context",
    ),
    ("special characters are not allowed", "control characters are not allowed"),
    ("found unexpected document separator", "found unexpected document indicator"),
    ("expected the node content", "did not find expected node content"),
    ("expected ',' or ']'", "did not find expected ',' or ']'"),
    ("expected ',' or '}'", "did not find expected ',' or '}'"),
    ("expected '<document start>'", "did not find expected <document start>"),
    ("expected chomping or indentation", "did not find expected comment or line break"),
    ("expected a comment or a line break", "did not find expected comment or line break"),
    ("expected escape sequence of", "did not find expected hexdecimal number"),
    ("expected alphabetic", "did not find expected alphabetic or numeric character"),
    ("expected '>'", "did not find the expected '>'"),
    ("found unknown escape character", "found unknown escape character"),
    ("found undefined tag handle", "found undefined tag handle"),
    ("found duplicate YAML directive", "found duplicate %YAML directive"),
    ("found incompatible YAML document", "found incompatible YAML document"),
)
"""How a complaint begins, and what libyaml says."""
_CHARACTER: Final = late_pattern(r"found character .+ that cannot start any token", re.DOTALL)


def libyaml_words(problem: str, context: str | None = None) -> str:
    """Return the words of libyaml for a complaint, which may be libyaml's already; what is not
    known stays as it is."""
    if _CHARACTER.fullmatch(problem):
        return "found character that cannot start any token"
    if problem.startswith(_BLOCK_END):
        expected = "'-' indicator" if context == _IN_SEQUENCES else "key"
        return f"did not find expected {expected}"
    return next((words for start, words in _WORDS if problem.startswith(start)), problem)


_TAG: Final = "tag:yaml.org,2002:"
_MERGE: Final = "<<"
_GO_NUMBERS: Final = {".nan": "NaN", ".inf": "+Inf", "-.inf": "-Inf"}
_SCALAR, _ALIAS = yaml.ScalarEvent, yaml.AliasEvent
_MAPPING, _SEQUENCE = yaml.MappingStartEvent, yaml.SequenceStartEvent
_MAPPING_END, _SEQUENCE_END = yaml.MappingEndEvent, yaml.SequenceEndEvent

_LIBYAML_GIVES_UP: Final = ("exceeded maximum nesting depth", "found unknown escape character")
"""The words of libyaml 0.2.6 and later for more than 1000 open collections, where Go takes 10,000;
and its words for escapes, of which Go knows `\\'`, too."""

_NO_COLON: Final = "could not find expected ':'"
"""What libyaml says of a key without a colon, which `{}` may be only to libyaml."""

_EMPTY_FLOW: Final = late_pattern(r"\{\s*\}|\[\s*\]")

_SLASH: Final = "\\/"
"""An escape that libyaml knows, and Go does not."""


def read_yaml(
    text: str, repeated: list[yaml_scalars.RepeatedKey] | None = None
) -> Iterator[tuple[int, Any]]:
    """Yield the documents of a text, each with the line (from 1) where it begins.

    Raises `UnreadableError`, after the documents before the faulty one were given out; a key that
    is given twice is a fault, too, unless there is a list that takes note of it. To override what
    was merged (`<<`) is neither.
    """
    yielded = 0
    noted = 0 if repeated is None else len(repeated)
    try:
        # made here: PyYAML's own reader looks at the first characters at once
        for document in EventReader(text, repeated, heeds_merges=False).documents():
            yield document
            yielded += 1
            noted = 0 if repeated is None else len(repeated)
    except yaml_scalars.NotQuick:
        if repeated is not None:
            del repeated[noted:]
        yield from _read_slowly(text, yielded, repeated)
    except yaml.YAMLError as error:
        raise syntax_error(error, text) from error


def _read_slowly(
    text: str, yielded: int, repeated: list[yaml_scalars.RepeatedKey] | None
) -> Iterator[tuple[int, object]]:
    """Yield the documents after those already yielded, with a parser that copes with any
    nesting."""
    noticed: list[yaml_scalars.RepeatedKey] = []
    taken = None if repeated is None else noticed
    try:
        reader = EventReader(text, taken, heeds_merges=False, quick=False)
        for number, document in enumerate(reader.documents()):
            if number >= yielded:
                if repeated is not None:
                    repeated += noticed
                yield document
            noticed.clear()
    except yaml.YAMLError as error:
        raise syntax_error(error, text) from error


class _Open:
    """A map or list whose end has not come. `awaits_key` is None for a list; `before` is how many
    values there were before it."""

    __slots__ = ("awaits_key", "before", "event", "key", "key_mark", "lines", "raw_key", "value")
    key: str | None
    raw_key: object
    key_mark: Any

    def __init__(self, event: object, is_map: bool, before: int) -> None:
        self.event = event
        self.before = before
        self.value: Any = {} if is_map else []
        self.awaits_key: bool | None = True if is_map else None
        self.lines: dict[str, int] = {}

    def merges(self, event: Any) -> None:
        """`<<` came in the place of a key."""
        self.key, self.raw_key, self.key_mark = None, _MERGE, event.start_mark
        self.awaits_key = False


def _without_slashes(get_event: Callable[[], Any], text: str | bytes) -> Callable[[], Any]:
    """Return what gets the events of libyaml for a text. Raises NotQuick where a quoted text has an
    escape of a slash in it."""
    read = text.decode("utf-8", "replace") if isinstance(text, bytes) else text

    def next_event() -> object:
        event: Any = get_event()
        kind = event.__class__
        if kind is _SCALAR and event.style == '"' and "/" in event.value:
            start, end = event.start_mark.index, event.end_mark.index
            if _SLASH in read[max(0, start - 1) : end + 1]:  # a mark of byte order is not counted
                raise yaml_scalars.NotQuick
        return event

    return next_event


class EventReader:
    """One pass over the events of a text; the state of the document being built.

    `noticed` gets the keys that are given twice, of which the last one then counts; without it such
    a key is a fault. To Go, a key that was merged (`<<`) before is given twice. A `quick` one
    raises NotQuick where another one must read the text anew.
    """

    def __init__(
        self,
        text: str | bytes,
        noticed: list[yaml_scalars.RepeatedKey] | None = None,
        *,
        heeds_merges: bool = True,
        quick: bool = True,
    ) -> None:
        self._text = text
        self._is_quick = quick and yaml.__with_libyaml__
        loader = yaml.CSafeLoader if self._is_quick else FlowParser
        self._next: Callable[[], Any] = loader(text).get_event
        has_slash = _SLASH.encode() in text if isinstance(text, bytes) else _SLASH in text
        if self._is_quick and has_slash:
            self._next = _without_slashes(self._next, text)
        self._levels = yaml_scalars.OpenLevels(quick=self._is_quick)
        self._noticed = noticed
        self._heeds_merges = heeds_merges and noticed is not None
        self._lines: dict[int, dict[str, int]] = {}
        self._anchors: dict[str, tuple[Any, int]] = {}
        self._open_anchors: set[str] = set()
        self._values = 0
        self._aliased = 0

    def documents(self) -> Iterator[tuple[int, Any]]:
        """Yield every document; an empty one is None.

        Raises NotQuick, UnreadableError, yaml.YAMLError.
        """
        try:
            yield from self._documents()
        except ScannerError as error:
            raise self._read_anew(error) from None

    def _read_anew(self, error: ScannerError) -> Exception:
        """NotQuick where only libyaml cannot go on; else the error itself."""
        is_doubtful = error.problem in _LIBYAML_GIVES_UP or self._is_empty_key(error)
        return yaml_scalars.NotQuick() if self._is_quick and is_doubtful else error

    def _is_empty_key(self, error: ScannerError) -> bool:
        """Return whether what lacks its colon is `{}` or `[]`."""
        mark = error.context_mark
        if error.problem != _NO_COLON or mark is None:
            return False
        text = self._text if isinstance(self._text, bytes) else self._text.encode()
        line = text.split(b"\n")[mark.line].decode("utf-8", "replace")
        return _EMPTY_FLOW.match(line, mark.column) is not None

    def _documents(self) -> Iterator[tuple[int, Json]]:
        while (event := self._next()) is not None:
            if event.__class__ is yaml.DocumentStartEvent:
                self._anchors, self._values, self._aliased = {}, 0, 0
                first = self._next()
                value = self._value(first)
                if self._aliased:
                    yaml_scalars.check_depth(value, first.start_mark.line + 1)
                yield first.start_mark.line + 1, value

    def finish_document(self) -> None:
        """Go on to the end of the document that a fault was found in: a syntax error further down
        is found first by those who parse before they decode. Raises NotQuick, yaml.YAMLError, and
        UnreadableError for what is nested too deeply to be parsed."""
        try:
            self._finish_document()
        except ScannerError as error:
            raise self._read_anew(error) from None

    def _finish_document(self) -> None:
        self._levels.closed_all()
        anchors = {*self._anchors, *self._open_anchors}
        while (event := self._next()) is not None:
            kind = event.__class__
            if kind is _ALIAS:
                if event.anchor not in anchors:
                    raise yaml_scalars.UnknownAnchor(event.start_mark.line + 1, event.anchor)
            elif kind is _SCALAR:
                anchors.add(event.anchor)
            elif kind is _MAPPING or kind is _SEQUENCE:
                anchors.add(event.anchor)
                self._levels.opened(event)
            elif kind is _MAPPING_END or kind is _SEQUENCE_END:
                self._levels.closed()
            elif kind is yaml.DocumentEndEvent:
                return

    def _value(self, event: Any) -> Any:
        """Return what begins with an event, to its end. A stack of what is open, not recursion."""
        levels = self._levels
        levels.closed_all()
        counts_levels = False
        above: list[_Open] = []
        container: _Open | None = None
        while True:
            kind = event.__class__
            if kind is _SCALAR:
                if container is not None and container.awaits_key and _is_merge(event):
                    container.merges(event)
                    event = self._next()
                    continue
                self._values += 1
                value: Any = _scalar(event, container)
                if event.anchor is not None:
                    self._anchors[event.anchor] = (value, 1)
            elif kind is _ALIAS:
                value = self._alias(event)
            elif kind is _MAPPING or kind is _SEQUENCE:
                if container is not None:
                    above.append(container)
                container = self._opened(event, kind is _MAPPING)
                if counts_levels:
                    levels.opened(event)
                elif len(above) == yaml_scalars.UNCOUNTED_LEVELS:
                    counts_levels = True
                    for item in (*above, container):
                        levels.opened(item.event)
                event = self._next()
                continue
            else:
                assert container is not None
                if counts_levels:
                    levels.closed()
                value, event = container.value, container.event
                if event.anchor is not None:
                    self._open_anchors.discard(event.anchor)
                    self._anchors[event.anchor] = (value, self._values - container.before)
                container = above.pop() if above else None
            if container is None:
                return value
            if container.awaits_key is None:
                container.value.append(value)
            else:
                self._put(container, value, event)
            event = self._next()

    def _opened(self, event: Any, is_map: bool) -> _Open:
        before = self._values
        self._values = before + 1
        if event.anchor is not None:
            self._anchors.pop(event.anchor, None)
            self._open_anchors.add(event.anchor)
        opened = _Open(event, is_map, before)
        if is_map and self._heeds_merges:
            self._lines[id(opened.value)] = opened.lines
        return opened

    def _put(self, container: _Open, value: Any, event: Any) -> None:
        """Put a key or its value into a map; `event` is what it begins with."""
        if container.awaits_key:
            if self._is_quick and value.__class__ in (dict, list):
                raise yaml_scalars.NotQuick  # to libyaml `{}` is a key, to Go it hardly is
            container.awaits_key = False
            container.raw_key = value
            container.key_mark = event.start_mark
            container.key = value if value.__class__ is str else _key_text(value, event)
            return
        if container.raw_key is None:
            raise _null_key(value, container.key_mark.line + 1)
        container.awaits_key = True
        if container.key is None:
            self._merge(container.value, container.lines, value, event.start_mark)
            return
        key, lines, line = container.key, container.lines, event.start_mark.line + 1
        if key in lines:
            self._notice(container.raw_key, key, container.key_mark, line)
        lines[key] = line
        container.value[key] = value

    def _notice(self, raw: Any, key: str, mark: Any, value_line: int) -> None:
        if self._noticed is None:
            raise yaml_scalars.UnreadableError(mark.line + 1, f'key "{key}" already set in map')
        repeated_key = yaml_scalars.RepeatedKey(
            _go_syntax(raw), mark.index, mark.line + 1, value_line
        )
        self._noticed.append(repeated_key)

    def _merge(
        self, result: dict[str, object], lines: dict[str, int], value: Any, mark: Any
    ) -> None:
        """`<<: *defaults`: the later of two equal keys wins, whichever side it came from."""
        maps = value[::-1] if isinstance(value, list) else [value]
        for merged_map in maps:
            if not isinstance(merged_map, dict):
                raise yaml_scalars.UnreadableError(
                    mark.line + 1, "map merge requires map or sequence of maps as the value"
                )
            if self._heeds_merges:
                self._notice_merged(lines, merged_map, mark)
            result.update(merged_map)

    def _notice_merged(self, lines: dict[str, int], item: dict[str, Json], mark: object) -> None:
        for key, line in self._lines.get(id(item), {}).items():
            if key in lines:
                self._notice(key, key, mark, line)
            lines[key] = line

    def _alias(self, event: Any) -> object:
        line = event.start_mark.line + 1
        if event.anchor in self._open_anchors:
            raise yaml_scalars.UnreadableError(
                line,
                f"anchor `{event.anchor}` contains itself",
                upstream=f"yaml: anchor '{event.anchor}' value contains itself",
            )
        if event.anchor not in self._anchors:
            raise yaml_scalars.UnknownAnchor(line, event.anchor)
        value, size = self._anchors[event.anchor]
        self._values += size + 1
        self._aliased += size
        if (
            self._aliased > yaml_scalars.ALIAS_FREE_COUNT
            and self._values > yaml_scalars.ALIAS_SMALL_DOCUMENT
            and self._aliased > self._values * _allowed_alias_ratio(self._values)
        ):
            raise yaml_scalars.UnreadableError(line, "document contains excessive aliasing")
        if not isinstance(value, dict | list):
            return value
        copied = yaml_scalars.copy_of(value)
        if id(value) in self._lines:
            self._lines[id(copied)] = self._lines[id(value)]
        return copied


def _key_text(key: Any, event: Any) -> str:
    if isinstance(key, dict | list):
        message = "a map" if isinstance(key, dict) else "a list"
        go_type = "map[interface {}]interface {}" if isinstance(key, dict) else "[]interface {}"
        upstream = f"yaml: invalid map key: {go_type}{{{_go_members(key)}}}"
        line = event.start_mark.line + 1
        raise yaml_scalars.UnreadableError(line, f"{message} cannot be a key", upstream=upstream)
    return yaml_scalars.key_text(key, getattr(event, "value", "")) or ""


def _null_key(value: Any, line: int) -> yaml_scalars.UnreadableError:
    shown = "<nil>" if value is None else _go_syntax(value)
    complaint = "unsupported" if is_since("1.31") else "Unsupported"
    upstream = f"{complaint} map key of type: %!s(<nil>), key: <nil>, value: {shown}"
    return yaml_scalars.UnreadableError(line, "null cannot be a key", upstream=upstream)


def _go_members(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{_go_syntax(key)}:{_go_syntax(value[key])}" for key in sorted(value))
    return ", ".join(map(_go_syntax, value))


def _go_syntax(value: Json) -> str:
    """Return the text as `%#v` prints it."""
    if isinstance(value, str):
        return quote(value)
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, dict):
        return f"map[interface {{}}]interface {{}}{{{_go_members(value)}}}"
    if isinstance(value, list):
        return f"[]interface {{}}{{{_go_members(value)}}}"
    return "interface {}(nil)" if value is None else str(value)


def _allowed_alias_ratio(values: int) -> float:
    """Return the part of a document that may come from aliases, as go-yaml `decode.go` allows."""
    if values <= yaml_scalars.ALIAS_RATIO_LOW:
        return 0.99
    if values >= yaml_scalars.ALIAS_RATIO_HIGH:
        return 0.10
    return 0.99 - 0.89 * (values - yaml_scalars.ALIAS_RATIO_LOW) / (
        yaml_scalars.ALIAS_RATIO_HIGH - yaml_scalars.ALIAS_RATIO_LOW
    )


def _is_merge(event: object) -> bool:
    return (
        event.__class__ is _SCALAR
        and event.value == _MERGE
        and (event.implicit[0] or event.tag == _TAG + "merge")
    )


def _scalar(event: Any, container: _Open | None) -> str | int | float | bool | None:
    tag = event.tag
    text: str = event.value
    if tag is None or tag == "!":
        if not event.implicit[0]:
            return text
        try:
            return yaml_scalars.resolve_plain(text)
        except yaml_scalars.NotJsonError:
            is_key = container is not None and container.awaits_key
            if is_key and _number_name(text) in _GO_NUMBERS:
                return _number_name(text)
            raise _not_json(event) from None
    if not tag.startswith(_TAG):
        return text
    return _tagged(event, tag.removeprefix(_TAG))


def _not_json(event: Any) -> yaml_scalars.UnreadableError:
    return yaml_scalars.UnreadableError(
        event.start_mark.line + 1,
        f"the number `{event.value[:40]}` has no form in JSON",
        "put it in quotes if it is meant as text",
        f"json: unsupported value: {_GO_NUMBERS.get(_number_name(event.value), event.value)}",
    )


def _number_name(text: str) -> str:
    """Return the name of no number or an infinite one, as keys have it."""
    return text.lstrip("+").lower()


def _tagged(event: Any, tag: str) -> str | int | float | bool | None:
    """Return the value of a scalar with an explicit tag of the YAML language, e.g. `!!int "5"`."""
    text: str = event.value
    if tag == "binary":
        return _binary(event)
    if tag not in ("int", "float", "bool", "null", "timestamp"):
        return text
    try:
        value = yaml_scalars.resolve_plain(text)
    except yaml_scalars.NotJsonError:
        raise _not_json(event) from None
    plain_tag = _tag_of(value)
    if tag == plain_tag or (tag, plain_tag) in (("float", "int"), ("int", "float")):
        return value
    if tag == "timestamp":
        return text
    raise yaml_scalars.UnreadableError(
        event.start_mark.line + 1, f"cannot decode !!{plain_tag} `{text[:40]}` as a !!{tag}"
    )


def _tag_of(value: str | int | float | bool | None) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "bool"
    if isinstance(value, int):
        return "int"
    return "float" if isinstance(value, float) else "str"


def _binary(event: Any) -> str:
    try:
        # As Go prints bytes that are not UTF-8: the replacement character.
        return base64.b64decode("".join(event.value.split()), validate=True).decode(
            errors="replace"
        )
    except ValueError:  # of binascii, or what is no ASCII
        raise yaml_scalars.UnreadableError(
            event.start_mark.line + 1, "!!binary value contains invalid base64 data"
        ) from None


def syntax_error(error: yaml.YAMLError, text: str) -> yaml_scalars.UnreadableError:
    """libyaml's complaint with its line; its words are those kubectl's users know."""
    if isinstance(error, yaml.reader.ReaderError):
        line = text.count("\n", 0, error.position) + 1
        return yaml_scalars.UnreadableError(line, libyaml_words(str(error.reason)))
    if not isinstance(error, yaml.MarkedYAMLError):
        return yaml_scalars.UnreadableError(1, str(error).splitlines()[0])
    mark = error.problem_mark or error.context_mark
    line = mark.line + 1 if mark is not None else 1
    problem = libyaml_words(error.problem or "", error.context)
    message = problem or error.context or "invalid YAML"
    upstream = f"yaml: {_go_place(error)}{problem or 'unknown problem parsing YAML content'}"
    hint = ""
    if "tab" in message or ("cannot start any token" in message and _has_tab(text, line)):
        hint = "indent with spaces: YAML does not allow tabs there"
    return yaml_scalars.UnreadableError(line, message, hint, upstream)


def _go_place(error: yaml.MarkedYAMLError) -> str:
    """Return the line as go-yaml `decode.go` counts it: of the scanner from 1, of the parser from
    0, and line 0 is no line."""
    line = 0
    if error.problem_mark is not None and error.problem_mark.line:
        line = error.problem_mark.line + isinstance(error, yaml.scanner.ScannerError)
    elif error.context_mark is not None:
        line = error.context_mark.line
    return f"line {line}: " if line else ""


def _has_tab(text: str, line: int) -> bool:
    lines = text.splitlines()
    return 0 < line <= len(lines) and "\t" in lines[line - 1]
