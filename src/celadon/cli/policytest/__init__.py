"""What `celadon test` does: cases for policies, asked as `celadon check` asks, and compared.

Read `run.case_results` first: a test with its cases, what a case expects, what came of it. `files`
makes tests of files of our own kind, `importers` of those of other tools. `run` judges a case,
compares, and looks for what it may mean less than it seems. `coverage` counts what was reached,
`mutants` changes policies one thing at a time, `distinguishing` finds what notices that, and
`scaffolding` searches for a first test.
"""
