"""Random policies about all that expressions see of a request: both objects, params, the namespace,
the user; with the functions of Kubernetes' libraries, loops of two variables, optionals.

The fields of objects are those of `tests.prove.random_policies`; here few fields are asked for, in
many ways.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from random import Random
from typing import Final

from celadon.kube import JsonObject
from tests.prove.test_policy_differences import changed
from tests.prove.test_policy_questions import LIMIT_KIND, policy

_TEXTS: Final = (
    *("a", "ab", "a/b", "", "A", "1", "-1", "007", "n", "true", "x-a", "é"),
    *("1Gi", "100m", "1.5", "2", "10.0.0.1", "10.0.0.0/8", "::1", "1.0.0", "1.2.3-rc.1"),
    *("2024-01-01T00:00:00Z", "2024-01-01T01:00:00+01:00", "1h", "60m", "-1s"),
    *("https://a.b/c?d=e", "a,b", "system:admin"),
)

_LEAVES: Final[Mapping[str, Sequence[str]]] = {
    "str": (
        *("R.metadata.name", "R.metadata.?labels[?'a'].orValue('')", "R.metadata.annotations['a']"),
        *("R.metadata.?annotations[?'a'].orValue('1')", "request.userInfo.username"),
        *("request.operation", "request.kind.kind"),
        *("{text}", "{text}", "{text}", "{text}"),
    ),
    "int": ("0", "1", "2", "-1", "size(R.metadata.name)", "9223372036854775807"),
    "bool": (
        *("true", "has(R.metadata.labels)", "request.dryRun", "has(request.name)"),
        *("has(R.metadata.annotations)", "has(request.userInfo.groups)", "has(R.metadata.uid)"),
    ),
    "list": (
        *("R.metadata.?finalizers.orValue([])", "R.metadata.finalizers", "[{str}, {str}]", "[]"),
        *("request.userInfo.?groups.orValue([])", "request.userInfo.groups"),
        *("R.metadata.?labels.orValue({}).map(k, k)", "{str}.split(',')"),
    ),
    "map": (
        *("R.metadata.?labels.orValue({})", "R.metadata.labels", "{'a': {str}}", "{}"),
        *("R.metadata.?annotations.orValue({})",),
    ),
}  # fmt: skip

_BY_KIND: Final[Mapping[str, Mapping[str, Sequence[str]]]] = {
    "pods": {
        "str": ("R.spec.containers[0].image", "R.spec.?nodeName.orValue('')", "R.spec.hostname"),
        "int": ("R.spec.?priority.orValue(0)", "R.spec.activeDeadlineSeconds"),
        "list": ("R.spec.containers.map(c, c.image)", "R.spec.?initContainers.orValue([])."
                 "map(c, c.name)"),
        "bool": ("R.spec.containers.all(c, c.name != {str})", "R.spec.?hostPID.orValue(false)",
                 "R.spec.containers.all(i, c, i == 0 || c.image == {str})",
                 "R.spec.containers.exists(c, c.image.startsWith({str}))",
                 "R.spec.containers.exists_one(c, c.image == {str})"),
    },
    "configmaps": {
        "str": ("R.data['a']", "R.?data[?'a'].orValue('')"),
        "map": ("R.?data.orValue({})", "R.data"),
        "bool": ("has(R.immutable)", "R.?immutable.orValue(false)"),
    },
    "services": {
        "str": ("R.spec.type", "R.spec.?clusterIP.orValue('')", "R.spec.sessionAffinity"),
        "int": ("R.spec.ports[0].port", "R.spec.?healthCheckNodePort.orValue(0)"),
        "map": ("R.spec.?selector.orValue({})",),
        "list": ("R.spec.?externalIPs.orValue([])",),
    },
    "namespaces": {"list": ("R.spec.?finalizers.orValue([])",)},
    "limits": {
        "str": ("string(R.most)", "R.text", "R.?text.orValue('a')"),
        "int": ("R.most", "R.short", "int(R.?part.orValue(1))"),
        "bool": ("R.share < 1.5", "R.?port.orValue(1) == {str}", "has(R.port)"),
    },
}  # fmt: skip
_NAMESPACED: Final[Mapping[str, Sequence[str]]] = {
    "str": ("request.namespace", "namespaceObject.metadata.name", "R.metadata.namespace",
            "namespaceObject.metadata.?labels[?'a'].orValue('')"),
    "map": ("namespaceObject.metadata.?labels.orValue({})", "namespaceObject.metadata.annotations"),
    "bool": ("has(namespaceObject.metadata.labels)", "has(request.namespace)",
             "namespaceObject.metadata.name == request.namespace"),
}  # fmt: skip
_OF_PARAMS: Final[Mapping[str, Sequence[str]]] = {
    "str": ("params.text", "params.?text.orValue('1')", "string(params.?port.orValue(1))"),
    "int": ("params.most", "params.?short.orValue(1)", "params.part"),
    "bool": ("has(params.text)", "params.?share.orValue(1.0) < 1.5", "params.port == 1"),
    "map": ("params.metadata.?labels.orValue({})",),
}
_OF_UPDATES: Final[Mapping[str, Sequence[str]]] = {
    "bool": ("object.metadata.name == oldObject.metadata.name",
             "object.metadata.?labels == oldObject.metadata.?labels",
             "object.metadata.?annotations[?'a'] == oldObject.metadata.?annotations[?'a']",
             "object.metadata.?finalizers.orValue([]).all(f, f in "
             "oldObject.metadata.?finalizers.orValue([]))"),
}  # fmt: skip

_TEMPLATES: Final[Mapping[str, Sequence[str]]] = {
    "str": (
        *("{str}.lowerAscii()", "{str}.trim()", "{str}.substring({int})", "{str} + {str}"),
        *("{str}.replace({str}, {str})", "{list}.join(',')", "{list}[{int}]", "{map}[{str}]"),
        *("string({int})", "({bool} ? {str} : {str})", "{map}.?a.orValue({str})"),
        *("{str}.split({str})[{int}]", "optional.ofNonZeroValue({str}).orValue({str})"),
        *("{str}.find('[a-z]+')", "string(ip({str}))", "'%s-%d'.format([{str}, {int}])"),
        *("url({str}).getHost()", "{list}.max()", "string(sign(quantity({str})))"),
        *("{map}.map(k, k)[0]", "{list}.filter(x, x != {str})[0]", "string(cidr({str}).ip())"),
    ),
    "int": (
        *("{int} + {int}", "{int} * {int}", "{int} - {int}", "{int} / {int}", "{int} % {int}"),
        *("size({str})", "size({list})", "size({map})", "{str}.indexOf({str})", "int({str})"),
        *("quantity({str}).asInteger()", "semver({str}).major()", "-({int})"),
        *("timestamp({str}).getFullYear()", "duration({str}).getSeconds()"),
        *("{list}.indexOf({str})",),
        *("quantity({str}).compareTo(quantity({str}))", "cidr({str}).prefixLength()"),
        *("math.greatest({int}, {int})", "int(double({int}))", "ip({str}).family()"),
        *("{list}.map(x, size(x)).sum()",),
    ),
    "list": (
        *("{list}.filter(x, x.startsWith({str}))", "{list}.map(x, x + {str})", "{list} + {list}"),
        *("{list}.filter(x, x in {list})", "({bool} ? {list} : {list})", "{map}.map(k, k)"),
        *("{map}.transformList(k, v, k + v)", "{list}.transformList(i, x, i > 0, x)"),
        *("{map}.filter(k, k != {str})", "{str}.findAll('[a-z]')", "{list}.sort()"),
    ),
    "map": (
        *("{map}.transformMap(k, v, v + {str})", "({bool} ? {map} : {map})", "{'a': {str}}"),
        *("{map}.transformMap(k, v, k != {str}, v)", "{{str}: {str}}"),
        *("{list}.transformMapEntry(i, x, {x: {str}})",),
    ),
    "bool": (
        *("{bool} && {bool}", "{bool} || {bool}", "!({bool})", "({bool} ? {bool} : {bool})"),
        *("{str} == {str}", "{str} != {str}", "{str} < {str}", "{str}.startsWith({str})"),
        *("{str}.endsWith({str})", "{str}.contains({str})", "{str} in {list}", "{str} in {map}"),
        *("{str}.matches('^[a-z]+$')", "{str}.matches('a|^b')", "{str}.matches('(?i)A.')"),
        *("{int} == {int}", "{int} < {int}", "{int} >= {int}", "double({int}) < 1.5"),
        *("isQuantity({str})", "quantity({str}).isLessThan(quantity({str}))", "isIP({str})"),
        *("quantity({str}).isGreaterThan(quantity({str}))", "isSemver({str})", "isCIDR({str})"),
        *("quantity({str}) == quantity({str})", "isURL({str})", "quantity({str}).isInteger()"),
        *("!isQuantity({str}) || !quantity({str}).isLessThan(quantity({str}))",),
        *("quantity({str}).add(quantity({str})).isLessThan(quantity({str}))",),
        *("quantity({str}).add(1) == quantity({str})",),
        *("cidr({str}).containsIP({str})", "cidr({str}).containsIP(ip({str}))",),
        *("cidr({str}).containsCIDR({str})", "ip({str}) == ip({str})", "ip({str}).isLoopback()"),
        *("semver({str}).isLessThan(semver({str}))", "semver({str}) == semver({str})"),
        *("semver({str}).compareTo(semver({str})) == {int}",),
        *("timestamp({str}) < timestamp({str})", "timestamp({str}) == timestamp({str})"),
        *("timestamp({str}) + duration({str}) > timestamp({str})",),
        *("timestamp({str}) - timestamp({str}) >= duration({str})",),
        *("duration({str}) < duration({str})", "duration({str}) == duration({str})"),
        *("sets.contains({list}, {list})", "sets.intersects({list}, {list})"),
        *("sets.equivalent({list}, {list})", "{list} == {list}", "{map} == {map}"),
        *("{list}.all(x, x != {str})", "{list}.exists(x, x == {str})", "{list}.isSorted()"),
        *("{list}.exists_one(x, x == {str})", "{list}.all(x, isQuantity(x))"),
        *("{list}.all(x, {list}.exists(y, x == y))", "{list}.all(i, x, i < 1 || x != {str})"),
        *("{list}.existsOne(i, x, x == {str})", "{list}.exists(i, x, i == {int} && x == {str})"),
        *("{map}.all(k, k.startsWith({str}))", "{map}.all(k, v, v != {str})"),
        *("{map}.exists(k, v, k == {str} && v == {str})", "{map}.existsOne(k, v, v == {str})"),
        *("{map}.exists_one(k, k == {str})", "{map}.all(k, k in {map})", "has({map}.a)"),
        *("{map}.all(k, k in {map} && {map}[k] == {str})", "{map}[?{str}].hasValue()"),
        *("{map}[?{str}].orValue({str}) == {str}", "{list}[?{int}] == optional.of({str})"),
        *("{list}[?{int}].hasValue()", "{map}.?a.optMap(x, x + {str}).orValue({str}) == {str}"),
        *("{map}[?'a'].optFlatMap(x, {map}[?x]).hasValue()", "type(dyn({str})) == string"),
        "optional.ofNonZeroValue({map}).hasValue()",
        *("!format.dns1123Label().validate({str}).hasValue()", "bool({str})"),
        *("[{str}, {str}].all(x, {bool} || x == {str})", "{map} != {map}", "{list} == []"),
        *("authorizer.group('').resource('pods').check({str}).allowed()",),
        *("authorizer.group('').resource('pods').namespace({str}).check('get').allowed()",),
        *("authorizer.path({str}).check('get').allowed()",),
        *("authorizer.requestResource.check({str}).allowed()",),
    ),
}  # fmt: skip

_HOLE: Final = re.compile(r"\{(str|int|bool|list|map|text)\}")
_KINDS: Final = {
    "pods": "", "configmaps": "", "services": "", "namespaces": "", "limits": "example.com"
}  # fmt: skip
_OPERATIONS: Final = (("CREATE",), ("CREATE",), ("UPDATE",), ("UPDATE",), ("DELETE",))


def _leaves(name: str, operations: tuple[str, ...], *, params: bool) -> dict[str, list[str]]:
    parts = [_LEAVES, _BY_KIND[name], _BY_KIND[name]]
    if name not in ("namespaces", "limits"):
        parts.append(_NAMESPACED)
    if params:
        parts += [_OF_PARAMS, _OF_PARAMS]
    if operations == ("UPDATE",):
        parts.append(_OF_UPDATES)
    return {kind: [one for part in parts for one in part.get(kind, ())] for kind in _TEMPLATES}


def random_policy(seed: int) -> JsonObject:
    """A policy of one to three validations, with variables and match conditions now and then."""
    random = Random(seed)
    name = random.choice(list(_KINDS))
    operations = random.choice(_OPERATIONS)
    params = random.random() < 0.4
    leaves = _leaves(name, operations, params=params)
    variables: list[tuple[str, str]] = []

    def made(kind: str, depth: int) -> str:
        if kind == "text":
            return repr(random.choice(_TEXTS))
        if depth == 0 or random.random() < 0.2:
            text = random.choice(leaves[kind])
            of_kind = [name for name, one in variables if one == kind]
            if of_kind and random.random() < 0.3:
                text = f"variables.{random.choice(of_kind)}"
        else:
            text = random.choice(_TEMPLATES[kind])
        text = _HOLE.sub(lambda hole: made(hole[1], max(depth - 1, 0)), text)
        root = "oldObject" if operations == ("DELETE",) else "object"
        if operations == ("UPDATE",) and random.random() < 0.4:
            root = "oldObject"
        return re.sub(r"\bR\.", f"{root}.", text)

    written: list[tuple[str, str]] = []
    for number in range(random.choice((0, 0, 1, 2))):
        kind = random.choice(list(_TEMPLATES))
        written.append((f"v{number}", made(kind, random.choice((1, 2)))))
        variables.append((f"v{number}", kind))
    validations = [{"expression": made("bool", random.choice((1, 1, 2, 2, 3)))}
                   for _ in range(random.choice((1, 1, 2, 3)))]  # fmt: skip
    conditions = tuple(
        f"({made('bool', 1)}) == true".replace("namespaceObject.metadata", "object.metadata")
        for _ in range(random.choice((0, 0, 0, 1)))
    )
    document = policy(
        "true", name, _KINDS[name], operations=operations, variables=tuple(written),
        conditions=conditions, params=LIMIT_KIND if params else None,
    )  # fmt: skip
    failures = random.choice(("Fail", "Fail", "Ignore"))
    return changed(document, validations=validations, failurePolicy=failures)
