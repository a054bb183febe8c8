"""One case: `case_bench` asks about it as `celadon check` would, `case_outcomes` says what became
of it, `case_comparison` how that differs from what was expected.
"""
