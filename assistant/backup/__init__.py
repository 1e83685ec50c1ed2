"""One file with everything that cannot be made again, except secrets.  Entries: `make.backup` and `restore.restore`."""
