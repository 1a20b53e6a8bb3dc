"""What the queue runs: each takes ids, does one pipeline call, and may run twice. Each says in
whose scope: that of the end user it is about, or of all."""

import time
from collections.abc import Callable
from functools import wraps
from typing import Concatenate, ParamSpec
from uuid import UUID

from accounts import cells
from accounts.cells import atomic
from accounts.models import Change, EndUser
from accounts.scope import all_users, user_scope
from contacts import store
from contacts.models import Contact
from memories import demo
from memories.corrections import auto_merge, derived
from memories.erasure.erase import carry_out
from memories.jobs import job_runs, runner
from memories.models import JobRun
from memories.pipeline import backfill, buffer, catch_up, run
from memories.pipeline import read_facts as facts
from memories.pipeline.store_memories import embed_missing
from memories.providers.factory import embedder
from memories.queue import enqueue

# Seconds after which a task leaves the rest of its user's work to another, behind all that
# waits meanwhile.
TURN = 30.0

P = ParamSpec("P")


def of_user(task: Callable[Concatenate[int, P], None]) -> Callable[Concatenate[int, P], None]:
    """A task on the end user whose id it takes first."""

    @wraps(task)
    def scoped(end_user_id: int, *args: P.args, **kwargs: P.kwargs) -> None:
        with user_scope(end_user_id):
            task(end_user_id, *args, **kwargs)

    return scoped


@of_user
def extract(end_user_id: int) -> None:
    """Extracts what is due for an end user, then consolidates when that is due."""
    until = time.monotonic() + TURN
    while run.extract_next(end_user_id):
        if time.monotonic() > until:
            enqueue("extract", end_user_id)
            return
    end_user = EndUser.objects.filter(pk=end_user_id).first()
    if end_user is not None and buffer.consolidation_due(end_user):
        enqueue("consolidate", end_user_id)


@of_user
def consolidate(end_user_id: int) -> None:
    until = time.monotonic() + TURN
    if run.consolidate_user(end_user_id, until) and time.monotonic() > until:
        enqueue("consolidate", end_user_id)
        return
    catch_up.follow_all(end_user_id)


@of_user
def process(end_user_id: int) -> None:
    """Extracts all that waits for an end user, due or not, then consolidates."""
    until = time.monotonic() + TURN
    while run.extract_next(end_user_id, everything=True):
        if time.monotonic() > until:
            enqueue("process", end_user_id)
            return
    read_facts(end_user_id)
    consolidate(end_user_id)


@of_user
def read_facts(end_user_id: int) -> None:
    """Reads the facts of what was written as memories."""
    until = time.monotonic() + TURN
    for memory in facts.waiting(end_user_id):
        if not facts.read(end_user_id, memory):
            return
        if time.monotonic() > until:
            enqueue("read_facts", end_user_id)
            return


@of_user
def reread(end_user_id: int) -> None:
    """Reads memories that were corrected, and brings the profiles of their people in step."""
    read_facts(end_user_id)
    consolidate(end_user_id)


@all_users()
def load_demo() -> None:
    demo.load()


@of_user
def embed(end_user_id: int) -> None:
    """Embeds what a correction left without a vector."""
    until = time.monotonic() + TURN
    end_user = EndUser.objects.filter(pk=end_user_id).first()
    if end_user is None:
        return
    if embed_missing(end_user, embedder(), until) and time.monotonic() > until:
        enqueue("embed", end_user_id)


@of_user
def render_cards(end_user_id: int) -> None:
    """Renders all cards anew, when the end user has changed their language."""
    for contact in Contact.objects.of(end_user_id).standing().values_list("pk", flat=True):
        contact_changed(str(contact))


@all_users()
def contact_changed(contact_id: str) -> None:
    """Renders a contact's card and profile memory, and links the memories that name it now."""
    if (end_user := _follow(UUID(contact_id))) is not None:
        embed_missing(end_user, embedder())


@all_users()
def contacts_created(change_id: str, start: str = "0") -> None:
    """The same for all contacts that a change made or added to, from place ``start`` on; they are
    embedded together."""
    until = time.monotonic() + TURN
    change = Change.objects.filter(pk=UUID(change_id)).select_related("end_user").first()
    if change is None or change.undone_at:
        return
    for place, contact_id in enumerate(change.subjects[int(start) :], int(start) + 1):
        _follow(UUID(contact_id))
        if time.monotonic() > until and place < len(change.subjects):
            enqueue("contacts_created", change_id, str(place), end_user_id=change.end_user_id)
            return
    if embed_missing(change.end_user, embedder(), until) and time.monotonic() > until:
        enqueue("embed", change.end_user_id)
    auto_merge.follow(change.end_user)


def _follow(contact_id: UUID) -> EndUser | None:
    """Everything but embedding; the contact's end user, None when there is no such contact."""
    contact = Contact.objects.standing().filter(pk=contact_id).light().first()
    if contact is None:
        return None
    with atomic():
        end_user = EndUser.objects.lock(contact.end_user_id)
        if end_user is None:
            return None
        current = end_user.contacts.standing().filter(pk=contact.pk).light().first()
        if current is None:
            return None
        store.save(current, [])
        derived.write_profile_memory(current)
    backfill.link_contact(contact.pk)
    return end_user


@all_users()
def link_backfill(contact_id: str) -> None:
    backfill.link_contact(UUID(contact_id))


@all_users()
def erase(erasure_id: str) -> None:
    """Erases what a user asked to forget, where nothing is to be waited for."""
    carry_out(UUID(erasure_id))


@of_user
def suggest(end_user_id: int) -> None:
    """Proposes merges for what changed lately among an end user's contacts."""
    end_user = EndUser.objects.filter(pk=end_user_id).first()
    if end_user is not None:
        auto_merge.suggest_merges(end_user, since=end_user.suggested_at)


@all_users()
def run_job(name: str) -> None:
    """Runs a maintenance job, and queues the rest of it where it stopped at its bound. With several
    cells the schedule has it queued for each."""
    if cells.chosen() is None:
        for cell in cells.names():
            with cells.entered(cell):
                enqueue("run_job", name)
        return
    try:
        done = runner.run(name)
    except runner.AlreadyRunning:
        return
    if done.state == JobRun.State.DONE and done.cursor:
        enqueue("resume_job", name)


@all_users()
def resume_job(name: str) -> None:
    """Goes on with a job that stopped midway, if nobody else has."""
    if job_runs.unfinished(name):
        run_job(name)
