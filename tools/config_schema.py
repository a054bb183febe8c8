"""The JSON schema of celadon.toml and of [tool.celadon] in pyproject.toml, for editors:
`python -m tools.config_schema > docs/schemas/celadon.json`.
"""

from __future__ import annotations

import json
import sys
from typing import Any, Final

from celadon.cli.fmt import MAX_WIDTH, MIN_WIDTH, LayoutConfig
from celadon.cli.lint import EVERY_RULE, FAIL_ON, LintConfig
from celadon.cli.options import VERSIONS

_CODE_LETTERS: Final = 3
"""Of `CEL025` at least so much says which rules are meant: no editor offers less."""


def _rules() -> dict[str, Any]:
    """Names of rules, and codes or how they begin."""
    every = {one.name for one in EVERY_RULE}
    for one in EVERY_RULE:
        every.update(one.code[:end] for end in range(_CODE_LETTERS, len(one.code) + 1))
    return {"type": "array", "items": {"enum": sorted(every)}}


def _shared() -> dict[str, Any]:
    """What the top of the file may have, and each profile."""
    texts = {"type": "array", "items": {"type": "string", "minLength": 1}}
    paths = {"type": "array", "items": {"type": "string", "minLength": 1, "not": {"const": "-"}}}
    return {
        "policies": {"description": "given to commands as if with -f", **paths},
        "cluster": {"description": "the same, for what policies look up", **paths},
        "exclude": {"description": "patterns of files to leave out", **texts},
        "kubernetes-version": {"description": "the release", "enum": list(VERSIONS)},
    }


def schema() -> dict[str, Any]:
    """The whole schema."""
    default = LintConfig()
    texts = {"type": "array", "items": {"type": "string"}}
    lint = {
        "select": {"description": "only these rules", **_rules()},
        "ignore": {"description": "not these rules", **_rules()},
        "kubernetes-versions": {
            "description": "the newest is linted for, the others must know all functions",
            "type": "array",
            "items": {"enum": list(VERSIONS)},
            "default": list(default.kubernetes_versions),
        },
        "fail-on": {
            "description": "the least severity that fails the run",
            "enum": list(FAIL_ON),
            "default": default.fail_on,
        },
        "large-object": {
            "description": "the size of an object that must be affordable, in KiB",
            "type": "integer",
            "minimum": 1,
            "default": default.large_object,
        },
        "exclude": {"description": "patterns of files to leave out", **texts},
        "per-file-ignores": {
            "description": "rules that do not count in files that match a pattern",
            "type": "object",
            "additionalProperties": _rules(),
        },
    }
    fmt = {
        "line-width": {
            "description": "how long a line may become, its indentation included",
            "type": "integer",
            "minimum": MIN_WIDTH,
            "maximum": MAX_WIDTH,
            "default": LayoutConfig().line_width,
        },
        "exclude": {"description": "patterns of files to leave out", **texts},
    }
    shared = _shared()
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": "https://celadon.dev/schemas/celadon.json",
        "title": "celadon",
        "description": "celadon.toml, and [tool.celadon] in pyproject.toml",
        "type": "object",
        "properties": {
            **shared,
            "profiles": {
                "description": "what --profile NAME adds",
                "type": "object",
                "additionalProperties": {
                    "type": "object",
                    "properties": shared,
                    "additionalProperties": False,
                },
            },
            "fmt": {"type": "object", "properties": fmt, "additionalProperties": False},
            "lint": {"type": "object", "properties": lint, "additionalProperties": False},
        },
        "additionalProperties": False,
    }


if __name__ == "__main__":
    sys.stdout.write(json.dumps(schema(), indent=2) + "\n")
