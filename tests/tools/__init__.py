"""What the Makefile runs besides the commands."""
