"""Values, ports and the loop.  Touches nothing outside itself; read `loop` first."""
