"""Supervision of real processes: restarts, giving up, and an end that leaves nothing."""

import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.core.management.base import CommandError

from mio_site import serve
from tests.mio_site.waiting import eventually

pytestmark = pytest.mark.system

ROOT = Path(__file__).resolve().parents[2]
# Each makes the file it is given once it is there to stay.
FOREVER = "import sys, time; open(sys.argv[1], 'w'); time.sleep(60)"
STUBBORN = "import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN); " + FOREVER
PARENT = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {FOREVER!r}, sys.argv[1]])"


def child(code: str, there: Path, name: str = "test") -> serve.Child:
    return serve.Child(name, [sys.executable, "-S", "-c", code, str(there)])


def gone(*groups: int) -> bool:
    return eventually(lambda: not any(alive(group) for group in groups), seconds=2)


def alive(group: int) -> bool:
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return False
    return True


@pytest.fixture(autouse=True)
def quick(monkeypatch):
    monkeypatch.setattr(serve, "TICK", 0.01)
    monkeypatch.setattr(serve, "FIRST_DELAY", 0.01)
    monkeypatch.setattr(serve, "GRACE", 0.3)


def test_a_process_that_dies_is_started_again_and_the_other_goes_on(capfd, tmp_path):
    stop = serve.Stop()
    dying = child(PARENT, tmp_path / "dying", "dying")
    other = child(FOREVER, tmp_path / "other", "other")
    seen: list[int] = []

    def tick() -> None:
        if dying.process and dying.process.pid not in seen and (tmp_path / "dying").exists():
            seen.append(dying.process.pid)
            (tmp_path / "dying").unlink()
            if len(seen) == 2:
                stop.request()
            else:
                dying.process.kill()

    assert serve.supervise([dying, other], stop, tick) == 0
    said = capfd.readouterr().err
    assert said == "mio: The dying process ended with code -9; starting it again.\n"
    assert other.process is not None
    assert gone(*seen, other.process.pid)


def test_a_process_that_keeps_dying_ends_everything_with_an_error(capfd, tmp_path):
    fine = child(FOREVER, tmp_path / "fine")
    broken = child("raise SystemExit(3)", tmp_path / "broken", "broken")
    assert serve.supervise([broken, fine], serve.Stop(), lambda: None) == 1
    assert "The broken process ended 5 times; giving up." in capfd.readouterr().err
    assert fine.process is not None
    assert gone(fine.process.pid)


@pytest.mark.parametrize("code", [FOREVER, STUBBORN, PARENT])
def test_stopping_leaves_no_process_behind(code, tmp_path):
    stop, there = serve.Stop(), tmp_path / "there"
    one = child(code, there)

    def stop_when(ready: bool) -> None:
        if ready:
            stop.request()

    assert serve.supervise([one], stop, lambda: stop_when(there.exists())) == 0
    assert one.process is not None
    assert gone(one.process.pid)


def test_a_signal_at_any_moment_of_the_loop_ends_it():
    """The interpreter runs a handler between any two steps of the thread it interrupts: one that
    takes a lock which that thread holds waits for ever."""
    code = """
import signal
from mio_site import serve
serve.TICK = 0.0
for moment in range(1, 400):
    stop = serve.Stop()
    signal.signal(signal.SIGALRM, lambda *_: stop.request())
    signal.setitimer(signal.ITIMER_REAL, moment * 2e-6)
    assert serve.supervise([], stop, lambda: None) == 0
"""
    subprocess.run([sys.executable, "-c", code], cwd=ROOT, timeout=60, check=True)


def test_a_port_in_use_is_said_with_what_to_do():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        with pytest.raises(CommandError, match=f"make run PORT={port + 1}"):
            serve.reserve("127.0.0.1", port)


def test_a_child_ends_when_its_parent_is_killed():
    code = """
import os, signal, subprocess, sys, time
inner = '''
import os, signal, sys, time
from mio_site.child import end_with_parent
end_with_parent(signal.SIGTERM, int(sys.argv[1]))
print(os.getpid(), flush=True)
time.sleep(60)
'''
subprocess.run([sys.executable, "-c", inner, str(os.getpid())], start_new_session=True)
"""
    parent = subprocess.Popen([sys.executable, "-c", code], cwd=ROOT, stdout=subprocess.PIPE)
    assert parent.stdout is not None
    with parent, parent.stdout:
        pid = int(parent.stdout.readline())
        parent.kill()
        assert eventually(lambda: not alive(pid))


