"""What the model may do: typed functions with a declared effect."""
