"""Why a test means nothing, or less than it seems.

`unmatched_reasons` says why a policy did not look at a request, by trying what little would have to
be different. `case_doubts` looks at one case and what came of it, `shared_doubts` at all cases of a
test together.
"""
