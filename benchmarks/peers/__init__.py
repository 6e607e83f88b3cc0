"""The peers, each in its best layout and at the same boundary as we are."""
