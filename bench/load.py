"""How long compiling takes, and loading many policies.

Both run in a process of their own (`python -m bench.load expressions|policies` prints JSON), so
that nothing is known from before, and are measured in the processor's time: on one core.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from collections.abc import Callable
from statistics import mean
from time import process_time
from typing import Any, Final

from bench.engines import celadon_environment
from bench.expressions import CASES

POLICIES: Final = 1000
EXPRESSIONS_EACH: Final = 5
PROCESSES: Final = 5

TEMPLATES: Final = (
    "object.spec.replicas <= {n}",
    "has(object.metadata.labels) && 'team-{n}' in object.metadata.labels",
    "!has(object.metadata.labels) || object.metadata.labels.all(key, !key.startsWith('x{n}/'))",
    "object.spec.template.spec.containers.all(c, c.image.startsWith('registry-{n}.example.com/'))",
    "object.spec.template.spec.containers.all(c,"
    " !c.image.matches('^[a-z.-]+/project{n}/[a-z0-9-]+:v{n}[.][0-9]+$'))",
    "object.spec.template.spec.containers.all(c, has(c.securityContext)"
    " && has(c.securityContext.runAsUser) && c.securityContext.runAsUser >= {n})",
    "object.spec.template.spec.containers.all(c, has(c.resources) && has(c.resources.limits)"
    " && quantity(c.resources.limits.memory).isLessThan(quantity('{n}Mi')))",
    "!object.spec.template.spec.containers.exists(c, has(c.ports)"
    " && c.ports.exists(p, has(p.hostPort) && p.hostPort == {n}))",
    "object.metadata.?annotations[?'example.com/level-{n}'].orValue('none') != 'none'",
    "object.metadata.name.startsWith(object.metadata.namespace + '-{n}')"
    " || size(object.metadata.name) > {n}",
)


def expression_seconds() -> list[tuple[float, float]]:
    """For each expression of the set, once: from its text to a program that can be evaluated, and
    to the function that a program in use becomes."""
    environment = celadon_environment()
    for n in range(300):
        environment.program(environment.compile(TEMPLATES[n % 10].format(n=n)).checked()).hot()
    seconds = []
    for case in CASES:
        start = process_time()
        program = environment.program(environment.compile(case.expression).checked())
        ready = process_time() - start
        program.hot()
        seconds.append((ready, process_time() - start))
    return seconds


def policies(count: int = POLICIES) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Policies, all different, and their bindings."""
    made, bindings = [], []
    for n in range(count):
        name = f"policy-{n}"
        texts = [
            TEMPLATES[(n + i) % len(TEMPLATES)].format(n=n + 1) for i in range(EXPRESSIONS_EACH)
        ]
        made.append(policy(name, texts))
        bindings.append(binding(name))
    return made, bindings


def policy(name: str, expressions: list[str]) -> dict[str, Any]:
    """A policy on Deployments."""
    rule = {
        "apiGroups": ["apps"],
        "apiVersions": ["v1"],
        "operations": ["CREATE", "UPDATE"],
        "resources": ["deployments"],
    }
    return {
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": "ValidatingAdmissionPolicy",
        "metadata": {"name": name},
        "spec": {
            "failurePolicy": "Fail",
            "matchConstraints": {"resourceRules": [rule]},
            "validations": [
                {"expression": text, "message": f"{name}, rule {number}"}
                for number, text in enumerate(expressions, 1)
            ],
        },
    }


def binding(policy_name: str) -> dict[str, Any]:
    """Where a policy applies: everywhere."""
    return {
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": "ValidatingAdmissionPolicyBinding",
        "metadata": {"name": policy_name},
        "spec": {"policyName": policy_name, "validationActions": ["Deny"]},
    }


def policies_seconds() -> tuple[float, float, float]:
    """From the JSON of policies and bindings to an engine that has judged nothing yet; what
    validating them takes, as the API server does when they are written; and loading them once more
    into the same process. As a command and a server do it: garbage is looked for later."""
    from celadon.admission import Engine, decode_binding, decode_policy
    from celadon.admission.registration import validate_policy
    from celadon.cli.processes import garbage_later

    made, bindings = policies()

    def load() -> list[Any]:
        decoded = [decode_policy(one).value for one in made]
        assert Engine(decoded, [decode_binding(one).value for one in bindings]).policies
        return decoded

    with garbage_later():
        start = process_time()
        decoded = load()
        loaded = process_time()
        for one in decoded:
            validate_policy(one)
        validated = process_time()
        load()
        return loaded - start, validated - loaded, process_time() - validated


_JOBS: Final[dict[str, Callable[[], Any]]] = {
    "expressions": expression_seconds,
    "policies": policies_seconds,
}


def _in_process(job: str) -> Any:
    done = subprocess.run(
        [sys.executable, "-m", "bench.load", job], check=True, capture_output=True, text=True
    )
    return json.loads(done.stdout)


def mean_compile_seconds(processes: int = PROCESSES) -> tuple[float, float]:
    """The means of all expressions, each at its best of some processes: until they are ready, and
    until they are functions."""
    measured = [_in_process("expressions") for _ in range(processes)]
    ready, hot = (
        mean(min(one[part] for one in case) for case in zip(*measured, strict=True))
        for part in (0, 1)
    )
    return ready, hot


def best_policies_seconds(processes: int = 3) -> tuple[float, float, float]:
    """What loading them takes, what validating them takes on top, and loading them again."""
    runs = (_in_process("policies") for _ in range(processes))
    loading, validating, again = map(min, zip(*runs, strict=True))
    return loading, validating, again


def main() -> None:
    """Measure one of the two, and print JSON."""
    parser = argparse.ArgumentParser(prog="python -m bench.load", description=__doc__)
    parser.add_argument("what", choices=_JOBS)
    sys.stdout.write(json.dumps(_JOBS[parser.parse_args().what]()))


if __name__ == "__main__":
    main()
