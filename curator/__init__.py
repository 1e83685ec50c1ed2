"""Judgement about what is worth keeping: after a turn (`curator.review`) and once a week (`curator.upkeep`).

Owns the policy and asks for a turn through a port; imports `skills_store` and `prompts`, never `assistant`.
"""
