"""Random expressions as policies, and what a denial says of each: its value or its error.

Each expression is a policy for objects of its own name, so that hundreds are in effect at once. Half
of them call a function of a library with texts and numbers at the edge of what it takes.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from random import Random
from typing import Any, Final

from celadon.cel import types
from celadon.kube.library.environments import environment
from tests.fuzz.policy_decisions import common
from tests.fuzz.policy_writes import GROUP
from tests.fuzz.servers import Server
from tests.fuzz.typed_expressions import Expressions, objects
from tests.fuzz.writes import Difference, plain

_TOGETHER: Final = 150
_WRITTEN_FOR: Final = "1.35"
"""The release whose functions new expressions may use."""
THINGS: Final = "/apis/fuzz.dev/v1/namespaces/default/limits"

TEXTS: Final = (
    *("''", "'a'", "'abc'", "'é🐱z'", "'a,b,,c'", "' a\\t'", "'A1_'", "'%'", "'\\u0000'", "'aaa'", "'\\n'"),
    *("'1.2.3'", "'1.2'", "'v1.2.3'", "'1.2.3-rc.1+b'", "'01.2.3'", "'1.2.3-01'", "'1'", "'99999999999.1.1'"),
    *("'1Gi'", "'0.5'", "'-1k'", "'1e3'", "'1.0000000001'", "'100m'", "'1E'", "'9223372036854775808'", "'1 Gi'", "'+1'"),
    *("'10.0.0.1'", "'::1'", "'::ffff:1.2.3.4'", "'fe80::1%eth0'", "'10.0.0.0/8'", "'10.0.0.1/8'", "'::/0'", "'1.2.3'"),
    *("'2001:DB8::1'", "'0.0.0.0/0'", "'10.0.0.1/33'", "'255.255.255.255'", "'224.0.0.1'", "'2001:db8:0:0::/64'"),
    *("'https://u:p@h:80/p/a?q=1&q=2&r#f'", "'/x y'", "'http://[::1]:8'", "'mailto:a@b'", "'//h/p'", "'http://a b'"),
    *("'(a)(b)?'", "'a+'", "'[a-c]'", "'('", "'(?i)A'", "'^$'", "'\\\\\\\\d+'", "'(?P<n>a)'", "'a{2}'", "'.*'"),
    *("'YWJj'", "'YW=='", "'YQ'", "'!!'", "'2024-02-29T01:02:03Z'", "'2024-02-30T01:02:03Z'", "'1h30m'", "'-1.5s'"),
    *("'dns1123Label'", "'uuid'", "'date'", "'x-y'", "'X.y'", "'1h1h'", "'1ns'", "'1.5'", "'true'", "'T'", "'0x1F'"),
    *("'9999-12-31T23:59:59Z'", "'0001-01-01T00:00:00Z'", "'Europe/Berlin'", "'+02:00'", "'Nowhere/X'", "'UTC'"),
)
NUMBERS: Final = (
    *("0", "1", "-1", "2", "7", "63", "64", "100", "9223372036854775807", "-9223372036854775808", "int(3u)"),
)
DOUBLES: Final = (
    *("0.0", "-0.0", "1.5", "-1.5", "2.5", "1e300", "1e-7", "123456789.125", "double('NaN')", "double('Infinity')"),
    *("0.1", "1.0", "9007199254740993.0", "1e21", "-double('Infinity')"),
)
ANY: Final = (
    *(*TEXTS[:8], *NUMBERS, *DOUBLES, "1u", "18446744073709551615u", "true", "null", "b'a\\xff'", "[]", "[1, 2]"),
    *("['a', 1.5, null]", "{}", "{'b': 1, 'a': [2]}", "{1: 'x', 2: true}", "timestamp('2024-02-29T01:02:03.000000004Z')"),
    *("duration('1h0m0.5s')", "type(1)", "optional.of(1)", "optional.none()", "object.s", "object.m", "[dyn(1), 'b']"),
    *("quantity('1k')", "ip('::1')", "cidr('::/0')", "semver('1.2.3')", "url('http://a')", "[[1], []]", "{'x': {'y': 1u}}"),
)
VERBS: Final = (
    *("%s", "%d", "%f", "%e", "%x", "%X", "%o", "%b", "%.3f", "%.0e", "%.2s", "%%", "%", "%z", "%5d", "%-s", "%.f", "%.100f"),
)
CALLS: Final = (
    *("T.charAt(I)", "T.indexOf(T)", "T.indexOf(T, I)", "T.lastIndexOf(T)", "T.lastIndexOf(T, I)", "T.substring(I)"),
    *("T.substring(I, I)", "T.replace(T, T)", "T.replace(T, T, I)", "T.split(T)", "T.split(T, I)", "T.trim()", "T.lowerAscii()"),
    *("T.upperAscii()", "T.reverse()", "strings.quote(T)", "[T, T].join(T)", "T.matches(T)", "T.find(T)", "T.findAll(T)", "T.findAll(T, I)"),
    *("'F'.format([A])", "'F F'.format([A, A])", "'F'.format([])", "'aFb'.format([A, A])", "quantity(T)", "isQuantity(T)"),
    *("quantity(T).asInteger()", "quantity(T).asApproximateFloat()", "quantity(T).sign()", "quantity(T).isInteger()"),
    *("quantity(T).add(quantity(T)).asApproximateFloat()", "quantity(T).sub(I).isInteger()", "quantity(T).compareTo(quantity(T))"),
    *("quantity(T).isGreaterThan(quantity(T))", "semver(T)", "semver(T, true)", "isSemver(T)", "isSemver(T, true)", "semver(T).major()"),
    *("semver(T, true).patch()", "semver(T).compareTo(semver(T))", "semver(T).isLessThan(semver(T, true))", "ip(T)", "isIP(T)", "isCIDR(T)"),
    *("string(ip(T))", "ip(T).family()", "ip(T).isLoopback()", "ip(T).isUnspecified()", "ip(T).isGlobalUnicast()", "ip.isCanonical(T)"),
    *("ip(T).isLinkLocalMulticast()", "cidr(T).containsIP(T)", "cidr(T).containsIP(ip(T))", "cidr(T).containsCIDR(T)", "cidr(T).ip()"),
    *("string(cidr(T).masked())", "cidr(T).prefixLength()", "url(T)", "isURL(T)", "url(T).getHost()", "url(T).getHostname()", "url(T).getPort()"),
    *("url(T).getEscapedPath()", "url(T).getQuery()", "url(T).getScheme()", "format.named(T)", "format.named(T).value().validate(T)"),
    *("format.dns1123Label().validate(T)", "format.dns1123Subdomain().validate(T)", "format.uuid().validate(T)", "format.date().validate(T)"),
    *("format.datetime().validate(T)", "format.byte().validate(T)", "format.uri().validate(T)", "format.labelValue().validate(T)"),
    *("format.qualifiedName().validate(T)", "format.dns1035Label().validate(T)", "format.dns1123LabelPrefix().validate(T)"),
    *("[A, A].isSorted()", "[I, I, I].sum()", "[D, D].max()", "[T, T].min()", "[A, A].indexOf(A)", "[I, I].lastIndexOf(I)", "[].sum()"),
    *("sets.contains([A, A], [A])", "sets.equivalent([A], [A, A])", "sets.intersects([A], [A])", "[A, A] == [A, A]", "A == A", "A in [A, A]"),
    *("dyn(A) < dyn(A)", "dyn(A) + dyn(A)", "dyn(A) - dyn(A)", "dyn(A) * dyn(A)", "dyn(A) / dyn(A)", "dyn(A) % dyn(A)", "-dyn(A)", "!dyn(A)"),
    *("int(dyn(A))", "uint(dyn(A))", "double(dyn(A))", "string(dyn(A))", "bytes(dyn(A))", "bool(dyn(A))", "timestamp(dyn(A))", "duration(dyn(A))"),
    *("dyn(A)[dyn(A)]", "dyn(A).x", "has(dyn(A).x)", "size(dyn(A))", "dyn(A)[?dyn(A)]", "dyn(A).?x", "type(A)", "dyn(A) ? 1 : 2"),
    *("dyn(A) && dyn(A)", "dyn(A) || true", "I / I", "I % I", "I * I", "I + I", "I - I", "D / D", "D < I", "I == D", "uint(I)", "int(D)"),
    *("string(D)", "string(I)", "double(T)", "int(T)", "uint(T)", "bool(T)", "timestamp(T)", "duration(T)", "string(timestamp(T))", "string(duration(T))"),
    *("timestamp(T).getFullYear(T)", "timestamp(T).getDayOfYear()", "timestamp(T).getHours(T)", "duration(T).getSeconds()", "duration(T).getMilliseconds()"),
    *("timestamp(T) + duration(T)", "timestamp(T) - timestamp(T)", "duration(T) - duration(T)", "timestamp(I)", "int(timestamp(T))", "timestamp(T).getDayOfWeek(T)"),
    *("[I, I].all(i, v, i < v)", "[A, A].exists(i, v, v == A)", "{'a': A}.all(k, v, k == v)", "[A, A].transformList(i, v, i > 0, v)", "{'a': I}.transformMap(k, v, v + 1)"),
    *("{'a': T}.transformMapEntry(k, v, {v: k})", "['a', 'a'].transformMapEntry(i, v, {v: i})", "[1, 2].existsOne(i, v, v > 1)", "[A].map(x, dyn(x) + dyn(A))"),
    *("[A, A].filter(x, dyn(x) == dyn(A))", "optional.of(A).orValue(A)", "optional.ofNonZeroValue(A).hasValue()", "[?optional.none(), optional.of(A)]"),
    *("{?'a': optional.ofNonZeroValue(A)}", "optional.none().value()", "optional.of(T).optMap(x, x + T).value()", "optional.of(T).optFlatMap(x, optional.of(x)).value()"),
    *("[T, T].first()", "[].last()", "cel.bind(x, A, [x, x])", "[[A], [A, A]].flatten()", "[I, I].distinct()", "[I, I, I].slice(I, I)", "lists.range(I)"),
    *("[I, I].reverse()", "[T, T].sort()", "[I, I].sortBy(x, -x)", "base64.encode(bytes(T))", "base64.decode(T)", "math.greatest(I, D)", "math.abs(I)", "math.round(D)"),
    *("math.bitShiftLeft(I, I)", "math.sign(D)", "math.isNaN(D)", "math.ceil(D)", "math.trunc(D)", "math.sqrt(D)", "math.least([I, I])", "hash.sha256(T)"),
    *("T.startsWith(T)", "T.endsWith(T)", "T.contains(T)", "T + T", "T < T", "size(T)", "size(bytes(T))", "bytes(T) + b'a'", "string(bytes(T))", "string(b'\\xff')"),
)  # fmt: skip
_HOLES: Final = {"T": TEXTS, "I": NUMBERS, "D": DOUBLES, "A": ANY, "F": VERBS}


def campaign(ours: Server, real: Server, seed: int, count: int) -> Iterator[Difference | None]:
    """Of so many expressions, each with three objects where it asks for one."""
    for server in (ours, real):
        common(server)
    for first in range(seed, seed + count, _TOGETHER):
        numbers = range(first, min(first + _TOGETHER, seed + count))
        known = [number for number in numbers if _written(ours, real, number)]
        for server in (ours, real):
            server.settle()
        for number in known:
            text = expression(number)
            for index, content in enumerate(objects() if "object" in text else [{}]):
                obj = {
                    "apiVersion": "fuzz.dev/v1",
                    "kind": "Limit",
                    "metadata": {"name": f"v{number}-{index}"},
                    "spec": {"d": content},
                }
                path = f"{THINGS}?dryRun=All"
                told = [plain(one.call("POST", path, obj), exact=True) for one in (ours, real)]
                differs = told[0] != told[1]
                yield Difference("POST", path, text, *told) if differs else None
        for server in (ours, real):
            for number in known:
                for part in ("policies", "policybindings"):
                    server.call("DELETE", f"{GROUP}/v1/validatingadmission{part}/v{number}")


def expression(seed: int) -> str:
    """A call at the edge, or anything that compiles."""
    random = Random(seed)
    if random.random() < 0.6:
        text = re.sub(r"\b[TIDA]\b|F", lambda hole: random.choice(_HOLES[hole[0]]), random.choice(CALLS))
    else:
        known = environment(_WRITTEN_FOR).extend({"object": types.DYN})
        text = Expressions(known, random).any_piece(random.randrange(1, 4)).text
    return re.sub(r"\bobject\b", "object.spec.d", text)


def _written(ours: Server, real: Server, number: int) -> bool:
    """Whether both servers have the policy of an expression now."""
    text, name = expression(number), f"v{number}"
    rule = {
        "apiGroups": ["fuzz.dev"], "apiVersions": ["v1"], "operations": ["CREATE"],
        "resources": ["limits"], "resourceNames": [f"{name}-{i}" for i in range(3)],
    }  # fmt: skip
    validation = {
        "expression": f"dyn([{text}]) == 1",
        "messageExpression": f"'%s'.format([dyn({text})])",
    }
    spec = {"matchConstraints": {"resourceRules": [rule]}, "validations": [validation]}
    meta = {"metadata": {"name": name}}
    bound = {"policyName": name, "validationActions": ["Deny"]}
    codes = []
    for server in (ours, real):
        path = f"{GROUP}/v1/validatingadmissionpolicies"
        codes.append(server.call("POST", path, {**meta, "spec": spec}).code)
        server.call("POST", f"{path[:-3]}ybindings", {**meta, "spec": bound})
    return codes == [201, 201]
