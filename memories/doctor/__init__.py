"""Checks the invariants of the database and repairs violations."""
