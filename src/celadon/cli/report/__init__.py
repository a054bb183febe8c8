"""Reports as text: one model of what a report says, one renderer for each form.

`report_model` comes first: findings, cases, pages, and the table of forms. Each command has a view
of its report (`check_view`, `audit_view`, ...), which says what is in it. `sarif_junit_tap` and
`html_pages` turn that into text, for all commands alike, and are loaded when they are needed.
"""
