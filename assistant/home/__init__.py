"""The folder of one person's assistant: where it is, what is where in it, its first start.  Entry: `place`."""

from assistant.home.first_start import find_git, find_template, prepare
from assistant.home.place import Home, cache_folder, find_home

__all__ = ["Home", "cache_folder", "find_git", "find_home", "find_template", "prepare"]
