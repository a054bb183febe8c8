"""Programs: depth, hostile text, threads, memory; what both variants promise each other."""

from __future__ import annotations

import gc
import inspect
import json
import keyword
import linecache
import re
import sys
import threading
import traceback
import tracemalloc
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import pairwise
from typing import Any

import pytest

from celadon.cel import Environment, EvaluationError, Program, Switches, types
from celadon.cel.errors import CostLimitExceeded
from celadon.cel.libraries import comprehensions, lists, optionals, strings
from celadon.cel.runtime import EXPORTS
from celadon.cel.syntax import Comprehension, Ident, ListLiteral
from tests.properties.interpreter import show

ENVIRONMENT = Environment(
    {"object": types.DYN, "x": types.DYN, "list": types.list_of(types.INT)},
    libraries=(optionals.library(), strings.library(), lists.library(), comprehensions.LIBRARY),
    switches=Switches(optional_syntax=True),
)
#: An expression of the language may be nested so deep; what is one deeper fails to parse.
DEPTH = 240


def program(text: str) -> Program:
    return ENVIRONMENT.program(ENVIRONMENT.compile(text).checked())


def outcomes(one: Program, activation: dict[str, Any]) -> list[str]:
    """What the plain and the metered variant say; the interpreter says the same as the first."""
    ways: tuple[Callable[[], Any], ...] = (
        lambda: one.evaluate(activation),
        lambda: one.prepare().evaluate(activation),
        lambda: one.evaluate_metered(activation)[0],
    )
    found = []
    for evaluate in ways:
        try:
            found.append(show(evaluate()))
        except EvaluationError as error:
            found.append(f"error: {error.message}")
    interpreted, *compiled = found
    assert interpreted == compiled[0]
    return compiled


def from_a_deep_stack(levels: int, call: Callable[[], Any]) -> Any:
    """A server or a test runner has its own frames below ours."""
    return from_a_deep_stack(levels - 1, call) if levels else call()


def nested_object(depth: int, key: str = "f") -> dict[str, Any]:
    value: Any = 1
    for _ in range(depth):
        value = {key: value}
    return {"object": value}


def test_the_depths_are_legal_and_nearly_the_deepest() -> None:
    assert ENVIRONMENT.compile("(" * DEPTH + "1" + ")" * DEPTH).ast is not None
    assert ENVIRONMENT.compile("(" * 260 + "1" + ")" * 260).issues


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param(" + ".join(["1"] * DEPTH), f"types.Int({DEPTH})", id="a chain of constants"),
        pytest.param("x" + " + 1" * DEPTH, f"types.Int({DEPTH + 1})", id="a chain of plus"),
        pytest.param("(" * DEPTH + "x" + " + 1)" * DEPTH, f"types.Int({DEPTH + 1})", id="parens"),
        pytest.param("(1 + " * 120 + "x" + ")" * 120, "types.Int(121)", id="to the right"),
        pytest.param("[" * 120 + "x" + "]" * 120 + "[0]" * 120, "types.Int(1)", id="lists"),
        pytest.param("{'k':" * 100 + "x" + "}" * 100 + ".k" * 100, "types.Int(1)", id="maps"),
        pytest.param("x == 1 ? 7 : " * 120 + "9", "types.Int(7)", id="conditionals"),
        pytest.param("x == 2 ? 7 : " * 120 + "9", "types.Int(9)", id="conditionals to the end"),
        pytest.param("!" * 201 + "(x == 2)", "types.Bool(True)", id="not"),
        pytest.param("-" * 201 + "x", "types.Int(-1)", id="negation"),
        pytest.param(" && ".join(["x == 1"] * 300), "types.Bool(True)", id="and"),
        pytest.param(" || ".join(["x == 2"] * 300), "types.Bool(False)", id="or"),
        pytest.param("'a'" + ".replace('a', 'a')" * 120, "types.String('a')", id="member calls"),
        pytest.param("size(string(" * 60 + "'a'" + "))" * 60, "types.Int(1)", id="global calls"),
        pytest.param("optional.of(x)" + ".optMap(v, v)" * 8, "optional(types.Int(1))", id="optMap"),
    ],
)
def test_deep_expressions(text: str, expected: str) -> None:
    def run() -> list[str]:
        return outcomes(program(text), {"x": 1})

    assert from_a_deep_stack(150, run) == [expected, expected]


