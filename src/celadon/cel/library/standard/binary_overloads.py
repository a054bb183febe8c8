"""The shape most operators share: two operands, no implementation of its own."""

from __future__ import annotations

from celadon.cel.declarations import Contents, Inline, Overload
from celadon.cel.pricing.cost_rules import CostRule, Lazily
from celadon.cel.pricing.growth import Growth
from celadon.cel.types import Type


def binary(
    id: str,
    left: Type,
    right: Type,
    result: Type,
    doc: str,
    example: tuple[str, str],
    cost: CostRule | None = None,
    growth: Growth | None = None,
    inline: Inline | None = None,
    contents: Contents | None = None,
    lazily: Lazily | None = None,
) -> Overload:
    return Overload(
        id,
        (left, right),
        result,
        cost=cost,
        doc=doc,
        examples=(example,),
        growth=growth,
        inline=inline,
        contents=contents,
        lazily=lazily,
    )
