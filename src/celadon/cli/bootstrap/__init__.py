"""`celadon simulate-bootstrap`: finds out whether policies can lock a cluster out.

The tables in `steps/` are what happens while a cluster comes up and runs: requests, who sends them,
what must have happened before, and what follows if it does not. `cluster_startup` reads them, adds
what the given policies and webhooks need themselves, judges requests as `celadon check` does, in as
many rounds as change anything, and finds the shortest way from a refusal to what it keeps from
happening, and whether somebody can still take away what refuses. `bootstrap_report` is what is said
of it. Decision 0028 says what is modelled and what is not.
"""
