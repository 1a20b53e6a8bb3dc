"""How a quote is shown: whose words they are, in quotation marks."""

from contacts.text import names_role, one_line

_USER = {"en": "the user", "zh": "用户"}
_COLON = {"en": ": ", "zh": "："}
MOST_SPEAKER = 60  # graphemes


def attributed(words: str, speaker: str, language: str) -> str:
    """``words`` as those of ``speaker``: the user: “…”."""
    name = one_line(speaker, MOST_SPEAKER)
    who = _USER[language] if speaker == "user" else f"“{name}”" if names_role(name) else name
    return f"{who}{_COLON[language]}“{words}”"
