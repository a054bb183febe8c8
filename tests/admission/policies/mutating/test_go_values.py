"""Values that JSON does not have, as Go prints them."""

from __future__ import annotations

import pytest

from celadon.admission.policies.patchers import NULL, foreign
from tests.kube.library.evaluation import evaluate

ADDRESS = (
    "netip.Addr{addr:netip.uint128{hi:0x0, lo:%s}, "
    "z:unique.Handle[net/netip.addrDetail]{value:(*netip.addrDetail)(0xc000000000)}}"
)
PREFIX = f"netip.Prefix{{ip:{ADDRESS % '0xffff0a000000'}, bitsPlusOne:0x9}}"
VERSION = (
    "semver.Version{Major:0x1, Minor:0x2, Patch:0x3, Pre:[]semver.PRVersion%s, Build:[]string%s}"
)
FORMAT = (
    'cel.Format{Name:"uuid", ValidateFunc:(func(string) []string)(0xc000000000), MaxRegexSize:70}'
)
INNER_LIST = "(*types.baseList)(0xc000000000)"
LIST, MAP = "[]ref.Val", "map[ref.Val]ref.Val"


@pytest.mark.parametrize(
    ("expression", "go_type", "plain", "written"),
    [
        ("255u", "uint64", "255", "0xff"),
        ("b'\\x01\\xff'", "[]uint8", "[1 255]", "[]uint8{0x1, 0xff}"),
        ("duration('1h0.5s')", "time.Duration", "1h0m0.5s", "3600500000000"),
        (
            "timestamp('2024-02-29T12:30:01.000000005Z')",
            "time.Time",
            "2024-02-29 12:30:01.000000005 +0000 UTC",
            "time.Date(2024, time.February, 29, 12, 30, 1, 5, time.UTC)",
        ),
        ("ip('1.2.3.4')", "netip.Addr", "1.2.3.4", ADDRESS % "0xffff01020304"),
        ("ip('::1')", "netip.Addr", "::1", ADDRESS % "0x1"),
        ("cidr('10.0.0.0/8')", "netip.Prefix", "10.0.0.0/8", PREFIX),
        ("quantity('1Ki')", "*resource.Quantity", "1Ki", "(*resource.Quantity)(0xc000000000)"),
        ("url('http://a/b')", "*url.URL", "http://a/b", "(*url.URL)(0xc000000000)"),
        ("semver('1.2.3')", "semver.Version", "1.2.3", VERSION % ("(nil)", "(nil)")),
        (
            "semver('1.2.3-4.a+b')",
            "semver.Version",
            "1.2.3-4.a+b",
            VERSION
            % (
                '{semver.PRVersion{VersionStr:"", VersionNum:0x4, IsNum:true}, '
                'semver.PRVersion{VersionStr:"a", VersionNum:0x0, IsNum:false}}',
                '{"b"}',
            ),
        ),
        ("format.uuid()", "*apiservercel.Format", "{uuid 0x0 70}", FORMAT),
        ("[]", LIST, "[]", f"{LIST}{{}}"),
        ("[[1, 2], [3]]", LIST, "[[1, 2] [3]]", f"{LIST}{{{INNER_LIST}, {INNER_LIST}}}"),
        ("['a', 'b']", LIST, "[a b]", f'{LIST}{{"a", "b"}}'),
        ("[dyn(1.5), dyn(1u)]", LIST, "[1.5 1]", f"{LIST}{{1.5, 0x1}}"),
        ("[dyn(null), dyn(b'a')]", LIST, "[0 [97]]", f"{LIST}{{0, types.Bytes{{0x61}}}}"),
        (
            "[dyn(duration('1h')), dyn(timestamp(0))]",
            LIST,
            "[1h0m0s 1970-01-01 00:00:00 +0000 UTC]",
            f"{LIST}{{types.Duration{{Duration:3600000000000}}, "
            "time.Date(1970, time.January, 1, 0, 0, 0, 0, time.UTC)}",
        ),
        (
            "[dyn(quantity('1Ki')), dyn(url('http://a/b'))]",
            LIST,
            "[1Ki http://a/b]",
            f"{LIST}{{cel.Quantity{{Quantity:(*resource.Quantity)(0xc000000000)}}, "
            "cel.URL{URL:(*url.URL)(0xc000000000)}}",
        ),
        (
            "[dyn(ip('::1')), dyn(cidr('10.0.0.0/8'))]",
            LIST,
            "[::1 10.0.0.0/8]",
            f"{LIST}{{cel.IP{{Addr:{ADDRESS % '0x1'}}}, cel.CIDR{{Prefix:{PREFIX}}}}}",
        ),
        (
            "[dyn(int), dyn(optional.of(1))]",
            LIST,
            "[int optional(1)]",
            f"{LIST}{{(*types.Type)(0xc000000000), (*types.Optional)(0xc000000000)}}",
        ),
        ("{}", MAP, "map[]", f"{MAP}{{}}"),
        ("{'b': 1, 'a': 2}", MAP, "map[a:2 b:1]", f'{MAP}{{"b":1, "a":2}}'),
        (
            "{1: {'b': dyn([dyn({'c': 'x'}), dyn(null)]), 'a': dyn('y')}}",
            MAP,
            "map[1:{b: [{c: x}, 0], a: y}]",
            f"{MAP}{{1:(*types.baseMap)(0xc000000000)}}",
        ),
    ],
)
def test_printed(expression: str, go_type: str, plain: str, written: str) -> None:
    found = foreign(evaluate(expression))
    assert (found.go_type, str(found), found.text) == (go_type, plain, written)


@pytest.mark.parametrize("expression", ["255u", "b'abc'"])
def test_numbers_and_bytes_are_kept(expression: str) -> None:
    value = evaluate(expression)
    assert foreign(value).value is value


def test_null() -> None:
    assert foreign(None) is NULL
    assert (NULL.go_type, NULL.plain, NULL.text) == ("structpb.NullValue", "NULL_VALUE", "0")
