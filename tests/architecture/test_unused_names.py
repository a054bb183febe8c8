"""Nothing is in the product for tests alone: what it defines, it uses or gives to users.

Names are compared, not what they stand for: one that something else has as well goes unseen.
"""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterator

from tests.architecture.source_tree import MODULES, exported, is_package, tree_of

PUBLIC = (
    "celadon.admission",
    "celadon.admission.explanation",
    "celadon.cel",
    "celadon.cel.extend",
    "celadon.cel.protobuf",
    "celadon.cel.tracing",
    "celadon.testing",
    "celadon.webhook",
)
"""Doors at which users stand; what is there, and its members, need not be used in the product."""

EXCUSED = {
    "celadon.cel.checking.tree_printer.print_ast": "the form in which the golden cases show trees",
    "celadon.cel.checking.validators.comprehension_nesting_limit": "`cel.extend.validators`",
    "celadon.cel.re2.pattern.Pattern.strategy": "no answer shows how a pattern is searched",
    "celadon.cel.parsing.macros.BLOCK_MACROS": "what the suites of the specification declare",
    "celadon.cel.parsing.macros.PROTOS_MACROS": "what the suites of the specification declare",
    "celadon.cli.auditing.audit_inputs._Copy": "`io` calls it",
    "celadon.cli.main.CommandParser._print_message": "argparse calls it",
    "celadon.cli.playing.site_server": "`http.server` calls it",
    "celadon.goyaml.flow_parser.FlowParser": "PyYAML calls it",
    "celadon.kube.catalogue.plugin_facts.PluginFacts": "what the plugins must agree with",
    "celadon.pytest_plugin": "pytest calls it",
    "celadon.serve.outgoing.go_network": "httpcore calls it",
    "celadon.serve.transport.http_connection": "asyncio calls it",
    "celadon.webhook.handlers.trial_client.Asking": "the keywords of `TestClient`",
    "celadon.webhook.installation.selector_unions._Values._": "what follows is given by keyword",
}
"""Names, classes or modules that others than the product call, and who."""

_FUNCTION_BY_TEXT = re.compile(r"[a-z_.]+:([A-Za-z][A-Za-z_]+)")
_MEMBER_BY_TEXT = re.compile(r"(?:[A-Za-z]+=)?(?:[a-z_]+\.)*([a-z][a-z_]+)[?!]?")
_SHAPED = "celadon.cli.report."
"""Where shapes name members of records in texts (`celadon.cli.report.json_form`)."""


def test_every_name_is_used() -> None:
    used = set().union(*map(_asked_for, MODULES))
    public = set().union(*map(exported, PUBLIC))
    unused = {
        f"{module}.{path}"
        for module in MODULES
        for path in _unused(tree_of(module), used)
        if not public.intersection(path.split("."))
    }
    excused = {name for name in unused if any(f"{name}.".startswith(f"{one}.") for one in EXCUSED)}
    assert sorted(unused - excused) == []
    assert [one for one in EXCUSED if not any(f"{n}.".startswith(f"{one}.") for n in excused)] == []


def _asked_for(module: str) -> set[str]:
    """What the module imports, if it is no door, the attributes that it reads, and what is named in
    texts: functions as `module:function`, members of records in shapes."""
    nodes = list(ast.walk(tree_of(module)))
    imported = {
        name.name
        for node in nodes
        if isinstance(node, ast.ImportFrom) and not is_package(module)
        for name in node.names
    }
    texts = [node.value for node in nodes if isinstance(node, ast.Constant)]
    patterns = [_FUNCTION_BY_TEXT, *([_MEMBER_BY_TEXT] if module.startswith(_SHAPED) else [])]
    by_text = {
        found[1]
        for text in texts
        if isinstance(text, str)
        for pattern in patterns
        if (found := pattern.fullmatch(text))
    }
    return imported | by_text | {node.attr for node in nodes if isinstance(node, ast.Attribute)}


def _unused(scope: ast.Module | ast.ClassDef, used: set[str], prefix: str = "") -> Iterator[str]:
    """Functions, classes and variables of the module, and members of its classes, that no other
    statement of theirs names either."""
    named = [_named(statement) for statement in scope.body]
    namings = Counter(name for names in named for name in names)
    for statement, own in zip(scope.body, named, strict=True):
        for name in _defined(statement):
            if not (name.startswith("__") or name in used or namings[name] > (name in own)):
                yield f"{prefix}{name}"
        if isinstance(statement, ast.ClassDef):
            yield from _unused(statement, used, f"{prefix}{statement.name}.")


def _named(statement: ast.stmt) -> set[str]:
    return {
        node.id
        for node in ast.walk(statement)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)
    }


def _defined(statement: ast.stmt) -> list[str]:
    match statement:
        case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
            return [statement.name]
        case ast.Assign(targets):
            return [target.id for target in targets if isinstance(target, ast.Name)]
        case ast.AnnAssign(ast.Name(name)):
            return [name]
        case _:
            return []
