"""Which changes of a policy its tests notice, and what would notice the others.

`policy_stages` are the tests of a policy, `altered_benches` where their cases meet a changed one;
`glances` are what is looked at first. What no case notices may be proved to make no difference
(`equality_proofs`), or is searched for a request that tells the two apart (`difference_search`,
with requests of `request_pool`, then all `combining`), from which a case is made (`killing_cases`).
`alteration_runs` does all of it.
"""
