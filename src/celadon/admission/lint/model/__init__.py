"""What is linted and what rules say: subjects, accesses, findings, the record of a rule."""
