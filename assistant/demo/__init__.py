"""`assistant demo`: a person, a scripted model, and everything else real.  Entry: `story.play`."""
