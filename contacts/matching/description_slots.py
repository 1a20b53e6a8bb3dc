"""What a description may say of someone: the attributes of each kind of clause, and the nouns
that one may be of."""

from contacts.lexicon import rows

# The attributes that a thing said of someone may stand under.
PLACE = ("location", "hometown", "work_location")
WORK = ("company", "location", "work_location", "industry", "school")
JOB = ("job_title",)
SCHOOL = ("school", "education", "location")
ORIGIN = ("hometown", "location")
PET = ("pet",)
LIKING = ("interests", "likes", "habit", "skill")
DOING = (*LIKING, "job_title", "major", "possession", "vehicle", "language", "plan")
ANY = ("company", "school", "location", "hometown", "job_title", "interests", "likes", "pet",
       "personality", "major", "diet", "zodiac", "skill", "language", "vehicle", "work_location")  # fmt: skip


def heads(language: str) -> dict[str, str]:
    """Nouns that a description may be of when it has no role word, with the gender they imply."""
    return {
        row["word"]: row["gender"]
        for row in rows("heads")
        if row["language"] == language and "described" in row["uses"].split()
    }
