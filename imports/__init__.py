"""Chat histories of other programs: who wrote them, and taking them in as messages."""
