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
LIST, MAP = "[]ref.Val", "map[ref.Val]ref.Val"


@pytest.mark.parametrize(
    ("expression", "go_type", "plain", "written"),
    [
        ("255u", "uint64", "255", "0xff"),
        ("b'\\x01\\xff'", "[]uint8", "[1 255]", "[]byte{0x1, 0xff}"),
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
        ("semver('1.2.3')", "cel.Semver", "1.2.3", "(cel.Semver)(0xc000000000)"),
        ("[]", LIST, "[]", f"{LIST}{{}}"),
        ("[[1, 2], [3]]", LIST, "[[1 2] [3]]", f"{LIST}{{[1 2], [3]}}"),
        ("['a', 'b']", LIST, "[a b]", f'{LIST}{{"a", "b"}}'),
        ("{}", MAP, "map[]", f"{MAP}{{}}"),
        ("{'b': 1, 'a': 2}", MAP, "map[a:2 b:1]", f'{MAP}{{"b":1, "a":2}}'),
        ("{1: {'b': 'x', 'a': 'y'}}", MAP, "map[1:map[a:y b:x]]", f"{MAP}{{1:map[a:y b:x]}}"),
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
