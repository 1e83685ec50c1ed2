"""The application: one person's assistant, in the terminal, the browser and other programs."""

__version__ = "0.1.0"
