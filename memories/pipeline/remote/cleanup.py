"""What a remote batch leaves at the model server: its name there, and files to be deleted."""

from collections import Counter
from datetime import timedelta

from django.utils import timezone
from django.utils.crypto import salted_hmac

from accounts.cells import connection
from memories.models import RemoteBatch
from memories.providers.errors import PermanentError
from memories.providers.openai.batch_api import BatchServer, ServerBatch, ServerFile
from memories.providers.openai.transport import NotFoundError

UNNAMED = "unnamed:"
# How far back strays are looked for, and how long after its end a batch that never got its
# name may still show up.
LOOK_BACK = timedelta(days=2)
SHOWS_WITHIN = timedelta(hours=1)
# Files that can't be deleted by then are left.
CLEANED_WITHIN = timedelta(days=3)


def installation() -> str:
    """What tells this installation's batches from another's on the same API key."""
    name = str(connection.settings_dict["NAME"])
    return salted_hmac("memories.pipeline.remote", name).hexdigest()[:12]


def file_name(remote: RemoteBatch) -> str:
    return f"mio-{installation()}-{remote.pk}.jsonl"


def metadata(remote: RemoteBatch) -> dict[str, str]:
    """What the server keeps with the batch, to know it by."""
    return {"mio": installation(), "row": str(remote.pk)}


def name(remote: RemoteBatch, made: ServerBatch) -> None:
    """Writes down how the server calls a batch, whatever became of it here meanwhile."""
    RemoteBatch.objects.filter(pk=remote.pk).update(
        remote_id=made.id,
        input_file_id=made.input_file_id,
        expires_at=made.expiry,
        finished_at=None,
    )


def adopt(server: BatchServer) -> Counter[str]:
    """Finds what a submission left at the server before it died: a batch without its name
    gets it, others and files that no batch needs are called off and deleted."""
    effect: Counter[str] = Counter()
    since = timezone.now() - LOOK_BACK
    for made in [b for b in server.batches(since) if b.metadata.get("mio") == installation()]:
        if RemoteBatch.objects.filter(remote_id=made.id).exists():
            continue
        row = made.metadata.get("row", "")
        remote = RemoteBatch.objects.filter(pk=row).first() if row.isdecimal() else None
        if remote is not None and remote.remote_id.startswith(UNNAMED):
            name(remote, made)
            effect["adopted"] += 1
        elif not made.ended:
            server.cancel(made.id)
            effect["cancelled"] += 1
        else:
            _delete_files(server, {made.output_file_id, made.error_file_id})
    for file in list(server.files(since)):
        if file.filename.startswith(f"mio-{installation()}-") and not _is_needed(file):
            _delete_files(server, {file.id})
            effect["deleted"] += 1
    return effect


def _is_needed(file: ServerFile) -> bool:
    """Whether a file of ours belongs to an unsettled batch, or to a submission under way."""
    unsettled = RemoteBatch.objects.filter(finished_at=None)
    row = file.filename.removesuffix(".jsonl").rpartition("-")[2]
    young = unsettled.filter(
        pk=row if row.isdecimal() else 0,
        input_file_id="",
        state=RemoteBatch.State.OPEN,
    )
    return unsettled.filter(input_file_id=file.id).exists() or young.exists()


def clean(server: BatchServer, remote: RemoteBatch, status: ServerBatch | None) -> None:
    """Stops a batch that has ended here and deletes its files; settled when nothing of it is
    left at the server. Files of one that is still stopping go at a later poll."""
    now = timezone.now()
    row = RemoteBatch.objects.filter(pk=remote.pk)
    if remote.remote_id.startswith(UNNAMED):
        # Its file, if there is one, is known or was found by ``adopt``.
        _delete_files(server, {remote.input_file_id})
        if remote.created_at <= now - SHOWS_WITHIN:
            row.update(finished_at=now)
        return
    late = remote.created_at <= now - CLEANED_WITHIN
    try:
        status = status or server.retrieve(remote.remote_id)
        if not status.ended and not late:
            server.cancel(remote.remote_id)
            return
        files = {status.input_file_id, status.output_file_id, status.error_file_id}
        _delete_files(server, {remote.input_file_id, *files})
    except NotFoundError:
        _delete_files(server, {remote.input_file_id})
    except PermanentError:
        if not late:
            raise
    row.update(finished_at=now)


def _delete_files(server: BatchServer, ids: set[str]) -> None:
    for file_id in sorted(ids - {""}):
        server.delete_file(file_id)
