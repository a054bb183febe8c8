"""What Kubernetes charges: its own functions, and those of others that it charges by name."""

from __future__ import annotations

import pytest

from celadon.cel.cost import MAX_UINT64, UNKNOWN, Range, Sized
from celadon.cel.syntax import Expr, Ident, Literal
from celadon.cel.types import INT, STRING, list_of
from celadon.kube.authorization import Attributes, Ruling, User
from celadon.kube.library.authz import Authorizer
from celadon.kube.library.costs import COSTS, WALK, walk_cost
from tests.kube.library.evaluation import cost, estimate

#: A tenth of 2**64 - 1, as cel-go's doubles have it.
TENTH = 1844674407370955264

TWENTY_ONE = "'ABCDEFGHIJ abcdefghij'"


class _Deny:
    def authorize(self, attributes: Attributes) -> tuple[Ruling, str, str | None]:
        return Ruling.DENY, "", None


AUTHORIZER = Authorizer(User("jane"), _Deny())
OBJECT = {
    "ip": "10.2.3.4",
    "cidr": "10.0.0.0/9",
    "s": "hello world",
    "list": [3, 1, 2],
    "strs": ["b", "a"],
}


@pytest.mark.parametrize(
    ("expression", "estimated", "charged"),
    [
        ("[1, 2, 3, 4, 5].sum()", (15, 15), 15),
        ("['b', 'a', 'b'].isSorted()", (13, 13 + 3 * TENTH), 10),
        ("'01234567890123456789012345678901234567890123456789'.indexOf('123')", (5, 5), 5),
        ("url('https:://kubernetes.io/').getHost()", (4, 4), 4),
        ("url('https:://kubernetes.io/') == url('https:://kubernetes.io/')", (7, 9), 7),
        ("isURL('https://kubernetes.io/something/long')", (1, 1), 1),
        ("ip('192.168.0.1')", (2, 2), 2),
        ("ip('192.168.0.1').family()", (3, 3), 3),
        ("ip('192.168.0.1') == ip('192.168.0.1')", (5, 5), 5),
        ("ip('192.168.0.1') != ip('192.168.0.1')", (5, TENTH + 4), 5),
        ("ip('2001:db8:3333:4444:5555:6666:7777:8888')", (4, 4), 4),
        ("ip.isCanonical('2001:db8::abcd')", (3, 3), 3),
        ("cidr('192.168.0.0/16').ip()", (3, 3), 3),
        ("cidr('192.168.0.0/16').containsCIDR(cidr('192.0.0.0/30'))", (7, 11), 7),
        ("cidr('192.168.0.0/16').containsCIDR('192.0.0.0/30')", (7, 11), 7),
        ("cidr('192.168.0.0/16').containsIP('192.169.0.1')", (5, 8), 5),
        (
            "cidr('2001:db8::/32').containsIP('2001:db8:3333:4444:5555:6666:7777:8888')",
            (7, 10),
            7,
        ),
        ("cidr('::/0').containsIP('::1')", (3, 6), 2),
        (f"{TWENTY_ONE}.lowerAscii()", (3, 3), 3),
        (f"{TWENTY_ONE}.lowerAscii() == {TWENTY_ONE}.lowerAscii()", (7, 9), 9),
        (f"strings.quote({TWENTY_ONE}) == strings.quote({TWENTY_ONE})", (7, 11), 9),
        ("'abc 123 def 123'.replace('123', '456')", (3, 3), 3),
        ("'abc 123 def 123'.replace('', 'ab') == ''", (3, 3), 3),
        ("'abc 123 def 123'.split(' ')", (3, 3), 3),
        ("'abc 123 def 123'.substring(5)", (2, 2), 2),
        ("['aa', 'bb', 'c'].join(' ')", (11, TENTH + 10), 12),
        ("'abc 123 def 123'.find('123')", (2, 2), 2),
        ("quantity('50k').add(quantity('20')) == quantity('50.02k')", (5, 5), 5),
        ("format.named('dns1123Label').value().validate('my-name')", (34, 34), 10),
        ("format.named('dns1123Subdomain').value().validate('my-name')", (34, 34), 17),
        ("format.uri() == format.uri()", (3, 9), 3),
        ("semver('1234.56789012345.67890123456789')", (4, 4), 4),
        ("semver('1.0.0').isLessThan(semver('1.1.0'))", (3, 3), 3),
        ("jsonpatch.escapeKey('k8s.io/my~label')", (2, 2), 2),
        ("'a' == 'b'", (1, 1), 1),
        ("dyn('a') == 1", (2, 2), 2),
        ("['aa'].join()", (10, TENTH + 10), 11),
        ("dyn(['aa']).join(',')", (11, 11), 12),
    ],
)
def test_literals(expression: str, estimated: tuple[int, int], charged: int) -> None:
    assert estimate(expression) == estimated
    assert cost(expression, fold=False) == charged


