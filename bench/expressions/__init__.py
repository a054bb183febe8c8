"""The fixed set of expressions, each with the function a careful person would write for it.

The functions are written the way such checks are written in Python: comprehensions, `all` and
`any`, `dict.get`, constants and compiled patterns outside, the standard library where it serves
(`re`, `ipaddress`, `urllib.parse`, `decimal`). Where an expression tests for absent fields, so do
they; where it does not, neither do they.
"""

from __future__ import annotations

from typing import Final

from bench.case import Case
from bench.expressions import (
    containers,
    fields,
    images,
    labels,
    lists,
    networks,
    optionals,
    quantities,
    texts,
)

CASES: Final[tuple[Case, ...]] = (
    *fields.CASES,
    *labels.CASES,
    *containers.CASES,
    *images.CASES,
    *quantities.CASES,
    *networks.CASES,
    *lists.CASES,
    *texts.CASES,
    *optionals.CASES,
)
