"""Files of a workspace that are none of ours: an editor opens all YAML there is.

Of a chart's templates nothing is said, since they are no YAML before they are rendered. Of files
that cannot be read, or hold something else than objects, something is said only if they name a
group whose objects have expressions: others have their own tools.
"""

from __future__ import annotations

from typing import Final

from celadon.kube.well_known_values import (
    ADMISSION_REGISTRATION,
    DEFINITION_KIND,
    DYNAMIC_RESOURCES,
)
from celadon.patterns import late_pattern

_ACTION: Final = late_pattern(
    r"\{\{-?\s*"
    r"(?:/\*|[.$(][\w.]*|(?:if|else|end|with|range|define|include|template|block)\b"
    r"|(?:default|fromYaml|indent|nindent|print|printf|quote|required|toJson|toYaml|tpl)\b)"
    r"[^{}\n]*\}\}"
)
"""A few of Go's templates, none of which is CEL: a map is no key there."""
_GROUPS: Final = (ADMISSION_REGISTRATION, DEFINITION_KIND[0], DYNAMIC_RESOURCES)


def is_template(content: str) -> bool:
    """Whether a text is to be rendered by Helm, or something like it."""
    return "{{" in content and _ACTION.search(content) is not None


def may_have_expressions(content: str) -> bool:
    """Whether a text names a group whose objects have expressions."""
    return any(group in content for group in _GROUPS)
