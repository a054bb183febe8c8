"""Values as text."""

from __future__ import annotations

from typing import Any

import pytest

from celadon.cel.errors import EvaluationError
from celadon.cel.values.conversions import notation
from celadon.cel.values.maps import MixedMap
from celadon.cel.values.runtime_types import NONE, Optional, display
from celadon.cel.values.text import Uint
from celadon.kube.library.environments import environment


def test_what_is_there_twice_is_written_twice() -> None:
    once = [1, Uint(2)]
    assert notation([once, once, {"a": once}]) == '[[1, 2u], [1, 2u], {"a": [1, 2u]}]'
    assert display([once, {"a": once}]) == "[[1, 2], {a: [1, 2]}]"
    assert notation([Optional(once), NONE]) == "[optional.of([1, 2u]), optional.none()]"
    assert display([Optional(once), NONE]) == "[optional([1, 2]), optional.none()]"


@pytest.mark.parametrize(
    ("expression", "text"),
    [
        ("timestamp('1970-01-01T00:00:01.5Z')", 'timestamp("1970-01-01T00:00:01.5Z")'),
        ("duration('90s')", 'duration("90s")'),
        ("quantity('1Gi')", 'kubernetes.Quantity("1Gi")'),
        ("ip('10.0.0.1')", 'net.IP("10.0.0.1")'),
        ("semver('1.2.3')", 'kubernetes.Semver("1.2.3")'),
        ("type([1])", "list"),
        (r"""b'a"\\\x00~\x7f '""", r'b"a\x22\x5c\x00~\x7f "'),
        ("'\N{SNOWMAN}\\n'", '"\N{SNOWMAN}\\n"'),
        ("null", "null"),
        ("true", "true"),
        ("-4", "-4"),
        ("3u", "3u"),
        ("2.0", "2.0"),
        ("0.0 / 0.0", 'double("NaN")'),
        ("-1.0 / 0.0", 'double("-Infinity")'),
        ("1.0 / 0.0", 'double("Infinity")'),
        ("[]", "[]"),
        ("{}", "{}"),
        ("{1u: [2], 3u: []}", "{1u: [2], 3u: []}"),
        ("optional.none()", "optional.none()"),
        ("optional.of(optional.of(1.5))", "optional.of(optional.of(1.5))"),
    ],
)
def test_notations(expression: str, text: str) -> None:
    env = environment("1.36")
    value = env.program(env.compile(expression).checked()).evaluate({})
    assert notation(value) == text


@pytest.mark.parametrize("write", [notation, display])
def test_what_has_no_end_is_an_error(write: Any) -> None:
    value: Any = 1
    for _ in range(20):
        value = MixedMap([(True, [value, value]), (1.5, Optional(value))])
    with pytest.raises(EvaluationError, match="actual cost limit exceeded"):
        write(value)
