"""May this happen?  Tables and pure functions: they answer with a verdict and never ask, wait or log."""
