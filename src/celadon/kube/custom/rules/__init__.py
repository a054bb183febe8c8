"""Validation rules of custom resources (`x-kubernetes-validations`): compiled and evaluated.

`rule_scopes` is what they may name, `compiled_rules` are the rules at one node, `rule_validation`
runs them over an object whose parts carry their schema (`typed_data`) and know what they were
before (`correlation`).
"""
