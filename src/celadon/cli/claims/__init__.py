"""`celadon prove --property`, `--implies` and `--implied-by`: what is claimed of policies.

`property_files` reads claims, `claim_run` asks them, `claim_report` is what came out.
"""
