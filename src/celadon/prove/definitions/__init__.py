"""Proofs about CustomResourceDefinitions: what their rules can do, whether fields that are called
immutable are, and whether a new revision makes stored objects invalid.

Read `structural_values` first (an object by its structural schema), then `rule_looks` (rules over
such objects), then the questions: `rule_questions`, `transitions`, `revisions`.
"""
