"""Which node a pod gets: what nodes there are and who is on them (`neighbours`), where it may run
(`filters`), where it runs best (`node_scores`), and who has to go for it (`preemption`).
"""
