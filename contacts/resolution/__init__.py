"""What tells whether two records of people are one person: names, ties, facts and claims.

Each module reads one side of it; :mod:`contacts.resolution.pair_scoring` weighs what they find. All pure.
"""
