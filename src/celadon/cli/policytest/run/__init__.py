"""One case of a test: asked, compared, doubted.

`case_judging` asks about it as `celadon check` would, `case_comparison` says how the outcome
differs from what was expected, `vacuity` what the case may mean less than it seems (`vacuities` has
the names), `case_running` does it for all cases of a test and `case_results` holds what came of
them.
"""
