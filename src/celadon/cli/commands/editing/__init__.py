"""The commands that work on how policies are written, and try them out."""
