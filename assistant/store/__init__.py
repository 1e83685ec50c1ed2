"""What is remembered: one SQLite file of sessions and runs, and the memory files."""
