"""Turns over time: who runs them, what they may do, how they end, and what a dead process left."""
