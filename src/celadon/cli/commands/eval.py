"""`celadon eval`: evaluate one CEL expression."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any, Final

from celadon.cli import output
from celadon.cli.exit_codes import Exit, WrongUseError
from celadon.cli.options import add_version, count
from celadon.cli.processes import garbage_later, leave
from celadon.cli.reading.documents import STDIN, DocumentReader, Problem, read_text
from celadon.cli.reading.json_text import read_json
from celadon.goyaml import UnreadableError
from celadon.kube.json_types import JsonDict

if TYPE_CHECKING:
    from celadon.cel import Environment


DESCRIPTION: Final = """\
Evaluate one CEL expression, with the functions that policies have in a release of Kubernetes.

Only the variables that are given exist; their types are dynamic, as in a policy.
"""

EPILOG: Final = """\
examples:
  celadon eval '1 + 1'
  celadon eval 'object.spec.replicas <= 5' --object deployment.yaml
  celadon eval 'names.exists(n, n.startsWith(prefix))' --var 'names=["a","b"]' --var 'prefix="b"'
  celadon eval 'quantity("1Gi").isGreaterThan(quantity("900Mi"))' --cost
  celadon eval '[1, 2, 3].map(x, x * 2)' --show-ast --show-python

exit codes:
  0  there is a value
  2  wrong usage, or an input that cannot be read
  3  the expression does not compile, or its evaluation failed
"""


def arguments(parser: argparse.ArgumentParser) -> None:
    """Everything `celadon eval --help` shows."""
    parser.add_argument("expression", metavar="EXPR", help="the expression; - reads it from stdin")
    parser.add_argument("--object", metavar="FILE", help="the manifest that is `object`")
    parser.add_argument("--old-object", metavar="FILE", help="the manifest that is `oldObject`")
    parser.add_argument("--params", metavar="FILE", help="the manifest that is `params`")
    parser.add_argument(
        "--var", action="append", default=[], metavar="NAME=JSON", help="a variable and its value"
    )
    parser.add_argument("--cost", action="store_true", help="show the cost that is charged")
    parser.add_argument(
        "--cost-limit",
        type=count,
        metavar="N",
        help="what evaluation may cost; 0: anything (default: 1000000, as in a policy)",
    )
    parser.add_argument("--show-ast", action="store_true", help="show the tree, types, overloads")
    parser.add_argument("--show-python", action="store_true", help="show the generated Python")
    add_version(parser)


_OF_POLICIES: Final = {
    "object": "--object FILE",
    "oldObject": "--old-object FILE",
    "params": "--params FILE",
    **{name: f"--var {name}=JSON" for name in ("request", "namespaceObject", "variables")},
}
"""The variables that policies have, and what gives them values here."""


def run(options: argparse.Namespace) -> Exit:
    """Bind, compile, evaluate, show."""
    with garbage_later():
        code = _run(options)
    if options.is_process:
        leave(code)
    return code


def _run(options: argparse.Namespace) -> Exit:
    from celadon.cel import CompileError, ProgramError, types
    from celadon.kube.library import PER_CALL_COST, environment

    expression = expression_of(options.expression)
    bound = bindings(options)
    if options.cost_limit is None:
        options.cost_limit = PER_CALL_COST
    env = environment(options.kubernetes_version).extend(dict.fromkeys(bound, types.DYN))
    try:
        return _evaluate(env, expression, options, bound)
    except CompileError as error:
        message = error.issues.display()
        output.complain(message)
        for name, option in _OF_POLICIES.items():
            if f"undeclared reference to '{name}'" in message:
                output.complain(f"  `{name}` has no value: give it one with `{option}`")
    except ProgramError as error:
        output.complain(f"error: {error}")
    return Exit.POLICY


def _evaluate(
    env: Environment, expression: str, options: argparse.Namespace, bound: JsonDict
) -> Exit:
    from celadon.cel import EvaluationError, print_checked
    from celadon.cel.value_functions import notation

    checked = env.compile(expression).checked()
    if options.show_ast:
        output.say(print_checked(checked))
    program = env.program(checked)
    if options.show_python:
        output.say(program.listing())
    try:
        limits = [options.cost_limit] if options.cost_limit else []
        value, cost = program.evaluate_metered(bound, *limits)
    except EvaluationError as error:
        output.complain(program.locate(bound, error).display())
        return Exit.POLICY
    try:
        output.say(notation(value))
    except EvaluationError:
        output.complain("error: the value is too long to be shown")
        return Exit.POLICY
    if options.cost:
        output.write(f"cost {cost}\n")
    return Exit.OK


# --- Variable options --------------------------------------------------------
#
# The expression and the variables of `celadon eval`, from its arguments.


def expression_of(argument: str) -> str:
    """Return the expression that the argument is, or what is on standard input. Raises
    WrongUseError."""
    if argument != STDIN:
        return argument
    text = read_text(argument)
    if isinstance(text, Problem):
        raise WrongUseError(f"{text.position()}: {text.message}")
    return text.content.removesuffix("\n")


def bindings(options: argparse.Namespace) -> JsonDict:
    """Names to values. Raises WrongUseError."""
    bound: JsonDict = {}
    files = {"object": options.object, "oldObject": options.old_object, "params": options.params}
    for name, file in files.items():
        if file is not None:
            bound[name] = _manifest(file)
    for text in options.var:
        name, value = _variable(text)
        bound[name] = value
    return bound


def _manifest(file: str) -> Any:  # noqa: ANN401 - any JSON
    text = read_text(file)
    if isinstance(text, Problem):
        raise WrongUseError(f"{text.position()}: {text.message}")
    documents = []
    for item in DocumentReader().read(text):
        if isinstance(item, Problem):
            raise WrongUseError(f"{item.position()}: {item.message}")
        documents.append(item)
    if len(documents) != 1:
        raise WrongUseError(f"{text.file}: one object is expected, there are {len(documents)}")
    return documents[0].value


def _variable(text: str) -> tuple[str, Any]:
    name, equals, value = text.partition("=")
    if not equals or not (name.isascii() and name.isidentifier()):
        raise WrongUseError(f"`--var {text}` is not of the form NAME=JSON")
    try:
        values = [item for _, _, item in read_json(value)]
    except UnreadableError as error:
        raise WrongUseError(
            f"`--var {name}` has no JSON value: {error.message}; text needs quotes: "
            f"`--var '{name}=\"text\"'`"
        ) from error
    if len(values) != 1:
        raise WrongUseError(f"`--var {name}` needs exactly one JSON value")
    return name, values[0]
