"""From a review to its answer: the policies, the world they look at, what becomes of a verdict."""
