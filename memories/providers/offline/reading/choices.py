"""Where the reader draws its lines. Those on sentences were chosen by their recall on authors whom the
heads had not seen; those on people on two authors' chats, which were looked at."""

# A sentence is quoted from this probability on that it tells something of a life: .99 of what is
# worth a memory, and .58 of what is not (held out by author, a corpus of which half is not) ...
KEEP = 0.05
# ... unless it is as likely as this to do something else.
OTHER = 0.85
# It is believed where it is less likely than this to do what need not be true, and its attributes
# are taken where it is as likely as this to be told as a fact.
UNTRUE, FACT = 0.4, 0.5
# As likely as this to be fiction or supposed, it puts nobody in a role.
IMAGINED = 0.3
# What a sentence does that tells nothing of a life, and whose words need not be true.
ELSEWHERE = ("ask", "request", "forget", "paste", "fiction", "joke")

# From which certainty of the tagger somebody new is a contact: by a name, by one that another turn
# or a role beside it bears out, or in a role to the user of whom something is told.
NAME, BORNE_OUT, ROLE = 0.8, 0.5, 0.7

# From which probability a memory is the user's own, whoever else it is about.
OWN = 0.5
