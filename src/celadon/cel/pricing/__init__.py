"""What calls cost and how large their results grow: the rules that records of functions hold."""
