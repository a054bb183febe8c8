"""What the parts of a policy read: which inputs an alteration can show in."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from celadon.admission import PolicyFrame
from celadon.cel import syntax
from celadon.cli.policy_tests.altering.alterations import Alteration
from celadon.cli.policy_tests.telling_apart.combining.read_inputs import InputReader, Inputs

_Part = tuple[str, int]
"""A list of the policy, and the index of an item: its expressions belong together."""

_VARIABLES = "variables"


class PolicyInputs:
    """Of one policy. A part is a match condition, a validation with its message, an annotation or a
    mutation; variables belong to the parts that use them."""

    def __init__(self, compiled: PolicyFrame) -> None:
        roots: dict[_Part, list[syntax.Expr]] = {}
        for one in compiled.expressions:
            if one.program is not None:
                section, index = one.source.path.steps[1:3]
                roots.setdefault((str(section), int(index)), []).append(one.program.checked.root)
        names = list(compiled.variables)
        variables = {
            name: roots[_VARIABLES, i][0]
            for i, name in enumerate(names)
            if (_VARIABLES, i) in roots
        }
        reader = InputReader(variables)
        self._names = names
        self._parts = [
            (part, reader.inputs(found)) for part, found in roots.items() if part[0] != _VARIABLES
        ]

    def groups(self, alteration: Alteration) -> list[tuple[int, Inputs]]:
        """By number, what those parts read that the alteration can show in; all parts for what is
        about the policy as a whole."""
        section, index = (*alteration.path[1:3], "", "")[:2]
        numbered = list(enumerate(self._parts))
        if alteration.path[:1] == ("spec",) and section == _VARIABLES:
            name = f"{_VARIABLES}.{self._names[int(index)]}"
            return [(i, found) for i, (_, found) in numbered if name in found.names]
        own = [(i, found) for i, (part, found) in numbered if part == (section, index)]
        return own or [(i, found) for i, (_, found) in numbered]


def with_labels(inputs: Inputs, wanted: Mapping[str, Sequence[str]]) -> Inputs:
    """And labels of the object that selectors look at."""
    found = Inputs()
    found.add(inputs)
    for key, values in wanted.items():
        found.related.setdefault(("object", "metadata", "labels", key), []).extend(values)
    return found
