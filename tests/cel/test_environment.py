"""Environments: the phases in order, variants of one environment, names and containers."""

from __future__ import annotations

import pytest

from celadon.cel import (
    CompileError,
    Environment,
    EvaluationError,
    ProgramError,
    Switches,
    environment,
    types,
)
from celadon.cel.errors import DeclarationError, Issues, Source
from celadon.cel.extend import ObjectType, validators
from celadon.cel.libraries import comprehensions, strings
from celadon.cel.parsing.parser import ParseOptions, parse
from celadon.cel.syntax import Ast
from celadon.memoization import WeightedMemory

ENVIRONMENT = Environment({"x": types.INT})


def value(env: Environment, text: str, **inputs: object) -> object:
    return env.program(env.compile(text).checked()).evaluate(inputs)


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("x +", "Syntax error"),
        ("y", "undeclared reference to 'y'"),
        ("x == 'a'", "found no matching overload"),
        ("\0", "Syntax error"),
        ("", "Syntax error"),
        ("'" + "a" * 100_000 + "'", "expression code point size exceeds limit"),
    ],
    ids=["syntax", "name", "type", "junk", "nothing", "too long"],
)
def test_bad_text_gives_issues(text: str, complaint: str) -> None:
    compilation = ENVIRONMENT.compile(text)
    assert compilation.ast is None
    assert complaint in compilation.issues.display()
    with pytest.raises(CompileError, match=complaint.replace("(", r"\(")):
        compilation.checked()


def test_validators_come_last() -> None:
    env = Environment({"x": types.INT}, validators=(validators.DURATION,))
    assert (
        "invalid duration argument"
        in env.compile("duration('1x') > duration('1s')").issues.display()
    )
    assert ENVIRONMENT.compile("duration('1x') > duration('1s')").ast is not None


def test_the_description_names_the_source() -> None:
    shown = ENVIRONMENT.compile("y", "policy.yaml").issues.display()
    assert shown.startswith("ERROR: policy.yaml:1:1: ")


def test_extending_leaves_the_environment_as_it_is() -> None:
    more = ENVIRONMENT.extend({"y": types.STRING}, [ObjectType("T", {"f": types.INT})])
    assert value(more, "y + string(x)", x=1, y="a") == "a1"
    assert ENVIRONMENT.compile("y").issues
    assert more.extend({"t": types.object_type("T")}).compile("t.g").issues


def test_switches_of_a_variant() -> None:
    folding = ENVIRONMENT.compile("int('one') == x").checked()
    with pytest.raises(ProgramError, match="type conversion error from 'string' to 'int'"):
        ENVIRONMENT.program(folding)
    program = ENVIRONMENT.with_switches(fold_constants=False).program(folding)
    with pytest.raises(EvaluationError, match="type conversion error from 'string' to 'int'"):
        program.evaluate({"x": 1})
    assert ENVIRONMENT.switches.fold_constants


def test_names_in_a_container() -> None:
    env = Environment({"a.b.x": types.INT, "a.x": types.INT, "x": types.INT}, container="a.b")
    inputs = {"a.b.x": 1, "a.x": 2, "x": 3}
    for text, expected in {"x": 1, "a.x": 2, ".x": 3}.items():
        assert env.program(env.compile(text).checked()).evaluate(inputs) == expected


def test_enums_and_aliases() -> None:
    env = Environment(
        enums={"shop.Size.LARGE": 2}, aliases={"large": "shop.Size.LARGE"}, container="shop"
    )
    assert value(env, "Size.LARGE + large") == 4


def test_contradicting_declarations() -> None:
    clash = ObjectType("T", {"f": types.INT})
    env = Environment(objects=(clash,), libraries=(strings.library(),))
    assert env.compile("'a'.charAt(0)").ast is not None
    function = strings.library().functions[0]
    overload = function.overloads[0]._replace(result=types.BYTES)
    twisted = strings.library()._replace(functions=(function._replace(overloads=(overload,)),))
    with pytest.raises(DeclarationError):
        Environment(libraries=(strings.library(), twisted))


def test_optional_syntax_is_a_switch() -> None:
    assert ENVIRONMENT.compile("{'a': x}.?a").issues
    allowed = Environment({"x": types.INT}, switches=Switches(optional_syntax=True))
    assert "unsupported syntax" not in allowed.compile("{'a': x}.?a").issues.display()


