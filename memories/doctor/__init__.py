"""The invariants of the database, each as a small named function that finds what breaks it.

A check returns one Finding for each thing that is wrong. Its fix repairs derived data with
the same verbs that made it; what a machine can't know how to repair is only reported.
"""

from memories.doctor import contacts, graph, index, isolation, kept_secrets, work
from memories.doctor.findings import Check, Fix

# In the order in which repairs rest on each other.
CHECKS: dict[Check, Fix | None] = {
    **isolation.CHECKS,
    **contacts.CHECKS,
    **index.CHECKS,
    **graph.CHECKS,
    **work.CHECKS,
    **kept_secrets.CHECKS,
}
