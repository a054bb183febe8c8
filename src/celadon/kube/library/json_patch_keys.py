"""`kubernetes.jsonpatch`: `jsonpatch.escapeKey`, for mutating policies only.

Upstream: k8s.io/apiserver `pkg/cel/library/jsonpatch.go`.
"""

from __future__ import annotations

from typing import Final

from celadon.cel.extend import Library, growth, types
from celadon.kube.library.costs import call_costs
from celadon.kube.library.signatures import function


def _escape_key(key: str) -> str:
    return key.replace("~", "~0").replace("/", "~1")


LIBRARY: Final = Library(
    "kubernetes.jsonpatch",
    functions=(
        function(
            "jsonpatch.escapeKey",
            "string_jsonpatch_escapeKey_string",
            (types.STRING,),
            types.STRING,
            _escape_key,
            "A map key as a part of a JSON patch path.",
            ("jsonpatch.escapeKey('k8s.io/my~label')", "'k8s.io~1my~0label'"),
            cost=call_costs.FIRST_SAME_SIZE,
            growth=growth.times(2),
        ),
    ),
)