@pytest.mark.parametrize("step", [".f", "['f']"])
def test_deep_objects(step: str) -> None:
    one = program("object" + step * DEPTH)
    assert outcomes(one, nested_object(DEPTH)) == ["types.Int(1)"] * 2
    assert outcomes(one, {"object": {}}) == ["error: no such key: f"] * 2


def nested_macro(macro: str, depth: int) -> str:
    """`[1].all(v0, [v0].all(v1, v1 == 1))`, and the like for macros that give lists."""
    suffix = ".size() == 1" if macro == "filter" else ""
    text = f"v{depth - 1}" if macro == "map" else f"v{depth - 1} == 1"
    for level in reversed(range(depth)):
        over = f"[v{level - 1}]" if level else "[1]"
        text = f"{over}.{macro}(v{level}, {text}){suffix}"
    return text


@pytest.mark.parametrize("macro", ["all", "exists", "exists_one", "filter", "map"])
def test_deep_macros(macro: str) -> None:
    """Deeper than CPython lets loops nest in one function."""
    depth = 25
    expected = "types.Bool(True)"
    if macro == "map":
        expected = "[" * depth + "types.Int(1)" + "]" * depth
    one = program(nested_macro(macro, depth))
    assert outcomes(one, {}) == [expected, expected]


HOSTILE = [
    "__import__('os').system('true')",
    "{0.__class__}",
    '"""',
    "'; raise SystemExit; '",
    "\\",
    "a\nimport os\n",
    "\u2028\u202e",
    "#",
    "%s{}",
    "k3",
    "@3",
]


@pytest.mark.parametrize("text", HOSTILE)
def test_no_text_of_the_user_becomes_source(text: str) -> None:
    """House rule 18: as a key, a string, a map key, a name to select and a pattern."""
    literal = json.dumps(text)
    cases: dict[str, dict[str, Any]] = {
        f"object[{literal}] == 1": {"object": {text: 1}},
        f"x == {literal}": {"x": text},
        f"{{{literal}: x}}[{literal}] == 1": {"x": 1},
        f"x in [{literal}, 'other', 'third']": {"x": text},
        f"[{literal}].exists(v, v == x)": {"x": text},
        f"x.replace({literal}, '') == ''": {"x": text},
        f"x.startsWith({literal}) && x.size() > 0": {"x": text},
    }
    for expression, activation in cases.items():
        one = program(expression)
        assert outcomes(one, activation) == ["types.Bool(True)"] * 2
        for source in (one.source, one.metered_source):
            assert len(text) < 3 or text not in source
            assert source.isascii()
            assert "\\" not in source
            written = re.sub(r"'@[0-9]+'|f'({[a-z0-9]+})+'", "", source)
            assert not {'"', "'", "#", "@"} & set(written)


@pytest.mark.parametrize("name", ["exact", "metered", "class", "None", "iterate", "c", "L", "t1"])
def test_names_of_variables_are_not_names_in_the_source(name: str) -> None:
    env = Environment({name: types.INT})
    text = f"{name} + [1, 2].map(i, i * {name})[0] == 4 && [{name}].all(v, v == {name})"
    one = env.program(env.compile(text).checked())
    assert outcomes(one, {name: 2}) == ["types.Bool(True)"] * 2


def test_every_name_is_minted_or_exported() -> None:
    text = "list.filter(v, v > 1).map(v, string(v) + 'a').exists(s, s.matches('^2')) ? x : {'a': 1}"
    one = program(text)
    names = set(re.findall(r"[A-Za-z_]\w*", one.source + one.metered_source))
    parts = {"plain", "metered", "exact", "a", "c", "L"}
    builtin = {"__class__", "append", "len", "Exception"}
    for name in names - parts - builtin - set(EXPORTS) - set(keyword.kwlist):
        assert re.fullmatch(r"[a-z]\d+", name), name


def test_the_same_text_gives_the_same_source() -> None:
    text = "object.a.b.c == object.a.b.d && list.all(v, v in [1, 2, x])"
    first, second = program(text), program(text)
    assert first.source == second.source
    assert first.metered_source == second.metered_source


