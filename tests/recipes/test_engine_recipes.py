"""Recipes about the language, the engine, the linter and the store."""

from __future__ import annotations

import pytest

from tests.recipes.copied import Copy

pytestmark = pytest.mark.thorough

POLICY = """\
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: unfinished}
spec:
  matchConstraints:
    resourceRules:
    - {apiGroups: [apps], apiVersions: [v1], operations: [CREATE], resources: [deployments]}
  validations:
  - {expression: object.spec.replicas <= 5, message: "TODO"}
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: unfinished}
spec: {policyName: unfinished, validationActions: [Deny]}
"""


def test_a_golden_case(copy: Copy) -> None:
    cases = copy.root / "tests" / "cases" / "cel" / "names.case"
    before = cases.read_text()
    cases.write_text(
        f"{before}\n[case a_new_one]\n[variables]\nx: int\n[expression]\nx + 1 > 2\n"
        '[input]\n{"x": 2}\n'
    )
    copy.pytest("tests/cel/test_golden_cases.py", "--update-golden", "-k", "names")
    written = cases.read_text()
    assert written.startswith(before)
    assert "[python]" in written.removeprefix(before)
    assert "[result]\ntypes.Bool(True)\n" in written.removeprefix(before)
    copy.pytest("tests/cel/test_golden_cases.py", "-k", "names")


def test_a_lint_rule(copy: Copy) -> None:
    wording = "src/celadon/admission/lint/rules/wording_rules.py"
    copy.insert(
        wording,
        "        _escaped_variables,\n    ),\n",
        "    Rule(\n"
        '        "CEL043",\n'
        '        "unfinished-message",\n'
        "        Severity.WARNING,\n"
        '        "A message that says TODO is no help to whoever is refused.",\n'
        '        "validations:\\n- {expression: object.spec.replicas <= 5, message: TODO}\\n",\n'
        '        "validations:\\n- {expression: object.spec.replicas <= 5, message: few}\\n",\n'
        "        _unfinished_messages,\n"
        "    ),\n",
    )
    copy.insert(
        wording,
        '_ESCAPE: Final = late_pattern(r"__[^_]+__")\n',
        "\n\ndef _unfinished_messages(bundle: Bundle) -> Iterator[Report]:\n"
        "    for case in bundle.policies:\n"
        "        for i, validation in enumerate(case.spec.validations):\n"
        '            if "TODO" in validation.message:\n'
        '                path = FieldPath("spec", "validations", i, "message")\n'
        "                place = FieldPosition(case.document, path)\n"
        '                yield Report(place, "the message is unfinished")\n',
    )
    copy.write("policy.yaml", POLICY)
    found = copy.celadon("lint", "policy.yaml")
    assert "policy.yaml:9" in found
    assert "CEL043" in found
    assert "the message is unfinished" in found
    page = copy.python("-m", "celadon.cli.commands.lint")
    copy.replace("docs/lint.md", copy.read("docs/lint.md"), page)
    copy.pytest("tests/admission/lint/rules/test_rule_table.py")


def test_a_store(copy: Copy) -> None:
    copy.write(
        "src/celadon/storage/scratch.py",
        '"""A store that keeps nothing."""\n\n'
        "from __future__ import annotations\n\n"
        "from celadon.storage.local_store import LocalStore\n"
        "from celadon.storage.local_store import open_memory\n\n\n"
        "def open_scratch() -> LocalStore:\n"
        '    """An empty store."""\n'
        "    return open_memory()\n",
    )
    door = "src/celadon/storage/__init__.py"
    copy.insert(
        door,
        "from celadon.storage.keyspace import Retention\n",
        "from celadon.storage.scratch import open_scratch\n",
    )
    copy.insert(door, '    "open_memory",\n', '    "open_scratch",\n')
    conftest = "tests/storage/conftest.py"
    copy.replace(conftest, "import Store, open_memory,", "import Store, open_memory, open_scratch,")
    copy.insert(
        conftest,
        '    "memory": lambda folder: open_memory(),\n',
        '    "scratch": lambda folder: open_scratch(),\n',
    )
    copy.pytest("tests/storage/test_contract.py", "-k", "scratch")
    copy.pytest("tests/test_public_api.py::test_all_is_sorted_and_complete[celadon.storage]")
