"""Tests of policies in code: the cases of `celadon test`, without files of their own.

    limit = PolicyCases("policies/limit.yaml", params=[...])
    limit.expect("admit", object=deployment(replicas=5))
    limit.expect({"deny": "at most 5 replicas"}, object=deployment(replicas=6))

The fields of a test and of a case are those of files (docs/testing-policies.md), written as Python
writes names: `old_object`, `kubernetes_versions`. Files are relative to `folder`.
"""

from __future__ import annotations

import os
from typing import Any, Final

from celadon.cli.policy_test_door import (
    CaseResult,
    RunOptions,
    explained_plainly,
    plain_document,
    read_test,
    run_test,
)
from celadon.kube import JsonObject
from celadon.kube.json_types import JsonDict
from celadon.testing.given_manifests import Manifest, ManifestError

_NAME: Final = "test"
"""What stands where a test has the name of its file."""


class CaseFailed(AssertionError):
    """A case did not come out as expected, or means nothing; `results` are those of its versions,
    and the text says why."""

    def __init__(self, results: tuple[CaseResult, ...]) -> None:
        self.results = results
        bad = [one for one in results if one.is_bad]
        super().__init__("\n".join(line for one in bad for line in explained_plainly(one)))


class PolicyCases:
    """Policies, what there is in their cluster, and cases about them."""

    def __init__(
        self,
        *policies: Manifest,
        folder: str | os.PathLike[str] = "",
        **fields: Any,  # noqa: ANN401 - as the format of files has them
    ) -> None:
        """`policies` are objects or files, `fields` those of a test: `resources`, `params`,
        `bindings`, `namespaces`, `objects`, `defaults`, ..."""
        given = [os.fspath(one) if isinstance(one, os.PathLike) else one for one in policies]
        head = {"apiVersion": "celadon.dev/v1", "kind": "PolicyTest", "policies": given}
        self._test = {**head, **_written(fields)}
        self._file = os.path.join(os.fspath(folder), _NAME)

    def run(
        self,
        expect: str | JsonObject,
        **fields: Any,  # noqa: ANN401 - as the format of files has them
    ) -> tuple[CaseResult, ...]:
        """Return what comes of a case: a result for each version. `expect` is as in files: a word,
        or a map. Raises ManifestError for what cannot be read."""
        case = {"name": "case", **_written(fields), "expect": expect}
        test = read_test(plain_document({**self._test, "cases": [case]}, self._file))
        if test.problems:
            raise ManifestError("\n".join(one.message for one in test.problems))
        return tuple(run_test(test, test.cases, RunOptions()))

    def expect(
        self,
        expect: str | JsonObject,
        **fields: Any,  # noqa: ANN401 - as the format of files has them
    ) -> None:
        """Raises CaseFailed unless all is as expected, and means something."""
        results = self.run(expect, **fields)
        if any(one.is_bad for one in results):
            raise CaseFailed(results)


def _written(fields: JsonObject) -> JsonDict:
    """Fields with the names that they have in files."""
    return {_camel(name): one for name, one in fields.items()}


def _camel(name: str) -> str:
    first, *others = name.split("_")
    return first + "".join(map(str.capitalize, others))
