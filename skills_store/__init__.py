"""Folders of Markdown under git: read, check, index, change, approve, undo.

Knows no model, no session and no prompt; imports nothing of ours.  The way in is `skills_store.library.Library`.
"""
