"""Functions are declared by their signature, as a text."""

from __future__ import annotations

import pytest

from celadon.cel.types import BOOL, INT, STRING, Type, list_of, map_of, type_param
from celadon.kube.library.costs import CIDR, IP, URL, WALK, declared, overloaded


@pytest.mark.parametrize(
    ("signature", "name", "params", "result", "is_member"),
    [
        ("isIP(string) -> bool", "isIP", (STRING,), BOOL, False),
        ("ip.isCanonical(string) -> bool", "ip.isCanonical", (STRING,), BOOL, False),
        ("IP.family() -> int", "family", (IP,), INT, True),
        ("CIDR.containsIP(IP) -> bool", "containsIP", (CIDR, IP), BOOL, True),
        (
            "list(T).indexOf(T) -> int",
            "indexOf",
            (list_of(type_param("T")), type_param("T")),
            INT,
            True,
        ),
        (
            "URL.getQuery() -> map(string, list(string))",
            "getQuery",
            (URL,),
            map_of(STRING, list_of(STRING)),
            True,
        ),
        ("semver(string, bool) -> string", "semver", (STRING, BOOL), STRING, False),
        ("format.uuid() -> int", "format.uuid", (), INT, False),
    ],
)
def test_a_signature_says_what_is_taken_and_given(
    signature: str, name: str, params: tuple[Type, ...], result: Type, *, is_member: bool
) -> None:
    function = declared(signature, "an_id", len, "What it does.", ("1", "1"), cost=WALK)
    (overload,) = function.overloads
    assert (function.name, function.cost) == (name, WALK)
    assert (overload.id, overload.impl, overload.doc) == ("an_id", len, "What it does.")
    assert (overload.params, overload.result, overload.member) == (params, result, is_member)
    assert overload.examples == (("1", "1"),)


def test_a_type_that_nobody_knows_is_no_signature() -> None:
    with pytest.raises(KeyError):
        declared("f(number) -> int", "f", len, "")


def test_overloads_of_one_name_are_one_function() -> None:
    one, other = (
        declared("f(int) -> int", "f_int", abs, ""),
        declared("f(string) -> int", "f_string", len, ""),
    )
    function = overloaded(one, other, cost=WALK)
    assert (function.name, function.cost) == ("f", WALK)
    assert function.overloads == one.overloads + other.overloads
