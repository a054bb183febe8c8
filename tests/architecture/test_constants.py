"""A fact stands once: no long text or set of texts is a constant of two modules.

Numbers are left out (10 means many things), short texts too, and what two modules call by the same
text without meaning the same is in `HOMONYMS`.
"""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterator

from tests.architecture.source_tree import MODULES, tree_of

SHORTEST = 12
"""Characters of a text that is long."""

GO_SPACE = (
    "\t\n\v\f\r \x85\xa0\u1680"
    + "".join(map(chr, range(0x2000, 0x200B)))
    + ("\u2028\u2029\u202f\u205f\u3000")
)

HOMONYMS: dict[str, str] = {
    "'ValidatingAdmissionPolicy'": "a kind, and the plugin that asks the objects of that kind",
    "'MutatingAdmissionPolicy'": "a kind, and where its deprecated versions stand with all others",
    "'MutatingAdmissionPolicyBinding'": "as above",
    "'2026-01-01T00:00:00Z'": "when objects of tests are created; for when a CronJob makes a Job",
    "'celadon-webhook'": "a Service, a certificate and a source of Events, each with its own name",
    "'kube-apiserver'": "who writes leases, and whom a certificate is for",
    repr(GO_SPACE): "Go's white space, in texts of the language and in those of Kubernetes",
}
"""Values that stand more than once, as Python writes them, each with the reason."""


def test_long_constants_stand_once() -> None:
    assert {value: sorted(places) for value, places in _repeated().items()} == {}


def test_excuses_are_still_needed() -> None:
    assert HOMONYMS.keys() - _places().keys() == set()


def _repeated() -> dict[str, set[str]]:
    return {
        value: places
        for value, places in _places().items()
        if len(places) > 1 and value not in HOMONYMS
    }


def _places() -> dict[str, set[str]]:
    found: defaultdict[str, set[str]] = defaultdict(set)
    for module in MODULES:
        for value in _constants(tree_of(module)):
            found[ast.unparse(value)].add(module)
    return found


def _constants(tree: ast.Module) -> Iterator[ast.expr]:
    for node in tree.body:
        if isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None:
            texts = list(_texts(node.value))
            if texts and sum(map(len, texts)) >= SHORTEST:
                yield node.value


def _texts(value: ast.expr) -> Iterator[str]:
    """All there are in a literal, those in calls included; none where other names are used."""
    nodes = list(ast.walk(value))
    called = [node.func for node in nodes if isinstance(node, ast.Call)]
    if all(node in called for node in nodes if isinstance(node, ast.Name)):
        for node in nodes:
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                yield node.value


JSON_ALIASES = {
    "celadon.kube.json_types": "the one name of a JSON object",
    "celadon.admission.expressions.lazy_variables": "what expressions know, not JSON",
    "celadon.cel.partial.partial_evaluation": "a value of CEL, or what stands for one",
    "celadon.cel.program": "what expressions know, not JSON",
    "celadon.cel.values.message_values": "values of CEL by the names of fields",
    "celadon.kube.apply.field_sets": "`fieldsV1` of an entry of managedFields",
    "celadon.kube.defaulting.field_functions": "a rule of the data pack",
    "celadon.cli.policy_tests.written_tests.file_format": "a JSON schema",
    "celadon.kube.registry.patching.three_way_merge": "an item of a list with merge keys",
    "celadon.kube.registry.patching.patch_making": "an operation of a JSON patch",
    "celadon.serve.access.flow_control_objects": "the rules of a FlowSchema",
    "celadon.serve.operation.prompt_tasks": "what an event loop waits for, not JSON",
    "celadon.serve.tables.column_headers": "a column of a table",
    "celadon.webhook.handlers.handler_requests": "the object that a handler may change",
    "celadon.webhook.installation.selector_unions": "a label selector",
}
"""Modules that may call `Any`, or an object of JSON, something."""

OPEN_TYPES = ("Any", "Mapping[str, Any]", "dict[str, Any]")


def test_json_has_one_name() -> None:
    aliases = {
        module
        for module in MODULES
        for node in tree_of(module).body
        if isinstance(node, ast.Assign | ast.AnnAssign)
        and node.value is not None
        and ast.unparse(node.value) in OPEN_TYPES
    }
    assert aliases == JSON_ALIASES.keys()
