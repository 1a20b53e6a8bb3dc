"""What stands beside a word in Latin letters."""

from contacts.matching.annotation import Reading, Token


class Neighbours:
    """The words of one text by their number, and those beside them in the same phrase."""

    def __init__(self, reading: Reading) -> None:
        self._reading = reading

    def token(self, index: int) -> Token | None:
        return self._reading.tokens[index] if 0 <= index < len(self._reading.tokens) else None

    def gap(self, index: int) -> str:
        """What stands between token ``index`` and the next."""
        tokens = self._reading.tokens
        return self._reading.norm[tokens[index].end : tokens[index + 1].start]

    def before(self, first: int) -> Token | None:
        """The word before in the same phrase: nothing but a space between."""
        if first == 0 or self.gap(first - 1) not in (" ", "'s ", "' ", "-"):
            return None
        return self.token(first - 1)

    def after(self, last: int) -> Token | None:
        if last + 1 >= len(self._reading.tokens) or self.gap(last) not in (" ", "'s ", "' "):
            return None
        return self.token(last + 1)

    def starts_sentence(self, first: int) -> bool:
        start = self._reading.tokens[first].start
        left = self._reading.norm[max(0, start - 8) : start].rstrip(" \"'“‘(*_>-")
        return (
            not left
            or left[-1] in ".!?。！？\n:：;；…"
            or self._reading.norm.startswith("\n", start - 1)
        )
