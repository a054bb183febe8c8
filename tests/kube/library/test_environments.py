"""What each release has: which functions compile, and which switches are set."""

from __future__ import annotations

import pytest

from celadon.cel import EvaluationError, types
from celadon.kube.library.environments import BLOCKS, environment
from celadon.kube.releases import (
    DEFAULT,
    LATEST,
    VersionError,
    answering_as,
    parse_version,
    previous_minor,
)


def compiles(expression: str, version: str, *, has_patch_types: bool = False) -> bool:
    base = environment(version, has_patch_types=has_patch_types)
    env = base.extend({"object": types.DYN, "r": types.object_type("x")})
    return env.compile(expression).ast is not None


@pytest.mark.parametrize(
    ("expression", "since"),
    [
        ("url('/a').getHost() == ''", "1.29"),
        ("quantity('1').isInteger()", "1.29"),
        ("1 < 2.5", "1.29"),
        ("object.?a.orValue(1)", "1.29"),
        ("'%d'.format([1]) == '1'", "1.29"),
        ("sets.contains([1], [1])", "1.29"),
        ("ip('1.2.3.4') == ip('1.2.3.4')", "1.30"),
        ("cidr('1.2.3.4/8').prefixLength()", "1.30"),
        ("format.uuid()", "1.31"),
        ("[1].all(i, v, true)", "1.32"),
        ("semver('1.0', true)", "1.33"),
        ("[1].sort()", "1.34"),
        ("[1].sortBy(x, -x)", "1.34"),
    ],
)
def test_since(expression: str, since: str) -> None:
    assert compiles(expression, since)
    assert compiles(expression, LATEST)
    before = previous_minor(since)
    if parse_version(before) >= parse_version("1.29"):
        assert not compiles(expression, before)


@pytest.mark.parametrize(
    "expression",
    ["cel.bind(x, 1, x)", "math.abs(1)", "base64.encode(b'a')", "'a'.reverse()", "object.`a-b`"],
)
def test_never(expression: str) -> None:
    assert not compiles(expression, DEFAULT)


def test_patch_types_are_for_mutating_policies() -> None:
    assert not compiles("jsonpatch.escapeKey('a')", DEFAULT)
    assert compiles("jsonpatch.escapeKey('a')", DEFAULT, has_patch_types=True)


def test_literals_are_homogeneous() -> None:
    issues = environment().compile("[1, 'a']").issues
    assert issues.display().startswith("ERROR: <input>:1:5: expected type 'int' but found 'string'")


def test_presence_is_free() -> None:
    env = environment().extend({"object": types.DYN})
    program = env.program(env.compile("has(object.a)").checked())
    assert program.evaluate_metered({"object": {"a": 1}}) == (True, 1)


@pytest.mark.parametrize(
    ("expression", "before", "since"),
    [
        ("map || true", "type(map(A, B))", "type(map(dyn, dyn))"),
        ("list || true", "type(list(A))", "type(list(dyn))"),
        ("[true].all(google, google.protobuf.Duration)", "type(duration)", None),
        ("[1].all(object, .object)", "int", None),
    ],
)
def test_names_are_those_of_the_release(expression: str, before: str, since: str | None) -> None:
    for version, found in (("1.35", before), (DEFAULT, before), ("1.37", since)):
        compilation = environment(version).extend({"object": types.DYN}).compile(expression)
        text = compilation.issues.display().splitlines()[0] if compilation.ast is None else ""
        expected = f"expected type 'bool' but found '{found}'" if found else None
        assert expected is None or text.endswith(expected), version


def test_environments_are_shared() -> None:
    assert environment("1.36") is environment("1.36")


@pytest.mark.parametrize("text", ["", "1", "1.36.2", "v1.36", "1.x", "99999.1", "1.38"])
def test_no_version(text: str) -> None:
    with pytest.raises(VersionError):
        parse_version(text)


OF_SERVERS = (
    # a server, the release that an expression is written for, and whether it compiles
    ("ip('1.2.3.4').family() == 4", ("1.30", "1.29", True), ("1.31", "1.29", False)),
    ("cidr('10.0.0.0/8').masked()", ("1.30", "1.29", True), ("1.31", "1.30", True)),
    ("format.uuid()", ("1.30", "1.30", True), ("1.30", "1.29", False), ("1.31", "1.30", True)),
    ("format.uuid()", ("1.32", "1.30", False), ("1.32", "1.31", True)),
    ("[1].first().hasValue()", ("1.32", "1.32", False), ("1.33", "1.32", True)),
    ("optional.of(1).optFlatMap(x, optional.of(x))", ("1.30", "1.29", True)),
    ("'%d'.format(['x']) == ''", ("1.30", "1.29", True), ("1.31", "1.30", False)),
    ("'%s %s'.format(['x', 1]) == ''", ("1.30", "1.29", True), ("1.31", "1.30", True)),
)


@pytest.mark.parametrize(
    ("expression", "server", "version", "expected"),
    [(expression, *case) for expression, *cases in OF_SERVERS for case in cases],
)
def test_servers_differ(expression: str, server: str, version: str, expected: bool) -> None:
    with answering_as(server):
        assert compiles(expression, version) == expected


def in_server(server: str, expression: str, *, has_versions: bool = False) -> object:
    with answering_as(server):
        env = environment(server, has_versions=has_versions)
    program = env.program(env.compile(expression).checked())
    try:
        return program.evaluate({})
    except EvaluationError as error:
        return error.message


