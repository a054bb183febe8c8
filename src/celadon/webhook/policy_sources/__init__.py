"""Where policies come from, and how a set of them is replaced by the next one as a whole."""
