"""The rules, a module per family of codes; `linter`, above, has them all in one table."""
