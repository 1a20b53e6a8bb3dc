"""A message of which it is unsure whom it means, as JSON for a model, and whom it says."""

from accounts.reasons import Reason
from memories.providers.errors import OutputError
from memories.providers.openai.extraction import to_json
from memories.providers.openai.schemas import WhoOut
from memories.types import MeantPeople, ShownTurn, WhoRequest
from understanding.statements.secrets import masked
from understanding.text import clean

MAX_MESSAGE, MAX_TURN, MAX_LINE = 2000, 400, 200


class WhoPrompt:
    """The people with their short ids: what is sent, and how the answer is read."""

    def __init__(self, request: WhoRequest) -> None:
        self._request = request
        self._people = {f"p{number}": pk for number, (pk, _) in enumerate(request.people, 1)}

    def as_json(self) -> str:
        """What is asked about, as the model sees it."""
        lines = (line for _, line in self._request.people)
        return to_json(
            {
                "people": [
                    {"id": short, "about": clean(line, MAX_LINE)}
                    for short, line in zip(self._people, lines, strict=True)
                ],
                "turns": [self._turn(turn) for turn in self._request.turns],
                "message": masked(self._request.message)[:MAX_MESSAGE],
            }
        )

    def _turn(self, turn: ShownTurn) -> dict[str, str | bool]:
        shown: dict[str, str | bool] = {"role": turn.role, "text": masked(turn.text)[:MAX_TURN]}
        if turn.at:
            shown["at"] = f"{turn.at.astimezone(self._request.zone):%Y-%m-%d %H:%M}"
        if turn.earlier:
            shown["another_conversation"] = True
        return shown

    def read(self, out: WhoOut) -> list[MeantPeople]:
        """Whom the model says, each person once. Raises OutputError for an answer that names only
        people who were not shown."""
        found = dict[str, MeantPeople]()
        for item in out.meant:
            shown = [one for one in dict.fromkeys(item.ids) if one in self._people]
            if fresh := [one for one in shown if one not in found]:
                words = item.words if item.words in self._request.message else ""
                people = tuple(self._people[one] for one in fresh)
                found |= dict.fromkeys(fresh, MeantPeople(people, words, item.confidence))
        if not found and any(item.ids for item in out.meant):
            raise OutputError(Reason("answer_unusable", errors=["unknown_id"]))
        return list(dict.fromkeys(found.values()))
