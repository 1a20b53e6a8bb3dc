"""Who remembers people: a benchmark of memories for chat assistants. Needs nothing but Python."""
