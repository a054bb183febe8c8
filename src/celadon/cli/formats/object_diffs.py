"""Two states of an object as people compare them: YAML, line by line."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from typing import Any, Final

CONTEXT: Final = 3
"""Lines around each change."""


def yaml_text(value: Mapping[str, Any]) -> str:
    """The object as a manifest, its members in their order."""
    import yaml

    text: str = yaml.safe_dump(_plain(value), sort_keys=False, allow_unicode=True, width=1000)
    return text


def _plain(value: object) -> Any:  # noqa: ANN401 - any JSON
    """A copy in which nothing is there twice, which YAML would write as an alias."""
    if isinstance(value, Mapping):
        return {str(key): _plain(one) for key, one in value.items()}
    return [_plain(item) for item in value] if isinstance(value, list) else value


def diff_lines(before: Mapping[str, Any], after: Mapping[str, Any]) -> list[str]:
    """A unified diff without its head; none for equal objects."""
    lines = difflib.unified_diff(
        yaml_text(before).splitlines(), yaml_text(after).splitlines(), n=CONTEXT, lineterm=""
    )
    return list(lines)[2:]
