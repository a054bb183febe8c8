"""The standard library: its overloads, and the functions that check their arguments themselves."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from celadon.cel.errors import EvaluationError
from celadon.cel.library import operators, standard
from celadon.cel.values.timestamps import Duration

FUNCTIONS = {function.name: function for function in standard.LIBRARY.functions}


def _ids(name: str) -> str:
    return " ".join(overload.id for overload in FUNCTIONS[name].overloads)


def test_overloads_are_in_the_order_of_cel_go() -> None:
    """Error texts list candidates in this order."""
    assert _ids("_+_") == (
        "add_bytes add_double add_duration_duration add_duration_timestamp add_timestamp_duration "
        "add_int64 add_list add_string add_uint64"
    )
    assert _ids("_<_") == (
        "less_bool less_int64 less_int64_double less_int64_uint64 less_uint64 less_uint64_double "
        "less_uint64_int64 less_double less_double_int64 less_double_uint64 less_string less_bytes "
        "less_timestamp less_duration"
    )
    assert _ids("size") == (
        "size_bytes bytes_size size_list list_size size_map map_size size_string string_size"
    )
    assert _ids("getSeconds") == "timestamp_to_seconds timestamp_to_seconds_tz duration_to_seconds"


def test_all_functions_are_there() -> None:
    assert " ".join(sorted(FUNCTIONS)) == (
        "!_ -_ @in @not_strictly_false _!=_ _%_ _&&_ _*_ _+_ _-_ _/_ _<=_ _<_ _==_ _>=_ _>_ _?_:_ "
        "_[_] _||_ bool bytes contains double duration dyn endsWith getDate getDayOfMonth "
        "getDayOfWeek getDayOfYear getFullYear getHours getMilliseconds getMinutes getMonth "
        "getSeconds int matches size startsWith string timestamp type uint"
    )
    assert " ".join(sorted(t.name for t in standard.LIBRARY.types)) == (
        "bool bytes double google.protobuf.Duration google.protobuf.Timestamp int list map "
        "null_type string type uint"
    )


@pytest.mark.parametrize(
    ("function", "text", "argument", "result"),
    [
        (standard.contains, "hello", "ell", True),
        (standard.contains, "hello", "", True),
        (standard.starts_with, "hello", "he", True),
        (standard.starts_with, "hello", "el", False),
        (standard.ends_with, "hello", "lo", True),
        (standard.matches, "hello", "^h.*o$", True),
        (standard.matches, "hello\n", "o$", False),
        (standard.matches, "hello", "x", False),
    ],
)
def test_on_strings(
    function: Callable[[Any, Any], bool], text: str, argument: str, result: bool
) -> None:
    assert function(text, argument) is result


@pytest.mark.parametrize(
    ("function", "args", "message"),
    [
        (standard.contains, (1, "a"), "no such overload"),
        (standard.contains, ("a", 1), "no such overload"),
        (standard.starts_with, (["a"], "a"), "no such overload"),
        (standard.ends_with, ("a", None), "no such overload"),
        (standard.matches, ("a", 1), "no such overload"),
        (standard.matches, (1, "a"), "no such overload: matches"),
        (standard.matches, (Duration(0), "a"), "no such overload"),
        (standard.matches, ("a", "("), "error parsing regexp: missing closing ): `(`"),
        (operators.logical_not, (1,), "no such overload"),
        (operators.logical_not, (None,), "no such overload"),
    ],
)
def test_errors(function: Callable[..., bool], args: tuple[Any, ...], message: str) -> None:
    with pytest.raises(EvaluationError) as raised:
        function(*args)
    assert raised.value.message == message


def test_negation() -> None:
    assert operators.logical_not(False) is True
