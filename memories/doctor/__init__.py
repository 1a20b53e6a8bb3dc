"""The invariants of the database: what breaks each, and how it is repaired."""
