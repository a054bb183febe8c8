"""Inline forms and the functions they belong to: the cost as source is the cost, and a function of
the same name that is another function is called."""

from __future__ import annotations

from itertools import product

import pytest

from celadon.cel import Environment, types
from celadon.cel.cost import CostRule
from celadon.cel.extend import CallEstimate, Function, Library, Overload
from celadon.cel.libraries import strings
from celadon.kube.library import environment

TEXTS = ["", "a", "b" * 9, "c" * 10, "d" * 11, "e" * 105]


def _written() -> list[tuple[str, CostRule, int]]:
    """Every rule that can be written, with the number of arguments."""
    rows = []
    for env in (Environment(libraries=(strings.library(),)), environment(has_patch_types=True)):
        for function in env.declarations.functions.values():
            for overload in function.overloads:
                rule = overload.cost or function.cost
                if rule is not None and rule.written is not None:
                    rows.append((overload.id, rule, len(overload.params)))
    return rows


@pytest.mark.parametrize(("id", "rule", "arity"), _written())
def test_the_source_of_a_cost_computes_it(id: str, rule: CostRule, arity: int) -> None:
    assert rule.written is not None
    for args in product(TEXTS, repeat=min(arity, 2)):
        for known in product((True, False), repeat=len(args)):
            sizes = [
                len(arg) if is_known else f"len(args[{position}])"
                for position, (arg, is_known) in enumerate(zip(args, known, strict=True))
            ]
            source = str(rule.written(*sizes))
            charged = eval(source, {"args": args, "len": len})  # noqa: S307  # our own source
            assert charged == rule.tracked(args, True), (id, args, source)


def test_a_function_of_the_same_name_is_called_and_charged_as_its_record_says() -> None:
    own = Library(
        "own",
        functions=(
            Function(
                "lowerAscii",
                (
                    Overload(
                        "own_lower",
                        (types.STRING,),
                        types.STRING,
                        lambda text: f"<{text}>",
                        member=True,
                        cost=CostRule(
                            lambda args, result: 40, lambda args: CallEstimate(args[0].size)
                        ),
                    ),
                ),
            ),
        ),
    )
    env = Environment({"s": types.STRING}, libraries=(own,))
    program = env.program(env.compile("s.lowerAscii()").checked())
    assert program.evaluate({"s": "A"}) == "<A>"
    assert program.evaluate_metered({"s": "A"}) == ("<A>", 41)


def test_another_cost_is_charged_for_an_inline_form() -> None:
    """The form is the function's, the cost the record's."""
    dear = CostRule(lambda args, result: 7 * len(args[0]), lambda args: CallEstimate(args[0].size))
    library = strings.library()
    functions = tuple(
        one.with_each(cost=dear) if one.name == "lowerAscii" else one for one in library.functions
    )
    env = Environment({"s": types.STRING}, libraries=(library._replace(functions=functions),))
    program = env.program(env.compile("s.lowerAscii()").checked())
    assert ".lower()" in program.metered_source
    assert program.evaluate_metered({"s": "ABC"}) == ("abc", 22)


@pytest.mark.parametrize(
    ("expression", "value", "is_asked"),
    [
        ("int(text)", 7, False),
        ("int(number)", 8, False),
        ("int(any)", 9, True),
        ("string(number)", "8", False),
        ("string(flag)", "true", False),
        ("string(any)", "9", True),
    ],
)
def test_a_conversion_asks_for_the_class_of_what_has_no_type(
    expression: str, value: object, is_asked: bool
) -> None:
    """Where the overload is known it is called, whatever the value is."""
    inputs = {"text": "7", "number": 8, "flag": True, "any": 9}
    declared = {
        "text": types.STRING,
        "number": types.INT,
        "flag": types.BOOL,
        "any": types.DYN,
    }
    env = Environment(declared)
    program = env.program(env.compile(expression).checked())
    assert program.evaluate(inputs) == value
    assert program.evaluate_metered(inputs)[0] == value
    assert (".__class__ is int" in program.source) is is_asked


@pytest.mark.parametrize(
    ("expression", "value", "is_asked"),
    [
        ("size(text) == size(list)", True, False),
        ("size(text) != size(list)", False, False),
        ("string(number) == string(flag)", False, False),
        ("size(text) == number", False, True),
        ("text == text", True, True),
        ("list == list", True, True),
        ("any != any", False, True),
    ],
)
def test_an_equality_asks_for_the_class_of_what_is_not_surely_one(
    expression: str, value: object, is_asked: bool
) -> None:
    inputs = {"text": "7", "number": 8, "flag": True, "any": 9, "list": [1]}
    declared = {
        "text": types.STRING,
        "number": types.INT,
        "flag": types.BOOL,
        "any": types.DYN,
        "list": types.list_of(types.INT),
    }
    env = Environment(declared)
    program = env.program(env.compile(expression).checked())
    assert program.evaluate(inputs) is value
    assert program.evaluate_metered(inputs)[0] is value
    assert ("equal(" in program.source) is is_asked
    assert "= `_" not in program.listing(), "the operator's own function is not called"


@pytest.mark.parametrize(
    ("call", "value", "is_inline"),
    [
        ("split(',')", ["a", "b"], True),
        (f"split('{'x' * 1000}')", ["a,b"], True),
        (f"split('{'x' * 1001}')", ["a,b"], False),
        ("split('')", ["a", ",", "b"], False),
        ("split(any)", ["a", "b"], False),
        ("replace(',', '')", "ab", True),
        ("replace('', '-')", "-a-,-b-", False),
        (f"replace(',', '{'x' * 16}')", f"a{'x' * 16}b", True),
        (f"replace(',', '{'x' * 17}')", f"a{'x' * 17}b", False),
        (f"replace('{'x' * 1001}', '')", "a,b", False),
        ("replace(any, '')", "ab", False),
    ],
)
def test_methods_of_python_take_short_texts_that_are_known(
    call: str, value: object, is_inline: bool
) -> None:
    """Python splits at no empty text; long texts are for functions that watch sizes."""
    env = Environment({"text": types.STRING, "any": types.STRING}, libraries=(strings.library(),))
    program = env.program(env.compile(f"text.{call}").checked())
    inputs = {"text": "a,b", "any": ","}
    assert program.evaluate(inputs) == value
    assert program.evaluate_metered(inputs)[0] == value
    name = call.partition("(")[0]
    sources = program.source, program.metered_source
    assert [f".{name}(" in source for source in sources] == [is_inline] * 2
