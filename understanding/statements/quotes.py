"""How a quote is shown: whose words they are, in quotation marks."""

from understanding.text import one_line

_SAID = {"en": "{} said “{}”", "zh": "{}说“{}”"}
_USER = {"en": "the user", "zh": "用户"}
MOST_SPEAKER = 60  # graphemes


def attributed(words: str, speaker: str, language: str) -> str:
    """``words`` as those of ``speaker``: the user said “…”."""
    who = _USER[language] if speaker == "user" else one_line(speaker, MOST_SPEAKER)
    return _SAID[language].format(who, words)
