"""A file of several YAML documents, cut into their texts as Kubernetes' own programs do.

A line that begins with `---` ends a document, and nothing but a comment may follow on it; at the
beginning of a document it is a part of it. As k8s.io/apimachinery `pkg/util/yaml` `YAMLReader`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

_SEPARATOR: Final = b"---"
_BLANK: Final = b" \t\r\n\v\f"


class SeparatorError(ValueError):
    """Something else stands behind a separator; the text is upstream's."""


def yaml_parts(data: bytes) -> Iterator[bytes]:
    """The documents, without blank ones and without blank ends. Raises SeparatorError."""
    lines: list[bytes] = []
    for line in data.split(b"\n"):
        if line.startswith(_SEPARATOR):
            behind = line[len(_SEPARATOR) :].strip(_BLANK)
            if behind and not behind.startswith(b"#"):
                shown = behind.decode("utf-8", "replace")
                raise SeparatorError(f"invalid Yaml document separator: {shown}")
            if lines:
                yield from _part(lines)
                lines = []
                continue
        lines.append(line.removesuffix(b"\r"))
    yield from _part(lines)


def _part(lines: list[bytes]) -> Iterator[bytes]:
    part = b"\n".join(lines).strip(_BLANK)
    if part:
        yield part
