"""Cases to results: `case_running` has them in a row.

`case_bench` asks about one case, `case_outcomes` says what became of it, `case_comparison` how that
differs from what was expected.
"""
