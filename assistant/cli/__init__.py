"""The command tree: parses words, calls one function each.  Entries: `app.app` and `run.run`."""
