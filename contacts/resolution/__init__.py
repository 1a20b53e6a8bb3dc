"""What tells whether two records of people are one person: names, ties, facts and claims.

Each module reads one side of it; :mod:`understanding.same_person.pair_scoring` weighs what they find. All pure.
"""
