"""Admission of writes, in its order: `admission_chain`; `mutation_rounds` is its first half."""
