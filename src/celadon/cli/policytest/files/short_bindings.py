"""Bindings as tests give them: whole ones, files, or only what a binding's spec says.

The short form has no name of its own: it replaces the binding of the policy that has the policy's
name, or is the only one that the policy has.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from celadon.admission.registration import (
    BINDING_KIND,
    MUTATING_BINDING_KIND,
    MUTATING_POLICY_KIND,
    POLICY_KIND,
)
from celadon.cli.policytest.files.given_objects import ObjectReader
from celadon.cli.reading.documents import Document
from celadon.cli.reading.json_text import Path
from celadon.kube import metadata
from celadon.kube.json_types import JsonObject

_KINDS: Final = {POLICY_KIND: BINDING_KIND, MUTATING_POLICY_KIND: MUTATING_BINDING_KIND}


class ShortBindings:
    """Reads the lists of bindings of one test. `known` are the documents that it is about."""

    def __init__(
        self, test: Document, objects: ObjectReader, known: Callable[[], list[Document]]
    ) -> None:
        self._test = test
        self._objects = objects
        self._known = known

    def documents(self, path: Path) -> list[Document]:
        """The bindings of a list at a path of the test."""
        given: Any = self._test.value_at(path)
        found: list[Document] = []
        for index, one in enumerate(given):
            at = (*path, index)
            if isinstance(one, Mapping) and "kind" not in one:
                found.append(self._made(one, at))
            else:
                found += self._objects.manifest(one, at)
        return found

    def _made(self, spec: JsonObject, path: Path) -> Document:
        policy = spec["policyName"]
        version, kind = "admissionregistration.k8s.io/v1", BINDING_KIND
        bound = []
        for one in self._known():
            if one.value["kind"] in _KINDS and metadata.name(one.value) == policy:
                version, kind = one.value["apiVersion"], _KINDS[one.value["kind"]]
            elif one.value["kind"] in _KINDS.values():
                named = one.value_at(("spec", "policyName"))
                bound += [metadata.name(one.value)] if named == policy else []
        name = bound[0] if len(bound) == 1 else policy
        value = {
            "apiVersion": version,
            "kind": kind,
            "metadata": {"name": name},
            "spec": {"validationActions": ["Deny"], **spec} if kind == BINDING_KIND else dict(spec),
        }
        return Document(self._test.chunk, (*self._test.path, *path), value)
