"""The thresholds and confidences of who is named or referred to, and of the offline reader.

Probabilities are calibrated if a learned model gives them. Evidence that no model weighs has the
confidence below, counted on the corpus or, if it could not be counted, chosen.
"""

# From here on a mention counts, named or not. On held-out authors as many cases are exact from 0.4
# to 0.7; a higher threshold loses a seventh of the wrong mentions and a twentieth of the right.
MENTION_THRESHOLD = 0.5
# From here on a mention is a name; a role word with less may still be an anaphor (医生).
NAMED = 0.8
# From here on a known name decides the edges of the tagger's spans, and counts alone if the tagger
# found nobody.
KNOWN_EDGES, KNOWN_ALONE = 0.7, 0.4
# Below these, words of a kind introduce nobody new.
LEAST = {"name": 0.35, "role": 0.5}
# From here on somebody new is a contact: by a name, by one that another turn or a role beside it
# supports, or by a role for the user with a statement about them. A name alone then is found in
# three of four sentences with rare Chinese names (tests/understanding/people/test_rare_names.py),
# and hardly ever in messages that mention nobody.
CONTACT_NAME, CONTACT_BORNE_OUT, CONTACT_ROLE = 0.65, 0.4, 0.7
# Thresholds of a pronoun: to learn a gender or name, to read facts, to be noted in a quote.
TELLS_GENDER, CERTAIN, NOTE_THRESHOLD = 0.6, 0.9, 0.95

# Confidence of evidence that no model weighs.
# A short form that the table of names lists, written as a name: the corpus has too few for the
# model to learn that Bill is one. One of several names (Sam: Samuel, Samantha) is less sure.
LISTED, SHARED = 0.6, 0.55
# The weight (text_overlap) from which words on one card alone decide between namesakes: that of a
# word that is not among the commonest.
CLUE = 0.6
FADES = 0.8  # factor per message that does not mention a person whom the conversation was about
REFERENCE = 0.85  # a phrase of the user's own that only one person has
RELATIVE = 0.85  # a known relative whose owner is named: measured on the corpus
OWNED_ROLE_CONFIDENCE = 0.9  # a role word right after its owner refers to a person of that owner
ANSWER_CONFIDENCE = 0.6  # an answer is about the person of its question
CONTINUED_CONFIDENCE = 0.8  # a sentence without people is about those of the sentence before
