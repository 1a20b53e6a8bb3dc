"""How sure is sure: one table for who is named, who is meant, and what the offline reader writes.

Probabilities are calibrated where a learned model gives them. What no model weighs has the
confidence that stands here, counted on the corpus or, where nothing counts it, chosen.
"""

# Somebody is meant, named or otherwise. Exact cases are as many from 0.4 to 0.7 on authors held
# out; a higher bound trades a seventh of the wrong mentions for a twentieth of the right.
MEANT = 0.5
# A mention is by name; a role word found as less may still point back (医生).
NAMED = 0.8
# A known name says where a span of the tagger begins and ends, and counts where the tagger saw
# nobody.
KNOWN_EDGES, KNOWN_ALONE = 0.7, 0.4
# Below, the words of a kind bring in nobody new.
LEAST = {"name": 0.35, "role": 0.5}
# Somebody new is a contact: by a name, by one that another turn or a role beside it bears out, or in
# a role to the user of whom something is told. At this bound a name alone is taken in three of four
# sentences with rare Chinese names (tests/understanding/people/test_rare_names.py), and hardly ever
# in messages that speak of nobody.
CONTACT_NAME, CONTACT_BORNE_OUT, CONTACT_ROLE = 0.65, 0.4, 0.7
# A pronoun tells a gender or a name, lets facts be taken, and is noted in a quote.
TELLS_GENDER, CERTAIN, NOTED = 0.6, 0.9, 0.95

# Confidence of signs that no model weighs.
# A short form that the table of names lists, written as a name: the corpus has too few for the
# model to learn that Bill is one. One of several names (Sam: Samuel, Samantha) is less sure.
LISTED, SHARED = 0.6, 0.55
# The weight of words on one card alone (text_overlap) from which they say which namesake is meant:
# that of a word that is not among the commonest.
CLUE = 0.6
FADES = 0.8  # what each message without somebody leaves of the confidence that they are talked of
REFERENCE = 0.85  # a phrase of the user's own for somebody that one person alone has
RELATIVE = 0.85  # a known relative whose owner is named: measured on the corpus
FOLLOWS = 0.9  # a role word right behind whose it is means a person of theirs
ANSWERS = 0.6  # an answer is about whom the question was about
GOES_ON = 0.8  # a sentence that speaks of nobody goes on about whom the one before it is about
