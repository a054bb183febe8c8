"""The rules, a module per family of codes; `rule_table` has them all."""
