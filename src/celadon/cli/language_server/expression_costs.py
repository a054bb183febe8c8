"""What an expression may cost, in words."""

from __future__ import annotations

from collections.abc import Sequence

from celadon.admission.lint import LargeObject, TypedScope


def cost_text(text: str, scopes: Sequence[TypedScope], size: int) -> str:
    """`cost 5`, or `cost 3 to 40` for objects of up to that many bytes; of several kinds, all of
    their costs; empty for what does not compile."""
    found = []
    for scope in scopes:
        checked = scope.environment.compile(text).ast
        if checked is not None:
            found.append(scope.environment.estimate(checked, LargeObject(size)))
    if not found:
        return ""
    least, most = min(one.min for one in found), max(one.max for one in found)
    return f"cost {least}" if least == most else f"cost {least} to {_shown(most)}"


def _shown(cost: int) -> str:
    """Large numbers without digits that mean nothing."""
    return str(cost) if cost < 1_000_000 else f"{cost:.1e}".replace("e+", "e")