@pytest.fixture
def eager_switching() -> Iterator[None]:
    """Threads take turns every ten microseconds."""
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    yield
    sys.setswitchinterval(interval)


def _repeat(
    one: Program, found: list[list[str]], good: dict[str, Any], bad: dict[str, Any]
) -> None:
    for _ in range(20):
        found.append(outcomes(one, good) + outcomes(one, bad))


@pytest.mark.usefixtures("eager_switching")
def test_one_program_in_many_threads() -> None:
    """Also while its metered variant is generated, by several of them at once."""
    text = "object.items.all(i, i.n < 100) && list.map(v, v * 2).exists(v, v == 4)"
    good = {"object": {"items": [{"n": n} for n in range(20)]}, "list": [1, 2, 3]}
    bad = {"object": {"items": [{}]}, "list": [1]}
    wanted = outcomes(program(text), good) + outcomes(program(text), bad)
    assert wanted == ["types.Bool(True)"] * 2 + ["types.Bool(False)"] * 2
    for _ in range(5):
        found: list[list[str]] = []
        threads = [
            threading.Thread(target=_repeat, args=work)
            for work in [(program(text), found, good, bad)] * 6
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert found == [wanted] * 120


#: Bytes that a program may keep; a policy of five expressions stays below 100 KiB.
KEPT = 20 * 1024


@pytest.mark.thorough
@pytest.mark.parametrize(
    "text",
    [
        "object.spec.replicas <= 5",
        "object.spec.containers.all(c, c.image.startsWith('registry.example.com/'))",
        "has(object.metadata.labels) && 'team' in object.metadata.labels",
        "object.spec.containers.all(c, has(c.resources.limits) && 'memory' in c.resources.limits)",
        "object.metadata.name.matches('^[a-z]([-a-z0-9]*[a-z0-9])?$')",
    ],
)
def test_memory_of_a_program(text: str) -> None:
    """Ready to run, both variants generated; the first program warms up what all share. Others may
    allocate meanwhile: the least of some measurements counts."""
    program(text).prepare()
    assert min(_kept_by(text, copies=10) for _ in range(5)) <= KEPT


def _kept_by(text: str, copies: int) -> float:
    gc.collect()
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        kept = [program(text).prepare() for _ in range(copies)]
        return (tracemalloc.get_traced_memory()[0] - before) / len(kept)
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize(
    ("text", "constant"),
    [("1 + 2", True), ("type(1) == int", True), ("[x]", False), ("[1].map(i, i)", False)],
)
def test_what_names_no_variable_is_constant(text: str, constant: bool) -> None:
    assert program(text).is_constant is constant


def test_activations_are_not_changed() -> None:
    activation = {"object": {"l": [3, 1, 2]}, "list": [2, 1], "x": {"a": 1}}
    before = json.dumps(activation)
    outcomes(program("object.l.sort() + list.map(v, v) == [1] && x.a == 1"), activation)
    assert json.dumps(activation) == before


class _Broken(dict[str, object]):
    """An activation that fails as none of ours does when it is asked for `x`."""

    def __init__(self, error: BaseException) -> None:
        super().__init__(object={"a": 1})
        self.error = error

    def __getitem__(self, key: str) -> object:
        if key == "x":
            raise self.error
        return super().__getitem__(key)


TWO_LINES = "object.a == 1\n  && x.all(i, i < 2)"


def test_tracebacks_name_the_program_and_show_the_cel() -> None:
    one = ENVIRONMENT.program(ENVIRONMENT.compile(TWO_LINES).checked(), "require-a validations[0]")
    with pytest.raises(KeyboardInterrupt) as caught:
        one.prepare().evaluate(_Broken(KeyboardInterrupt()))
    shown = "".join(traceback.format_exception(caught.value))
    where = r'File "<celadon require-a validations\[0\] #\d+>", line \d+, in plain\n'
    assert re.search(rf"{where} +x\d+ = a\['@\d+'\] +# x\n", shown)


def is_hot(program: Program) -> bool:
    """Return whether generated code evaluates it: a function of its own, no method of all."""
    return not inspect.ismethod(program.evaluate)


def test_what_runs_seldom_is_interpreted() -> None:
    one = program("x == 1")
    found = [(one.evaluate({"x": 1}), is_hot(one)) for _ in range(Program.MAX_COLD + 1)]
    assert found[0] == (True, False)
    assert found[-1] == (True, True)


def test_programs_do_not_become_hot_all_at_once() -> None:
    several = [program("x == 1") for _ in range(12)]
    hot = []
    for _ in range(Program.MAX_COLD + 1):
        hot.append(sum(is_hot(one) for one in several))
        for one in several:
            one.evaluate({"x": 1})
    assert max(after - before for before, after in pairwise(hot)) <= 2
    assert all(is_hot(one) for one in several)


def test_what_takes_long_is_not_interpreted() -> None:
    one = program("x.all(i, i < 1000)")
    assert one.evaluate({"x": [1, 2, 3]}) is True
    assert not is_hot(one)
    assert one.evaluate({"x": list(range(1000))}) is True
    assert is_hot(one)


def test_who_kept_the_first_evaluate_gets_the_same_answers() -> None:
    one = program("x == 1")
    kept = one.evaluate
    assert one.hot() is one.evaluate
    assert kept is not one.evaluate
    assert [kept({"x": 1}), kept({"x": 2})] == [True, False]


def test_a_failure_of_generated_code_names_its_place_in_the_source() -> None:
    one = ENVIRONMENT.program(ENVIRONMENT.compile(TWO_LINES).checked(), "require-a validations[0]")
    with pytest.raises(ZeroDivisionError) as caught:
        one.evaluate_metered(_Broken(ZeroDivisionError()))
    assert caught.value.__notes__ == [
        "ERROR: <input>:2:6: internal error in `require-a validations[0]`\n"
        " |   && x.all(i, i < 2)\n"
        " | .....^"
    ]


@pytest.mark.thorough
def test_texts_of_collected_programs_are_gone() -> None:
    one = ENVIRONMENT.program(ENVIRONMENT.compile("x == 1").checked(), "collected").prepare()
    files = [name for name in linecache.cache if name.startswith("<celadon collected #")]
    assert len(files) == 2
    assert linecache.getline(files[0], 1).startswith("def plain(a):")
    del one
    gc.collect()
    assert not any(linecache.getline(file, 1) for file in files)
    ENVIRONMENT.program(ENVIRONMENT.compile("x").checked()).prepare()
    assert not linecache.cache.keys() & set(files)


@pytest.mark.thorough
def test_programs_may_be_collected_while_debuggers_look_for_files() -> None:
    one = ENVIRONMENT.program(ENVIRONMENT.compile("x == 1").checked(), "looked for").prepare()
    looked = list(linecache.cache)  # as `linecache.checkcache` goes through all
    assert any(name.startswith("<celadon looked for #") for name in looked)
    del one
    gc.collect()
    assert all(linecache.cache[name] for name in looked)


@pytest.mark.parametrize("name", ["a\0b", "\ud800", "a\nb", "\u202e", "x" * 10_000, "{}%s<>"])
def test_any_name_will_do(name: str) -> None:
    one = ENVIRONMENT.program(ENVIRONMENT.compile("1 + x").checked(), name)
    assert one.evaluate({"x": 1}) == 2


#: A fragment of the generated line, and the CEL that is shown behind it.
LISTED = [
    ("x.a == 1", "return (", "x.a == 1"),
    ("x.a == 1", " = a['@", "x"),
    ("x.all(i, i < 2 && i != object)", "for v", "x.all(i, i < 2 && i != object)"),
    ("x.all(i, i < 2 && i != object)", "break", "i < 2 && i != object"),
    ("x.exists(i, i < 2)", "for v", "x.exists(i, i < 2)"),
    ("x.exists_one(i, i < 2)", "+= 1", "i < 2"),
    ("x.exists_one(i, i < 2)", "for v", "x.exists_one(i, i < 2)"),
    ("x.map(i, i < 2)", "append", "i < 2"),
    ("x.map(i, i > 1, i < 2)", "for v", "x.map(i, i > 1, i < 2)"),
    ("x.filter(i, i < 2)", "for v", "x.filter(i, i < 2)"),
    ("x.transformList(i, v, v)", "for v", "x.transformList(i, v, v)"),
    ("x.transformMap(i, v, v + 1)", "for v", "x.transformMap(i, v, v + 1)"),
    ("x.transformMapEntry(i, v, {v: i})", "for v", "x.transformMapEntry(i, v, {v: i})"),
    ("x.a == 'a\\n\\u202e'", "return (", 'x.a == "a\\n\\u202e"'),
]


@pytest.mark.parametrize(("text", "part", "cel"), LISTED)
@pytest.mark.parametrize("tracked", [True, False])
def test_every_line_of_a_listing_shows_its_cel(
    text: str, part: str, cel: str, *, tracked: bool
) -> None:
    """Also where the calls of macros were not kept."""
    environment = Environment(
        {"object": types.DYN, "x": types.DYN},
        libraries=(comprehensions.LIBRARY,),
        switches=Switches(track_macros=tracked),
    )
    shown = environment.program(environment.compile(text).checked()).listing().splitlines()
    lines = [line for line in shown if not line.startswith("#")]
    assert all("  # " in line for line in lines)
    assert [line.split("  # ")[1] for line in lines if part in line] == [cel]


LEGENDS = [
    ("x == 'some text'", '"some text"'),
    ("x == 'a\u202e'", r'"a\u202e"'),
    (f"x == '{'y' * 70}'", f'"{"y" * 70}"'),
    (f"x == '{'y' * 71}'", f'"{"y" * 68}...'),
    ("x in ['b', 'a']", 'the set of "a", "b"'),
    ("x.matches('^[a-z]')", 'searches for "^[a-z]"'),
    ("x - object", "`_-_`"),
    ("optional.of(x)", "`optional.of`, overload optional_of"),
    ("google.protobuf.Empty{}", "makes a `google.protobuf.Empty`"),
    ("duration('1s') == x", 'duration("1s")'),
    ("x == [1, {'a': 2.5}]", '[1, {"a": 2.5}]'),
    ("x == 1", "the variables, by name"),
    ("x == 1", "the metered variant, which decides where this one gives up"),
    ("x == 1", "# from celadon.cel.runtime: Exception, bool"),
    ("x == 'a'", "# from celadon.cel.runtime: Exception"),
]


@pytest.mark.parametrize(("text", "meaning"), LEGENDS)
def test_legends_explain_the_names(text: str, meaning: str) -> None:
    shown = [one for one in program(text).listing().splitlines() if one.startswith("# ")]
    assert meaning in {one.partition(" = ")[2] or one for one in shown}


def hand_built_sum() -> Program:
    """A fold that no macro gives: `x` summed up, until the sum is 10 or more."""
    ast, _ = ENVIRONMENT.parse("[x, 0, @result < 10, @result + i]".replace("@result", "sum"))
    assert ast is not None
    assert isinstance(ast.root, ListLiteral)
    items, start, condition, step = ast.root.elements
    root = Comprehension(
        ast.root.id, items, "i", "", "sum", start, condition, step, Ident(99, "sum")
    )
    return ENVIRONMENT.program(ENVIRONMENT.check(replace(ast, root=root)).checked())


@pytest.mark.parametrize(("items", "expected"), [([], 0), ([1, 2], 3), ([9, 9, 9], 18)])
def test_a_fold_runs_literally(items: list[int], expected: int) -> None:
    assert outcomes(hand_built_sum(), {"x": items}) == [f"types.Int({expected})"] * 2


def test_where_there_is_no_plain_variant_the_listing_is_of_the_metered() -> None:
    one = hand_built_sum()
    assert one.source == ""
    shown = one.listing()
    assert "# c = the cost so far" in shown
    assert re.search(r"\n +for v\d+ in t\d+: +# \.\.\.\n", shown)
    assert re.search(r"\n +t\d+ = t\d+ +# sum \+ i\n", shown)


def test_what_went_over_its_limit_is_not_repeated_without_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    program = Environment().program(Environment().compile("[1, 2].all(a, a > 0)").checked())

    def repeated(*_: object) -> None:
        raise AssertionError

    monkeypatch.setattr("celadon.cel.partial_evaluation.origin", repeated)
    with pytest.raises(CostLimitExceeded) as caught:
        program.evaluate_metered({}, 1)
    assert "actual cost limit exceeded" in program.locate({}, caught.value).display()
