"""Policies of Gatekeeper: constraint templates, constraints, and the suites that test them."""
