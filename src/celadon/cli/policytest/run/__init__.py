"""One case of a test: asked, compared, doubted.

`case_judging` asks about it as `celadon check` would, `vacuity` says what the case may mean less
than it seems, `case_running` does it for all cases of a test, and `case_results` holds what came of
them, and how that differs from what was expected.
"""
