"""Admission of writes: `admission_chain` is what a write asks, `chain_driver` drives the chain."""
