"""What comes and goes with a namespace: its account, what its pods trust, all that is in it."""
