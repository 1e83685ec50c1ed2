"""People: the terminal chat, one-shot asking, and how a run is shown.  Knows one port, `Runs`; read `page` first."""