@pytest.mark.parametrize(
    ("expression", "since", "before", "now"),
    [
        ("'abc'.indexOf('c', 7)", "1.32", "index out of range: 7", -1),
        ("'abc'.lastIndexOf('c', 7)", "1.32", "index out of range: 7", -1),
        ("cidr('10.0.0.0/8').containsCIDR('10.1.0.0/16')", "1.31", False, True),
        ("cidr('10.0.0.0/8').containsCIDR(cidr('10.0.0.0/16'))", "1.31", True, True),
        ("cidr('10.0.0.0/16').containsCIDR(cidr('10.0.0.0/8'))", "1.31", False, False),
    ],
)
def test_functions_changed(expression: str, since: str, before: object, now: object) -> None:
    assert in_server(previous_minor(since), expression) == before
    assert in_server(since, expression) == now


def test_versions_of_devices_were_strict() -> None:
    cases = (("1.32", "1.32", 1), ("1.33", "1.32", 1), ("1.33", "1.33", 2), ("1.34", "1.32", 0))
    for server, version, known in cases:
        with answering_as(server):
            env = environment(version, has_versions=True)
        texts = ("semver('1.0.0').major() == 1", "semver('v1', true).major() == 1")
        assert sum(env.compile(text).ast is not None for text in texts) == known


@pytest.mark.parametrize(
    ("expression", "before", "now"),
    [
        (
            "`a`",
            "Syntax error: token recognition error at: '`'",
            "Syntax error: mismatched input '`a`' expecting",
        ),
        (
            "A{",
            "expecting {'}', ',', '?', IDENTIFIER}",
            "expecting {'}', ',', '?', IDENTIFIER, ESC",
        ),
    ],
)
def test_backticks(expression: str, before: str, now: str) -> None:
    for server, expected in (("1.32", before), ("1.33", now)):
        with answering_as(server):
            assert expected in environment("1.31").compile(expression).issues.display()


def test_equality_was_costly() -> None:
    for server, most in (("1.31", 1844674407370955266), ("1.32", 3)):
        with answering_as(server):
            env = environment(server)
        compiled = env.compile("quantity('1') == quantity('2')").checked()
        assert env.estimate(compiled).max == most


def test_the_table_is_in_order() -> None:
    """Of what a server has; others are sorted by the release that they are for in its time."""
    for server in range(30, 38):
        blocks = [one for one in BLOCKS if one.is_in((1, server), (1, server))]
        assert len({id(library) for block in blocks for library in block.libraries}) == sum(
            len(block.libraries) for block in blocks
        )


def test_previous_minor() -> None:
    assert previous_minor("1.36") == "1.35"
    assert previous_minor("1.0") == "1.0"


TWICE = "incompatible type already exists for expression: "
TARGETS = [
    ("optional.of(1).optMap(x, x == 1).orValue(false)", []),
    ("object.?a.optMap(x, x == 1).orValue(false)", []),
    (
        "optional.of([]).optMap(x, x).hasValue()",
        ["&{3 0xc000000000}(3) old:list(_var0), new:list(_var4)"],
    ),
    (
        "object.?a[?'b'].optMap(x, x).orValue(false)",
        ["&{4 0xc000000000}(4) old:optional_type(_var4), new:optional_type(_var12)"],
    ),
    (
        "optional.of([].map(x,x)).optFlatMap(x, optional.of(x)).hasValue()",
        [
            "&{3 0xc000000000}(3) old:list(_var0), new:list(_var6)",
            "&{7 0xc000000000}(7) old:list(_var1), new:list(_var7)",
        ],
    ),
    (
        "optional.of(1).optMap(x, x == 1).optMap(x, x).orValue(false)",
        [
            "&{10 0xc000000000}(10) old:list(_var2), new:list(_var13)",
            "&{16 0xc000000000}(16) old:optional_type(_var7), new:optional_type(_var18)",
        ],
    ),
]


@pytest.mark.parametrize(("text", "complaints"), TARGETS, ids=[text for text, _ in TARGETS])
def test_a_target_that_is_looked_at_twice_is_of_one_type(text: str, complaints: list[str]) -> None:
    """As kube-apiserver 1.31 and 1.36 answer."""
    with answering_as("1.31"):
        found = environment("1.31").extend({"object": types.DYN}).compile(text).issues
    assert [issue.message for issue in found] == [TWICE + complaint for complaint in complaints]
    with answering_as("1.32"):
        assert compiles(text, "1.32")


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("optional.of([]).optMap(x, x)", "id:3 list_expr:{}(3) old:list(_var0), new:list(_var4)"),
        (
            "object.?a[?'b'].optMap(x, x)",
            'id:4 call_expr:{function:"_[?_]" args:{id:3 call_expr:{function:"_?._" args:{id:1 '
            'ident_expr:{name:"object"}} args:{id:2 const_expr:{string_value:"a"}}}} args:{id:5 '
            'const_expr:{string_value:"b"}}}(4) old:optional(_var4), new:optional(_var12)',
        ),
    ],
)
def test_how_the_oldest_releases_print_it(text: str, shown: str) -> None:
    """As kube-apiserver 1.30 answers."""
    with answering_as("1.30"):
        found = environment("1.30").extend({"object": types.DYN}).compile(text).issues
    assert f"{TWICE}{shown}\n" in found.display()
