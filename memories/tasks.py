"""The functions that the queue runs. Each takes ids, makes one pipeline call and may run twice, in
the scope of the end user whose work it is, or of all users."""

import time
from collections.abc import Callable, Iterable
from functools import partial, wraps
from itertools import repeat
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

# Seconds after which a task queues the rest of its user's work as a new task, after all that
# waits by then.
TURN = 30.0

P = ParamSpec("P")


def of_user(task: Callable[Concatenate[int, P], None]) -> Callable[Concatenate[int, P], None]:
    """Decorator: runs a task in the scope of the end user whose id is its first argument."""

    @wraps(task)
    def scoped(end_user_id: int, *args: P.args, **kwargs: P.kwargs) -> None:
        with user_scope(end_user_id):
            task(end_user_id, *args, **kwargs)

    return scoped


def _run_steps(task: str, end_user_id: int, steps: Iterable[Callable[[], object]]) -> bool:
    """Runs the steps until one returns false, and returns True. If TURN seconds have passed before
    another step than the first, queues ``task`` for the rest and returns False."""
    until = time.monotonic() + TURN
    for place, step in enumerate(steps):
        if place and time.monotonic() > until:
            enqueue(task, end_user_id)
            return False
        if not step():
            break
    return True


@of_user
def extract(end_user_id: int) -> None:
    """Extracts the messages of an end user that are due, then queues consolidation if it is due."""
    if not _run_steps("extract", end_user_id, repeat(partial(run.extract_next, end_user_id))):
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
    """Extracts all waiting messages of an end user, due or not, then consolidates."""
    batches = repeat(partial(run.extract_next, end_user_id, everything=True))
    if _run_steps("process", end_user_id, batches):
        reread(end_user_id)


@of_user
def read_facts(end_user_id: int) -> None:
    """Reads the facts of memories that people or apps wrote, until the model is unavailable."""
    waiting = facts.waiting(end_user_id)
    _run_steps("read_facts", end_user_id, [partial(facts.read, end_user_id, pk) for pk in waiting])


@of_user
def reread(end_user_id: int) -> None:
    """Reads memories that were corrected, and updates the profiles of their people."""
    read_facts(end_user_id)
    consolidate(end_user_id)


@all_users()
def load_demo() -> None:
    demo.load()


@of_user
def embed(end_user_id: int) -> None:
    """Embeds memories without a vector, such as corrected ones."""
    until = time.monotonic() + TURN
    end_user = EndUser.objects.filter(pk=end_user_id).first()
    if end_user is None:
        return
    if embed_missing(end_user, embedder(), until) and time.monotonic() > until:
        enqueue("embed", end_user_id)


@of_user
def render_cards(end_user_id: int) -> None:
    """Renders all cards again, after the language of the end user changed."""
    for contact in Contact.objects.of(end_user_id).standing().values_list("pk", flat=True):
        contact_changed(str(contact))


@all_users()
def contact_changed(contact_id: str) -> None:
    """Renders a contact's card and profile memory, and links the memories that name it now."""
    if (end_user := _update_contact(UUID(contact_id))) is not None:
        embed_missing(end_user, embedder())


@all_users()
def contacts_created(change_id: str, start: str = "0") -> None:
    """Does the same for all contacts that a change created or added to, from index ``start`` on,
    but embeds them together; then has duplicates among them suggested."""
    until = time.monotonic() + TURN
    change = Change.objects.filter(pk=UUID(change_id)).select_related("end_user").first()
    if change is None or change.undone_at:
        return
    for place, contact_id in enumerate(change.subjects[int(start) :], int(start) + 1):
        _update_contact(UUID(contact_id))
        if time.monotonic() > until and place < len(change.subjects):
            enqueue("contacts_created", change_id, str(place), end_user_id=change.end_user_id)
            return
    if embed_missing(change.end_user, embedder(), until) and time.monotonic() > until:
        enqueue("embed", change.end_user_id)
    auto_merge.follow(change.end_user)


def _update_contact(contact_id: UUID) -> EndUser | None:
    """Does all this except embedding; returns the end user, None if the contact is gone."""
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
    """Erases what a user asked to forget; queued at once if there is no grace period."""
    carry_out(UUID(erasure_id))


@of_user
def suggest(end_user_id: int) -> None:
    """Suggests merges for the contacts of an end user that changed since the last time."""
    end_user = EndUser.objects.filter(pk=end_user_id).first()
    if end_user is not None:
        auto_merge.suggest_merges(end_user, since=end_user.suggested_at)


@all_users()
def run_job(name: str) -> None:
    """Runs a maintenance job, and queues the rest of it if it stopped at its bound. If no cell is
    chosen, as when the schedule calls it with several cells, queues it for each cell."""
    if cells.entered_cell() is None:
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
    """Continues a job that stopped midway, unless another process has."""
    if job_runs.unfinished(name):
        run_job(name)
