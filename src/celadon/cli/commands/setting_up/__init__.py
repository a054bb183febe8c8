"""The commands that are used once: they set up a project, or a shell."""
