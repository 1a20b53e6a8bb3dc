"""The end user's own page: who and what is known, and every correction of it, by an address alone.

No operator's session, no cookie and no script: the address says whose page it is, and the scope of
row-level security is that end user for all that a request does.
"""
