"""`celadon lint`: files to findings (`lint_run`), configured, silenced by comments, fixed."""
