"""Address books of other programs, vCard and Google CSV, and which of their entries are people who
are known."""