@pytest.mark.parametrize(
    ("expression", "estimated", "charged"),
    [
        ("path('/healthz').check('get').allowed()", 350_003, 350_003),
        (
            "group('apps').resource('deployments').subresource('status').namespace('test')"
            ".name('backend').check('create').allowed()",
            350_007,
            350_007,
        ),
        (
            "group('').resource('pods').fieldSelector("
            "'spec.nodeName=example-node-name.fully.qualified.domain.name.example.com')",
            1821,
            1821,
        ),
    ],
)
def test_authorizer(expression: str, estimated: int, charged: int) -> None:
    source = f"authorizer.{expression}"
    assert estimate(source) == (estimated, estimated)
    assert cost(source, authorizer=AUTHORIZER) == charged


@pytest.mark.parametrize(
    ("expression", "charged"),
    [
        ("object.list.sum()", 5),
        ("object.strs.isSorted()", 2),
        ("object.s.find('w[a-z]+')", 6),
        ("object.s.split(' ')", 5),
        ("object.s.substring(1)", 4),
        ("object.s.indexOf('w')", 3),
        ("object.strs.join(object.s)", 7),
        # which overload runs is unknown, so nothing is charged for reading the text
        ("cidr('10.0.0.0/8').containsIP(object.ip)", 4),
        ("cidr('10.0.0.0/8').containsIP('10.2.3.4')", 3),
        ("cidr('10.0.0.0/8').containsCIDR(object.cidr)", 6),
        ("object.s == quantity('1')", 4),
        ("quantity('1') == object.s", 4),
        ("quantity('x') == object.s", 4),
        ("quantity('x').compareTo(quantity('y'))", 3),
        ("cidr('x') == cidr('0.0.0.0/0')", 2),
        ("format.named(object.s).value().validate('a')", 5),
    ],
)
def test_data(expression: str, charged: int) -> None:
    assert cost(expression, object=OBJECT) == charged


@pytest.mark.parametrize(
    ("value", "charged"),
    [
        ("", 0),
        ("123456789", 0),
        ("1234567890", 1),
        ("é" * 5, 1),
        (b"1234567890", 1),
        ([], 0),
        ([1, None, 2.5, "short"], 3),
        ([[1, [2]], {"long enough text": 3}], 4),
    ],
)
def test_walk(value: object, charged: int) -> None:
    assert walk_cost(value) == charged


def test_walk_is_not_recursive() -> None:
    deep: list[object] = []
    for _ in range(100_000):
        deep = [deep]
    assert walk_cost(deep) == 0


TEXT = Range(3, 3)


@pytest.mark.parametrize(
    ("old", "new", "size"),
    [
        (Range(1, 1), Range(3, 3), Range(3, 9)),
        (Range(1, 1), Range(1, 1), TEXT),
        (Range(2, 2), Range(1, 1), Range(2, 3)),
        (Range(0, 0), Range(2, 2), Range(11, 11)),
        (UNKNOWN, Range(2, 2), Range(2, 11)),
        (Range(1, 1), UNKNOWN, Range(0, MAX_UINT64)),
    ],
)
def test_estimated_size_of_a_replacement(old: Range, new: Range, size: Range) -> None:
    assert COSTS["replace"].estimated([_sized(TEXT), _sized(old), _sized(new)]).size == size


def test_replacing_in_a_text_of_any_size_saturates() -> None:
    args = [_sized(UNKNOWN), _sized(Range(1, 1)), _sized(Range(2, 2))]
    assert COSTS["replace"].estimated(args).size == Range(0, MAX_UINT64)


@pytest.mark.parametrize(
    ("limit", "most"),
    [((), 9), ((Literal(2, 2),), 2), ((Literal(2, -1),), MAX_UINT64), ((Ident(2, "n"),), 9)],
)
def test_estimated_size_of_a_split(limit: tuple[Expr, ...], most: int) -> None:
    text = [_sized(Range(9, 9)), _sized(Range(1, 1))]
    args = text + [Sized(node, INT, Range(1, 1)) for node in limit]
    assert COSTS["split"].estimated(args).size == Range(0, most)


def test_element_sizes_come_from_schemas_only() -> None:
    node = Literal(1, "")
    schema = Sized(node, list_of(STRING), Range(2, 2), Range(0, 12))
    literal = Sized(node, list_of(STRING), Range(2, 2))
    assert WALK.estimated([schema]).cost == Range(2, 6)
    assert WALK.estimated([literal]).cost == Range(2, 2 + 2 * TENTH)
    assert COSTS["join"].estimated([schema, _sized(Range(1, 1))]).size == Range(1, 25)


def _sized(size: Range) -> Sized:
    return Sized(Literal(9, ""), STRING, size)