class Site:
    """`manage.py serve` of a small project, in a home of its own."""

    def __init__(self, home: Path, **settings: str) -> None:
        self.home = home
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        environment = {key: value for key, value in os.environ.items() if key != "DATABASE_URL"}
        self.environment = {
            **environment,
            "DJANGO_SETTINGS_MODULE": "tests.mio_site.small_site.settings",
            "MIO_HOME": str(home),
            **settings,
        }
        self.process = subprocess.Popen(
            [sys.executable, "manage.py", "serve", "--port", str(self.port)],
            cwd=ROOT,
            env=self.environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )

    def answers(self) -> bool:
        return serve.answers("127.0.0.1", self.port, "/readyz")

    def processes(self, words: str = "") -> list[int]:
        """Those that name this home, or were started with it, except ones that have ended."""
        found = []
        for folder in Path("/proc").glob("[0-9]*"):
            try:
                told = (folder / "cmdline").read_bytes()
                matches = words.encode() in told
                if matches and b"mio_site" in told:
                    told += (folder / "environ").read_bytes()
            except (FileNotFoundError, ProcessLookupError, PermissionError):
                continue
            if matches and os.fsencode(self.home) in told:
                found.append(int(folder.name))
        return sorted(found)

    def queue(self, folder: Path) -> None:
        """Queues a task that makes a folder."""
        code = f"from django_q.tasks import async_task; async_task('os.mkdir', {str(folder)!r})"
        command = [sys.executable, "manage.py", "shell", "-v", "0", "-c", code]
        subprocess.run(command, cwd=ROOT, env=self.environment, check=True)

    def any_of(self, processes: list[int]) -> bool:
        return not set(processes).isdisjoint(self.processes())


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("serve") / "home"


@pytest.fixture
def site(home: Path, request: pytest.FixtureRequest) -> Iterator[Site]:
    one = Site(home, **getattr(request, "param", {}))
    yield one
    if one.process.poll() is None:
        one.process.terminate()
        one.process.wait(10)
    for left_over in one.processes():
        os.kill(left_over, signal.SIGKILL)
    one.process.communicate()


def test_serve_prepares_the_database_then_answers_and_survives_the_death_of_any_part(site):
    assert eventually(site.answers)
    prepared = (site.home / "prepared").read_text()
    assert prepared.startswith(
        "migrated ensure_operator\nmigrated install_schedules\nmigrated load_demo\n"
    )

    web = site.processes("mio_site.child\0" + f"{site.process.pid}\0web")
    assert len(web) == 1
    os.kill(web[0], signal.SIGKILL)
    assert eventually(lambda: site.answers() and web[0] not in site.processes())

    assert eventually(lambda: len(site.processes("\0worker")) > 2)
    worker = site.processes("\0worker")
    os.kill(worker[0], signal.SIGKILL)
    assert eventually(lambda: len(site.processes("\0worker")) > 2 and not site.any_of(worker))

    server = int((site.home / "postgres/data/postmaster.pid").read_text().splitlines()[0])
    os.kill(server, signal.SIGKILL)
    assert eventually(lambda: site.answers() and server not in site.processes())
    site.process.terminate()
    said = site.process.communicate(timeout=60)[0].splitlines()
    assert "mio: The database server had ended; it was started again." in said
    assert len(said) < 12, "\n".join(said)  # a line of each process that noticed


@pytest.mark.parametrize("site", [{"MIO_QUEUE_STUCK_S": "4"}], indirect=True)
@pytest.mark.parametrize("fault", [signal.SIGKILL, signal.SIGSTOP])
def test_a_queue_whose_processes_are_killed_or_stand_still_goes_on(
    site: Site, tmp_path: Path, fault: signal.Signals
) -> None:
    assert eventually(lambda: len(site.processes("\0worker")) > 2)
    site.queue(tmp_path / "first")
    assert eventually((tmp_path / "first").exists)
    # Idle now; those that started others are left to notice it.
    members = [
        pid
        for pid in site.processes("\0worker")
        if not Path(f"/proc/{pid}/task/{pid}/children").read_text()
    ]
    for member in members:
        os.kill(member, fault)
    site.queue(tmp_path / "second")
    assert eventually((tmp_path / "second").exists, seconds=30)
    assert eventually(lambda: not site.any_of(members), seconds=30)


@pytest.mark.parametrize("request_to_end", [signal.SIGINT, signal.SIGTERM])
def test_one_signal_ends_everything_with_exit_code_0(
    site: Site, request_to_end: signal.Signals
) -> None:
    assert site.process.stdout is not None
    assert any(f"ready at http://127.0.0.1:{site.port} " in line for line in site.process.stdout)
    os.killpg(site.process.pid, request_to_end)
    site.process.communicate(timeout=60)
    assert site.process.returncode == 0
    assert site.processes() == []


@pytest.mark.parametrize("worker_too", [False, True])
def test_nothing_lingers_when_serve_itself_is_killed(site: Site, worker_too: bool) -> None:
    assert eventually(lambda: site.answers() and len(site.processes("\0worker")) > 2)
    worker = site.processes("\0worker")[0]
    site.process.kill()
    if worker_too:
        os.kill(worker, signal.SIGKILL)
    assert eventually(lambda: site.processes() == [], seconds=10)


def test_serve_says_that_its_port_is_taken(site):
    assert eventually(site.answers)
    second = subprocess.run(
        [sys.executable, "manage.py", "serve", "--port", str(site.port)],
        cwd=ROOT,
        env=dict(
            os.environ,
            MIO_HOME=str(site.home),
            DJANGO_SETTINGS_MODULE="tests.mio_site.small_site.settings",
        ),
        capture_output=True,
        text=True,
    )
    assert second.returncode == 1
    assert f"Port {site.port} is in use" in second.stderr
    assert site.answers()
