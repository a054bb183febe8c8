"""Random expressions as policies, and what a denial says of each: its value or its error.

Each expression is a policy for objects of its own name, so that hundreds are in effect at once.
More than half of them call a function with texts and numbers at the edge of what it takes.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from random import Random
from typing import Final

from celadon.cel import types
from celadon.kube.library.environments import environment
from tests.fuzz.policy_decisions import common
from tests.fuzz.policy_writes import GROUP
from tests.fuzz.servers import Server
from tests.fuzz.typed_expressions import Expressions, objects, pools
from tests.fuzz.writes import Difference, plain

_TOGETHER: Final = 150
_WRITTEN_FOR: Final = "1.35"
"""The release whose functions new expressions may use."""
THINGS: Final = "/apis/fuzz.dev/v1/namespaces/default/limits"

POOLS: Final = pools("policy_values")
TEXTS: Final = POOLS["texts"]
NUMBERS: Final = POOLS["numbers"]
DOUBLES: Final = POOLS["doubles"]
ANY: Final = POOLS["any"]
VERBS: Final = POOLS["verbs"]
CALLS: Final = POOLS["calls"]
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
        text = re.sub(
            r"\b[TIDA]\b|F", lambda hole: random.choice(_HOLES[hole[0]]), random.choice(CALLS)
        )
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
