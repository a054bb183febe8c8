"""The parts of Go's standard library whose values and texts Kubernetes' clients see.

Each module answers for one package of Go: `go_json` for `encoding/json`, `go_text` for `%q`, `%#v`,
JSON output and numbers, `go_time` (durations, too), `go_url` (`net/url`); `go_types` names types as
Go's complaints do. `go_values` are values with their types, and how two of them differ, which
`go_cmp` reports (github.com/google/go-cmp).
"""

from celadon.kube.go import go_json
from celadon.kube.go.go_json import TOO_DEEP, Document, JsonSyntaxError, merged_members, read_json
from celadon.kube.go.go_text import (
    ADDRESS,
    EACH_BYTE,
    MONTHS,
    UTC_NOW,
    GoValue,
    client_json,
    int_or,
    json_text,
    media_type_complaint,
    parse_bool,
    parse_int,
    parse_media_type,
    parse_uint,
    quote,
    sorted_members,
    trim_space,
    type_text,
)
from celadon.kube.go.go_time import DurationError, TimeError, canonical_time, parse_go_duration
from celadon.kube.go.go_url import URL, URLError
from celadon.kube.go.go_url import parse as parse_url

__all__ = [
    "ADDRESS",
    "EACH_BYTE",
    "MONTHS",
    "TOO_DEEP",
    "URL",
    "UTC_NOW",
    "Document",
    "DurationError",
    "GoValue",
    "JsonSyntaxError",
    "TimeError",
    "URLError",
    "canonical_time",
    "client_json",
    "go_json",
    "int_or",
    "json_text",
    "media_type_complaint",
    "merged_members",
    "parse_bool",
    "parse_go_duration",
    "parse_int",
    "parse_media_type",
    "parse_uint",
    "parse_url",
    "quote",
    "read_json",
    "sorted_members",
    "trim_space",
    "type_text",
]
