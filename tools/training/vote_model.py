"""Whom do memories speak for? Learns what tells that a message means somebody by what is known of
them (``memories.context.memory_vote``).

The gold memories of an author's chats are what their user's Mio knows. Asked are the descriptions
and look-alikes, and the sentences that tell of nobody, which are what most messages are.

The descriptions are of one writer, so nothing is learned from how they differ from the sentences
alone: what tells that a message is of somebody is learned from the sentences of the authors too.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from sklearn.feature_extraction import DictVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from accounts.models import App, EndUser
from accounts.scope import all_users
from contacts import store
from contacts.models import Contact
from memories.context import memory_vote
from memories.models import Link, Memory
from memories.models.memory import content_hash
from memories.providers.factory import embedder
from memories.search import recall, relevance
from memories.search.query_vectors import QueryVectors
from memories.search.recall import SearchRequest
from memories.search.tokens import tokenise
from tools.bench.scratch import scratch_database
from tools.training import by_author
from tools.training.by_author import Authors, Case
from understanding.learned import MODELS, Logistic
from understanding.names import name_key

WEIGHTS = MODELS / "vote_model.json"
FILES = ["descriptions", "extraction", "sentences"]
# Inverse strengths of the L2 penalties: of the vote 0.1 to 1 do alike.
_C, _HEAD_C = 1.0, 20.0
# A vote counts from where on so many are right, on authors that were held out.
PRECISION = 0.9
_FEWEST = 20
# What speaks of somebody to keep in mind; fiction, jokes and pasted text don't.
_OF_LIFE = frozenset({"state", "correct", "ask", "request", "forget"})
LIMIT = 10


def train(*, write: bool) -> None:
    """Prints how the vote does on authors that it was not shown, and the learning curve."""
    data = asked()
    voted: dict[str, list[tuple[float, bool]]] = {}
    for name, learned in by_author.held_out(data, fit):
        voted[name] = [best(learned, case) for case in data[name]]
    threshold = threshold_of([one for name in data for one in voted[name]])
    print(by_author.table({name: figures(data[name], voted[name], threshold) for name in data}))
    every = [case for cases in data.values() for case in cases]
    said = [one for name in data for one in voted[name]]
    print("pooled", figures(every, said, threshold), "threshold", threshold)
    print(by_author.reliability([p for p, _ in said], [right for _, right in said]))
    print(
        "recall by authors learned from",
        by_author.learning_curve(
            data,
            fit,
            lambda learned, cases: figures(cases, [best(learned, c) for c in cases], threshold)[
                "recall"
            ],
        ),
    )
    if write:
        head, vote = fit(data)
        by_author.write(
            WEIGHTS,
            FILES,
            "python -m tools train vote_model --write",
            {
                "threshold": threshold,
                "bias": round(vote.bias, 4),
                "weights": {name: round(x, 4) for name, x in sorted(vote.weights.items())},
                "of_others": {
                    "bias": round(float(head.intercept_[0]), 4),
                    "weights": [round(float(x), 3) for x in head.coef_[0]],
                },
            },
        )


Models = tuple[LogisticRegression, Logistic]


def asked() -> Authors:
    """What is asked of each author's memories: ``meant``, whom the message means, None where it
    is for the head alone; ``of_others``, whether it tells of somebody; its ``vectors``; and the
    ``features`` of the candidates by name, without the head's."""
    descriptions, sentences = by_author.authors("descriptions"), by_author.authors("sentences")
    with scratch_database(), all_users():
        app = App.objects.create(name="vote")
        return {
            name: _of_author(app, name, chats, descriptions[name], sentences[name])
            for name, chats in by_author.authors("extraction").items()
        }


def _of_author(
    app: App, name: str, chats: list[Case], descriptions: list[Case], sentences: list[Case]
) -> list[Case]:
    user, names = user_of(app, name, chats)
    cases: list[Case] = [
        {"text": case["message"], "of_others": bool(case["expect"]), "meant": case["expect"]}
        for case in descriptions
    ]
    for case in sentences:
        people = any(span["kind"] != "trap" for span in case["spans"])
        nobody = not people and "previous" not in case["about"]
        cases.append(
            {
                "text": case["text"],
                "of_others": people and case["act"] in _OF_LIFE,
                "meant": [] if nobody else None,
            }
        )
    for case in cases:
        embedding = QueryVectors(embedder(), case["text"])
        case["vectors"] = embedding.wait()
        case["features"] = {}
        if case["meant"] is None:
            continue
        hits = recall.search(
            user,
            SearchRequest(
                case["text"], limit=LIMIT, heal=False, floor=relevance.FLOOR, with_people=True
            ),
            embedder=embedder(),
            embedding=embedding,
        )
        found = memory_vote.features(case["text"], hits, case["vectors"])
        case["features"] = {names[str(pk)]: one for pk, one in found.items()}
    return cases


