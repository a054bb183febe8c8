"""Evaluation while some inputs are unknown: `partial_evaluation`, and what is left (`residual`)."""