@pytest.fixture
def parsed(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The texts that were parsed, where nothing of other tests is remembered."""
    texts: list[str] = []
    trees = WeightedMemory[str, Ast](environment._TREES_BYTES)
    monkeypatch.setattr(environment, "_trees_of", lambda _: trees)
    monkeypatch.setattr(ENVIRONMENT, "_trees", trees)

    def counted(source: Source, options: ParseOptions) -> tuple[Ast | None, Issues]:
        texts.append(source.text)
        return parse(source, options)

    monkeypatch.setattr(environment, "parse", counted)
    return texts


def test_a_text_is_parsed_once_for_all_environments(parsed: list[str]) -> None:
    """Five thousand, as many as may be validated before the first runs; and a long one."""
    texts = [f"x + {number} > {'1 + ' * (number % 20)} 0" for number in range(5000)]
    texts.append(" + ".join("x" * 200) + " > 0")
    older, newer = Environment({"x": types.INT}), ENVIRONMENT.extend({"z": types.INT})
    for env in (older, newer):
        assert all(env.compile_once_more(text).ast for text in texts)
    assert parsed == texts


def test_what_a_shared_environment_has_checked_is_remembered(parsed: list[str]) -> None:
    env, other = ENVIRONMENT.extend().shared(), Environment({"x": types.UINT}).shared()
    first = env.compile_once_more("x + 17 > 0")
    assert env.compile_once_more("x + 17 > 0").ast is first.ast
    assert "no matching overload" in other.compile_once_more("x + 17 > 0").issues.display()
    assert env.extend({"z": types.INT}).compile_once_more("x + 17 > 0").ast is not first.ast
    assert parsed == ["x + 17 > 0"]


def test_a_wrong_text_is_wrong_each_time(parsed: list[str]) -> None:
    env = ENVIRONMENT.extend().shared()
    texts = [env.compile_once_more("x + ").issues.display() for _ in range(2)]
    assert texts[0] == texts[1] == ENVIRONMENT.compile("x + ").issues.display()


OLDER = Switches(older_lines=True, older_texts=True, optional_syntax=True)


@pytest.mark.parametrize(
    ("text", "older", "newer"),
    [
        # what begins a line was shown at the end of the one before, but not to the grammar
        ("true &&\nzz",
         "1:9: undeclared reference to 'zz' (in container '')\n | true &&\n | .......^",
         "2:1: undeclared reference to 'zz' (in container '')\n | zz\n | ^"),
        ("\nvoid", "1:2: reserved identifier: void\n | \n | ^",
         "2:1: reserved identifier: void\n | void\n | ^"),
        ("1 +\n)", "2:1: Syntax error: mismatched input ')' expecting",
         "2:1: Syntax error: mismatched input ')' expecting"),
        ("", "1:1: Syntax error: mismatched input '<EOF>'",
         "1:0: Syntax error: mismatched input '<EOF>'"),
        ("'\\U00110000'", "1:1: unable to unescape string", "1:1: invalid unicode code point"),
        ("1 %", "1:4: Syntax error: mismatched input '<EOF>' expecting",
         "1:4: Syntax error: mismatched input '<EOF>' expecting"),
        ("%", "1:1: Syntax error: mismatched input '%!'(MISSING) expecting",
         "1:1: Syntax error: mismatched input '%' expecting"),
        ("{}.?0", "1:5: Syntax error: mismatched input '0' expecting IDENTIFIER\n",
         "1:5: Syntax error: mismatched input '0' expecting {IDENTIFIER, ESC_IDENTIFIER}\n"),
        # without names in backticks, one that is missing is made up
        ("a.?", "1:4: Syntax error: missing IDENTIFIER at '<EOF>'\n",
         "1:4: Syntax error: mismatched input '<EOF>' expecting {IDENTIFIER, ESC_IDENTIFIER}\n"),
        ("a.?[1]", "1:4: Syntax error: missing IDENTIFIER at '['\n",
         "1:4: Syntax error: mismatched input '[' expecting {IDENTIFIER, ESC_IDENTIFIER}\n"),
    ],
)  # fmt: skip
def test_texts_of_older_releases(text: str, older: str, newer: str) -> None:
    for switches, shown in (
        (OLDER, older),
        (OLDER._replace(older_lines=False, older_texts=False), newer),
    ):
        issues = Environment(switches=switches).compile(text).issues
        assert f"ERROR: <input>:{shown}" in f"{issues.display()}\n"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("\nvoid", "2:1: reserved identifier: void\n | void\n | ^"),
        ("true &&\nzz",
         "1:9: undeclared reference to 'zz' (in container '')\n | true &&\n | .......^"),
        ("[?1]", "1:3: expected type 'optional(int)' but found 'int'\n | [?1]\n | ..^"),
        ("true //\n'optional_type(",
         "2:1: Syntax error: token recognition error at: ''optional_type('\n"
         " | 'optional_type(\n | ^"),
    ],
)  # fmt: skip
def test_texts_of_the_oldest_releases(text: str, shown: str) -> None:
    environment = Environment(switches=OLDER._replace(oldest_texts=True))
    assert environment.compile(text).issues.display() == f"ERROR: <input>:{shown}"


def test_what_was_no_mistake_in_older_releases() -> None:
    environment = Environment(switches=OLDER)
    checked = environment.compile(r"'\ud800' == '\uFFFD' && [1].all(__result__, true)").checked()
    assert environment.program(checked).evaluate({}) is True
    assert not environment.compile("{}.?0").issues.display().endswith("unsupported ident kind")


def test_names_of_declared_types_once_were_values_of_them() -> None:
    switches = OLDER._replace(older_schemas=True)
    record = ObjectType("a.B", {"c": types.STRING})
    older = Environment(switches=switches).extend({}, [record])
    for text, message in (
        ("timestamp == 1", "'_==_' applied to '(timestamp, int)'"),
        ("a.B == 1", "'_==_' applied to '(a.B, int)'"),
        ("timestamp{a: 1}", "'google.protobuf.Timestamp' is not a type"),
        ("a.B{d: 1}", "undefined field 'd'"),
        ("a.B{}", "'a.B' is not a type"),
    ):
        assert message in older.compile(text).issues.display()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[].all(__result__, 1, true)", "1:20: argument must be a simple name"),
        (
            "[].all(__result__, __result__, true)",
            "1:20: duplicate variable name: __result__",
        ),
        ("[].all(i, __result__, true)", "1:11: iteration variable overwrites accumulator variable"),
    ],
)
def test_names_of_two_variables_are_looked_at_in_this_order(text: str, message: str) -> None:
    for switches in (OLDER, Switches()):
        environment = Environment(libraries=[comprehensions.LIBRARY], switches=switches)
        assert f"ERROR: <input>:{message}\n" in environment.compile(text).issues.display()
