"""Validators of JSON Schema.

jsonschema takes a second to load. So it is loaded when a test validates something, and not in each
process that collects the tests.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from jsonschema.protocols import Validator


def draft_2020_12(schema: Any) -> Validator:
    """A validator of a schema in the usual draft."""
    from jsonschema import Draft202012Validator

    return Draft202012Validator(schema)


def draft_4(schema: Any) -> Validator:
    """A validator of a schema in the old draft, formats of texts included."""
    from jsonschema import Draft4Validator, FormatChecker

    return Draft4Validator(schema, format_checker=FormatChecker())