def user_of(app: App, name: str, chats: Sequence[Case]) -> tuple[EndUser, Mapping[str, str]]:
    """An end user who knows the gold memories of an author's chats, linked to whom they are about;
    the names of these by their ids."""
    user = EndUser.objects.create(app=app, external_id=name)
    told = {content_hash(m["content"]): m for chat in chats for m in chat["gold"]["memories"]}
    names = {name_key(m["person"]): m["person"] for m in told.values() if m["person"]}
    people = {
        key: Contact(end_user=user, name=person, name_key=key, mention_count=0)
        for key, person in names.items()
    }
    store.create_all(user, list(people.values()))
    embedded = embedder().embed_passages([memory["content"] for memory in told.values()])
    rows = [
        Memory(
            end_user=user,
            content=memory["content"],
            content_hash=key,
            tokens=tokenise(memory["content"]),
            type=memory["type"],
            subtype=memory["subtype"],
            embedding=vector,
            embedding_model=embedder().space,
        )
        for (key, memory), vector in zip(told.items(), embedded, strict=True)
    ]
    Memory.objects.bulk_create(rows)
    Link.objects.bulk_create(
        Link(
            end_user=user,
            contact=people[name_key(memory["person"])],
            memory=row,
            made_by=Link.MadeBy.EXTRACTOR,
        )
        for row, memory in zip(rows, told.values(), strict=True)
        if memory["person"]
    )
    return user, {str(people[key].pk): person for key, person in names.items()}


def fit(data: Authors) -> Models:
    """The head and the vote learned from some authors. The vote learns from what the head says
    of authors that it was not shown, as it will be in use (stacking: Wolpert 1992)."""
    head = _head([case for cases in data.values() for case in cases])
    rows: list[dict[str, float]] = []
    right: list[bool] = []
    for fold in by_author.folds():
        held = [case for name in fold for case in data.get(name, ())]
        rest = [case for name, cases in data.items() if name not in fold for case in cases]
        if not held:
            continue
        other = _head(rest)
        for case in held:
            for person, found in _weighed(other, case).items():
                rows.append(found)
                right.append(person in case["meant"])
    table = DictVectorizer(sparse=False)
    learned = make_pipeline(StandardScaler(), LogisticRegression(C=_C, max_iter=2000))
    learned.fit(table.fit_transform(rows), right)
    scaler, vote = learned[0], learned[1]
    weights = vote.coef_[0] / scaler.scale_
    names = table.get_feature_names_out()
    bias = float(vote.intercept_[0] - weights @ scaler.mean_)
    return head, Logistic(bias, dict(zip(names, map(float, weights), strict=True)))


def _head(cases: Sequence[Case]) -> LogisticRegression:
    matrix = np.array([np.mean(case["vectors"], axis=0) for case in cases])
    return LogisticRegression(C=_HEAD_C, max_iter=2000).fit(
        matrix, [case["of_others"] for case in cases]
    )


def _weighed(head: LogisticRegression, case: Case) -> dict[str, dict[str, float]]:
    """The features of a case's candidates with what the head says."""
    if not case["features"]:
        return {}
    said = float(head.decision_function(np.asarray(case["vectors"])).max())
    return {person: one | {"of_others": said} for person, one in case["features"].items()}


def best(models: Models, case: Case) -> tuple[float, bool]:
    """How likely the likeliest candidate is, and whether it is meant."""
    head, vote = models
    likely = {person: vote.probability(one) for person, one in _weighed(head, case).items()}
    person = max(likely, key=lambda one: likely[one], default=None)
    return (0.0, False) if person is None else (likely[person], person in case["meant"])


def threshold_of(voted: Sequence[tuple[float, bool]]) -> float:
    """The lowest probability from which on ``PRECISION`` are right."""
    order = sorted(voted, key=lambda one: -one[0])
    right = np.cumsum([one[1] for one in order]) / np.arange(1, len(order) + 1)
    enough = [at for at in range(_FEWEST, len(order)) if right[at] >= PRECISION]
    # Rounded up, so that none below it is voted for.
    return float(np.ceil(order[enough[-1] if enough else 0][0] * 1000) / 1000)


def figures(
    cases: Sequence[Case], voted: Sequence[tuple[float, bool]], threshold: float
) -> dict[str, Any]:
    """Of those who are described, how many are voted for; how many votes are right; and how many
    votes messages that mean nobody get, in a hundred."""
    given = [(one, case) for one, case in zip(voted, cases, strict=True) if one[0] >= threshold]
    described = sum(bool(case["meant"]) for case in cases)
    nobody = sum(case["meant"] == [] for case in cases)
    right = sum(one[1] for one, _ in given)
    return {
        "recall": right / described,
        "precision": right / len(given) if given else None,
        "wrong in 100": 100 * sum(case["meant"] == [] for _, case in given) / nobody,
    }
