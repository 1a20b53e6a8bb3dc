"""Faults: real processes are killed, a disk fills, clocks jump. Nothing
may be lost or done twice, and everything must recover by itself. `make chaos` runs them; they
are too slow for `make test`, which finds no test_*.py here."""
