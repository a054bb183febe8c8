"""Tests of policies (`celadon test`): cases, asked as `celadon check` asks, and compared.

Read `case_results` first: a test with its cases, what a case expects, what came of it. `file_tests`
makes tests of files of our own kind, `importers` of those of other tools. `case_running` has all
cases judged (`case_judging`), and `vacuity` says which of them mean less than they seem. `coverage`
says what there is to reach. `mutants` changes policies one thing at a time, and finds what notices
that. A first test is searched for by `case_search`: `value_search` says which values would make
expressions true or false, `referenced_fields` what the expressions read and compare with.
"""
