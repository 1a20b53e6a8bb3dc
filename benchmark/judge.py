"""A model as a judge of T3, by the OpenAI protocol: whether a text states something.

The key is read from ``JUDGE_KEY``. Answers depend on the model; name it beside its figures.
"""

import json
import os
from functools import cache
from urllib.request import Request, urlopen

TIMEOUT = 120  # seconds
_QUESTION = """Here is what an assistant was told about a user and the people in their life:

{text}

Does this state the following as true now, in any wording? What it only quotes as a joke, a guess, a \
plan that was dropped, or as what used to be, it does not state. Answer with yes or no alone.

{statement}"""


class Judge:
    def __init__(self, url: str, model: str) -> None:
        """``url`` is the base, such as https://example.org/v1."""
        self._url, self._model = f"{url.rstrip('/')}/chat/completions", model
        self.states = cache(self._states)

    def _states(self, text: str, statement: str) -> bool:
        """Whether the text states the statement. Raises ValueError for any other answer than yes or
        no, and OSError if the server does not answer."""
        question = {"role": "user", "content": _QUESTION.format(text=text, statement=statement)}
        body = {"model": self._model, "temperature": 0, "messages": [question]}
        key = os.environ.get("JUDGE_KEY", "none")
        headers = {"Authorization": f"Bearer {key}", "Content-Type": "application/json"}
        with urlopen(
            Request(self._url, json.dumps(body).encode(), headers), timeout=TIMEOUT
        ) as got:
            answer = json.load(got)["choices"][0]["message"]["content"]
        word = answer.strip().strip(".").lower()
        if word not in ("yes", "no"):
            raise ValueError(f"The judge answered {answer[:80]!r} instead of yes or no.")
        return word == "yes"
