"""One thin module per command: its arguments, its help, and the order of what it does."""
