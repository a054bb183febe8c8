"""How large a value is at most, as far as costs go.

Costs depend on sizes. Where the size of everything a request brings is small enough, no expression
of a policy can reach a limit, and nothing needs to be counted (`policy.compile`). So this must be
quick rather than tight, and never too low.
"""

from __future__ import annotations

import json
import marshal
from typing import Any, Final

from celadon.admission import policy_limits

_MARSHAL_FORMAT: Final = 2  # without references: every value is counted where it stands


def size_bound(value: Any) -> int:  # noqa: ANN401 - a value of CEL
    """An upper bound of what the cost model can count in a value: one for everything in it, and
    one more for each byte of a text. Marshalling without references is just that, and quick."""
    try:
        return len(marshal.dumps(value, _MARSHAL_FORMAT))
    except ValueError:  # nested too deeply, or a mapping that is no dict
        return _json_size(value)


def _json_size(value: object) -> int:
    try:
        return len(json.dumps(value, default=dict))
    except RecursionError:
        return policy_limits.UNBOUNDED_SIZE
