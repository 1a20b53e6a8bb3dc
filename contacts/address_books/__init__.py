"""Address books of other programs: vCard and Google CSV in and out, and which of their entries are
people who are known."""
