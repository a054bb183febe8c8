"""The policy that a first test is for, from its file."""

from __future__ import annotations

from collections.abc import Sequence

from celadon.cli.checking.manifests import described
from celadon.cli.checking.policy_set import policy_sets
from celadon.cli.policy_tests.policy_test import plain_document
from celadon.cli.reading import sources
from celadon.cli.reading.documents import Document, DocumentReader
from celadon.cli.reading.problems import Problem
from celadon.cli.suggestions import did_you_mean
from celadon.records import dataclass


@dataclass(frozen=True, slots=True)
class FirstPolicy:
    """`documents` are those of the file, and a binding if the policy has none (`bound`).
    `is_broken`: no API server would take it."""

    documents: Sequence[Document] = ()
    name: str = ""
    bound: bool = True
    problems: Sequence[Problem] = ()
    is_broken: bool = False


def first_policy(file: str, wanted: str | None, version: str) -> FirstPolicy:
    """The only validating policy of a file, or that of a name."""
    text = sources.read(file)
    read = [text] if isinstance(text, Problem) else list(DocumentReader().read(text))
    problems = [one for one in read if isinstance(one, Problem)]
    if problems:
        return FirstPolicy(problems=problems)
    documents = [one for one in read if not isinstance(one, Problem)]
    found = policy_sets(described(documents), version).validating
    wrong = [Problem(one.place.file, one.place.line, one.message) for one in found.errors]
    if wrong:
        return FirstPolicy(problems=wrong, is_broken=True)
    names = list(found.policies)
    if wanted is not None and wanted not in names:
        said = f"no policy `{wanted}`{did_you_mean(wanted, names)}"
        return FirstPolicy(problems=[Problem(file, 0, said)])
    if wanted is None and len(names) != 1:
        said = f"several policies: {', '.join(names)}" if names else "no validating policy"
        return FirstPolicy(problems=[Problem(file, 0, said, "say which: `--policy`")])
    name = wanted or names[0]
    bound = any(one.value.spec.policy_name == name for one in found.bindings.values())
    return FirstPolicy(documents if bound else [*documents, _binding(name)], name, bound)


def _binding(name: str) -> Document:
    spec = {"policyName": name, "validationActions": ["Deny"]}
    head = {"apiVersion": "admissionregistration.k8s.io/v1", "metadata": {"name": name}}
    return plain_document({**head, "kind": "ValidatingAdmissionPolicyBinding", "spec": spec}, name)
