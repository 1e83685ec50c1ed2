"""Builds everything once; the only reader of the environment; the only place that names concrete classes."""
