"""Every number of pronoun resolution in one place: feature -> weight, with its source.

[C] centering theory and its ranking of roles (Grosz, Joshi & Weinstein 1995); [H] recency,
Hobbs 1978 and the counts since; [S] Stevenson, Crawley & Kleinman 1994 on who is spoken of
next; [T] topic chains and presentatives, Li & Thompson 1981, ch. 17 and 24; [D] tuned on
development conversations.
"""

from typing import Final

# A candidate's score is the sum of what holds of it.
SCORE: Final = {
    # Weight of one spoken of in this turn; each turn back leaves DECAY of it. [H]
    "recency": 4.0,
    # Subjects stay the topic, then possessors ("his car was …"), then objects. [C]
    "subject": 1.0,
    "possessor": 0.7,
    "object": 0.4,
    "oblique": 0.3,
    # The receiver of a thing or of news is who the next sentence is about. [S]
    "goal": 1.3,
    # "There was a man who …": put on the stage in order to be spoken of. [T]
    "presented": 0.7,
    # Known to be of the pronoun's gender. Of the other gender: no candidate at all.
    "gender": 0.2,
    # Each word shared with what was said of them, up to two; of a description, up to three. [D]
    "clue": 0.7,
    "described": 1.6,
    # Spoken of in more than one turn. [C]
    "topic": 0.15,
    # "No, not her", "X doesn't go, Y does": off the table.
    "denied": -3.0,
    # "I told X not to worry: he …": the one spoken to is seldom the one spoken of. [D]
    "addressee": -1.5,
    # "The doctor said …": the source of the news, in the same breath. [D]
    "source": -1.5,
    # "So does X": said in passing; the topic stays. [C]
    "in_passing": -1.0,
    # A pet is "it" to most, and she or he when nobody else fits. [D]
    "pet": -0.8,
}  # fmt: skip
DECAY: Final = 0.8

# Nearer than this, and alike in turn and role, two can't be told apart: all are meant. [D]
TIE: Final = 0.35
# A denied one is meant only when this much speaks for it all the same.
DENIED_AT_LEAST: Final = 2.5
# By how much the best of the last session must lead there.
CLEAR_ACROSS_SESSIONS: Final = 0.25

# A mention this sure is a name; a role word found as less may still point back (医生).
NAME_FROM: Final = 0.8

# What is read at most: turns, and of each its beginning.
HISTORY_TURNS: Final = 12
LAST_SESSION_TURNS: Final = 8
MESSAGE_CHARACTERS: Final = 2000
HISTORY_CHARACTERS: Final = 600
# How far on either side within a clause words are said of someone; few clauses are so long.
CLUE_REACH: Final = 50
# How many turns back a form reaches ("gathered": people spoken of one after the other).
REACH: Final = {
    "demonstrative": 8, "role": 6, "renjia": 4, "other": 4, "gathered": 4, "zero": 2,
}  # fmt: skip

# Confidence by what points back, and how much less for each thing left to guess. [D]
CONFIDENCE: Final = {
    "personal": 0.9, "reflexive": 0.9, "former": 0.85, "latter": 0.85, "kin": 0.85, "you": 0.8,
    "demonstrative": 0.8, "ahead": 0.8, "role": 0.75, "other": 0.7, "renjia": 0.7, "zero": 0.65,
}  # fmt: skip
LESS: Final = {
    "several": 0.35, "last session": 0.15, "rivals": 0.1, "gathered": 0.1, "far": 0.1,
    "gender": 0.05,
}  # fmt: skip
# A rival this near makes the choice less sure; a referent this many turns back, too.
RIVAL_WITHIN: Final = 1.0
FAR_FROM: Final = 5

# Does a Chinese sentence leave out a person as its subject? Cue -> weight. [T, D]
ZERO: Final = {
    "reported": 2.0,  # 说是…, 嫌…: somebody else's words
    "asked_of_person": 2.0,  # 生日是哪天来着, 最近怎么样了
    "answers_about_them": 2.0,  # after the assistant asked about the person
    "personal_noun": 1.5,  # 血压有点高
    "predicate_first": 1.0,  # 发烧到三十九度
    "users_plan": -1.0,  # 得熬夜, 想推掉
    "question": -1.0,  # most questions are for the assistant
    "own_feeling": -1.5,  # 头疼, 好难过: the user's, unless it answers or goes on
    "noun_first": -1.0,  # its own subject, unless it answers a question
    "answers_about_you": -2.0,  # after the assistant asked about the user
}
# Enough when the person was the last subject; otherwise one more is needed.
ZERO_FROM: Final = 1.0
ZERO_NOT_SUBJECT: Final = 1.0
# What begins with a noun and is longer is no mere answer.
ANSWER_CHARACTERS: Final = 24
