"""Policies that change objects: MutatingAdmissionPolicies, what they evaluate to, what follows.

    engine = MutatingEngine(policies, bindings)
    rounds = engine.rounds(world, kinds)
    made = rounds.run(request, 0)             the object as the policies have left it
    if rounds.wants_another: …                all mutating plugins once more, then run(request, 1)

Matching, params, variables, match conditions and budgets are those of validating policies. Read
`mutating_engine`, then `compiled_mutations` and `patchers` (one mutation: a configuration that is
merged, or a JSON patch); `native_values`, `patch_json` and `go_values` say what values of the
language become outside of it, `mutation_refusals` what a client is told.
"""

from celadon.admission.mutating.mutating_engine import MutatingEngine, PolicyRounds
from celadon.admission.mutating.mutation_records import Change, MutationNotes
from celadon.admission.mutating.mutation_refusals import MutationFailure

__all__ = [
    "Change",
    "MutatingEngine",
    "MutationFailure",
    "MutationNotes",
    "PolicyRounds",
]
