"""The decisions of the simulated controllers, as pure functions: from what they see and the time to
the steps that come next.

Read `plans` first, then one kind at a time. All of them are pure functions; what drives them stands
outside of this room, mostly in `simulated_controllers`.
"""
