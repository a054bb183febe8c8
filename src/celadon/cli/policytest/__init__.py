"""What `celadon test` does: cases for policies, asked as `celadon check` asks, and compared.

Read `policy_test` first: a test with its cases, all documents in hand. `expectations` is what a
case expects, `case_results` what came of it. `found_tests` finds the files; `written_tests` makes
tests of those of our own kind, `foreign_tests` of those of other tools. `case_running` runs them:
`running` judges a case and compares, `vacuity` looks for what it may mean less than it seems
(`vacuities` has the names).
"""
