"""The language room: the Common Expression Language, compiled to Python.

Knows nothing of Kubernetes and needs nothing but the standard library.

    env = Environment({"object": types.DYN})
    program = env.program(env.compile("object.spec.replicas <= 5").checked())
    program.evaluate({"object": {"spec": {"replicas": 3}}})    # True

Read first: `syntax` (the tree), `declarations` (what a function is), `environment` (the phases in
their order). The generators are explained in `codegen`.
"""

from celadon.cel import syntax, types
from celadon.cel.analysis.tree_context import mapped_element
from celadon.cel.declarations import Switches
from celadon.cel.environment import Compilation, Environment
from celadon.cel.errors import (
    CelError,
    CompileError,
    CostLimitExceeded,
    EvaluationError,
    Issue,
    IssueKind,
    Issues,
    ProgramError,
)
from celadon.cel.parsing.tokens import RESERVED
from celadon.cel.parsing.unparser import print_checked, unparse
from celadon.cel.program import Program
from celadon.cel.syntax import Ast, CheckedAst
from celadon.cel.values.conversions import to_cel
from celadon.cel.values.runtime_types import AttributePattern, Unknown

__all__ = [
    "RESERVED",
    "Ast",
    "AttributePattern",
    "CelError",
    "CheckedAst",
    "Compilation",
    "CompileError",
    "CostLimitExceeded",
    "Environment",
    "EvaluationError",
    "Issue",
    "IssueKind",
    "Issues",
    "Program",
    "ProgramError",
    "Switches",
    "Unknown",
    "mapped_element",
    "print_checked",
    "syntax",
    "to_cel",
    "types",
    "unparse",
]
