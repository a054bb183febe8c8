"""Tests of policies in code: the cases of `celadon test`, without files of their own.

    limit = PolicyCases("policies/limit.yaml", params=[...])
    limit.expect("admit", object=deployment(replicas=5))
    limit.expect({"deny": "at most 5 replicas"}, object=deployment(replicas=6))

The fields of a test and of a case are those of files (docs/testing-policies.md), written as Python
writes names: `old_object`, `kubernetes_versions`. Files are relative to `folder`.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final, TypeAlias

from celadon.cli import policy_test_door
from celadon.cli.reading import Problem, read_documents
from celadon.kube import JsonObject
from celadon.kube.json_types import JsonDict

# --- Manifests ---------------------------------------------------------------

# Manifests as a test gives them: objects, files, folders.
#
# Files are read like those of `celadon serve --manifests`, and errors name the line.

Manifest: TypeAlias = JsonObject | str | os.PathLike[str]
"""An object, or the path of a file or a folder with YAML or JSON."""


class ManifestError(ValueError):
    """Says that a manifest cannot be read; the text begins with the file and the line."""


def as_manifests(given: Manifest | Iterable[Manifest]) -> tuple[Manifest, ...]:
    """Return several manifests, or a single one, as a list."""
    return (given,) if isinstance(given, str | os.PathLike | Mapping) else tuple(given)


def given_objects(manifests: Iterable[Manifest]) -> Iterator[tuple[str, JsonObject]]:
    """Yield the objects, in order, each with its place. Raises ManifestError."""
    for manifest in manifests:
        if isinstance(manifest, str | os.PathLike):
            yield from _read(os.fspath(manifest))
        elif isinstance(manifest, Mapping):
            yield _place(manifest), manifest
        else:
            raise ManifestError(f"a manifest is an object or a path, not {_kind_of(manifest)}")


def _kind_of(value: object) -> str:
    name = type(value).__name__
    return f"an {name}" if name[0] in "aeiou" else f"a {name}"


def _place(document: JsonObject) -> str:
    for field in ("apiVersion", "kind"):
        if not document.get(field):
            raise ManifestError(f"an object without `{field}`: {dict(document)}")
    name = (document.get("metadata") or {}).get("name")
    return f"{document.get('kind')} `{name}`" if name else f"{document.get('kind')}"


def _read(path: str) -> Iterator[tuple[str, JsonDict]]:
    for document in read_documents([path]):
        if isinstance(document, Problem):
            help = f" ({document.help})" if document.help else ""
            raise ManifestError(f"{document.position()}: {document.message}{help}")
        yield document.position(), document.value


# --- Cases -------------------------------------------------------------------

_NAME: Final = "test"
"""What stands where a test has the name of its file."""


class CaseFailed(AssertionError):
    """Says that a case did not come out as expected, or means nothing; `results` are those of its
    versions, and the text says why."""

    def __init__(self, results: tuple[policy_test_door.CaseResult, ...]) -> None:
        self.results = results
        bad = [result for result in results if result.is_bad]
        super().__init__(
            "\n".join(line for result in bad for line in policy_test_door.explained_plainly(result))
        )


class PolicyCases:
    """Runs cases about policies, and holds what there is in their cluster."""

    def __init__(
        self,
        *policies: Manifest,
        folder: str | os.PathLike[str] = "",
        **fields: Any,  # noqa: ANN401 - as the format of files has them
    ) -> None:
        """`policies` are objects or files, `fields` those of a test: `resources`, `params`,
        `bindings`, `namespaces`, `objects`, `defaults`, ..."""
        documents = [
            os.fspath(policy) if isinstance(policy, os.PathLike) else policy for policy in policies
        ]
        head = {"apiVersion": "celadon.dev/v1", "kind": "PolicyTest", "policies": documents}
        self._test = {**head, **_written(fields)}
        self._file = os.path.join(os.fspath(folder), _NAME)

    def run(
        self,
        expect: str | JsonObject,
        **fields: Any,  # noqa: ANN401 - as the format of files has them
    ) -> tuple[policy_test_door.CaseResult, ...]:
        """Return what comes of a case: a result for each version. `expect` is as in files: a word,
        or a map. Raises ManifestError for what cannot be read."""
        case = {"name": "case", **_written(fields), "expect": expect}
        test = policy_test_door.read_test(
            policy_test_door.plain_document({**self._test, "cases": [case]}, self._file)
        )
        if test.problems:
            raise ManifestError("\n".join(problem.message for problem in test.problems))
        return tuple(policy_test_door.run_test(test, test.cases, policy_test_door.RunOptions()))

    def expect(
        self,
        expect: str | JsonObject,
        **fields: Any,  # noqa: ANN401 - as the format of files has them
    ) -> None:
        """Run a case. Raises CaseFailed unless all is as expected, and means something."""
        results = self.run(expect, **fields)
        if any(result.is_bad for result in results):
            raise CaseFailed(results)


def _written(fields: JsonObject) -> JsonDict:
    """Return fields under the names that they have in files."""
    return {_camel(name): field for name, field in fields.items()}


def _camel(name: str) -> str:
    first, *words = name.split("_")
    return first + "".join(map(str.capitalize, words))
