"""Findings of lint: `lint_human` for people, `lint_statistics` in numbers, and `lint_data` and
`lint_ci` for programs."""
