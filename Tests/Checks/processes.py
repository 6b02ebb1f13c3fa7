# SPDX-License-Identifier: Apache-2.0
"""The processes, files and mounts of a run, all of which end with it."""
import contextlib, ctypes, fcntl, os, select, shutil, signal, subprocess, tempfile, time

PR_SET_CHILD_SUBREAPER = 36
# Short, since paths of sockets are: that of an agent of gpg has 60 characters of its own.
PREFIX = "chk."


def adopt_orphans():
    """Makes this process the parent of whatever its steps leave running."""
    ctypes.CDLL(None, use_errno=True).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def later(command):
    """The command as one that leaves the processors to others.

    Where the kernel shares them among sessions, niceness alone counts among the processes of one session only.
    """
    share = 'echo 5 2>/dev/null >/proc/self/autogroup; exec nice -n 5 "$@"'
    return ("sh", "-c", share, "sh", *command)


def running():
    """All processes: each number with its state, its parent and its process group."""
    found = {}
    for name in filter(str.isdigit, os.listdir("/proc")):
        with contextlib.suppress(OSError), open(f"/proc/{name}/stat") as file:
            # The name, in parentheses, may have spaces in it.
            state, parent, group = file.read().rpartition(")")[2].split()[:3]
            found[int(name)] = (state, int(parent), int(group))
    return found


def descendants():
    """The processes below this one, the youngest generation last."""
    children = {}
    for process, (_, parent, _) in running().items():
        children.setdefault(parent, []).append(process)
    found, level = [], [os.getpid()]
    while level:
        level = [child for parent in level for child in children.get(parent, [])]
        found += level
    return found


def reap_orphans(steps):
    """Takes the exit codes of processes that steps left behind; those of the steps themselves stay for their threads."""
    for process, (state, parent, group) in running().items():
        # What this process runs without a step is in its own group.
        if state == "Z" and parent == os.getpid() and group != os.getpgrp() and process not in steps:
            with contextlib.suppress(ChildProcessError):
                os.waitpid(process, os.WNOHANG)


def wait(process, seconds=None):
    """Waits for a process, and returns the processor time that it and the processes it waited for took, in seconds.

    It is None if the process still runs after the limit. A process whose parent ended first is not counted.
    """
    descriptor = os.pidfd_open(process.pid)
    try:
        ended = select.poll()
        ended.register(descriptor, select.POLLIN)
        if not ended.poll(None if seconds is None else 1000 * seconds):
            return None
    finally:
        os.close(descriptor)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    return usage.ru_utime + usage.ru_stime


def end_group(group, patience=10):
    """Ends a process group: kindly, and then by force."""
    for number, seconds in ((signal.SIGTERM, patience), (signal.SIGKILL, 5)):
        with contextlib.suppress(OSError):
            os.killpg(group, number)
        end = time.monotonic() + seconds
        while any(of == group and state != "Z" for state, _, of in running().values()):
            if time.monotonic() > end:
                break
            time.sleep(0.05)
        else:
            return


def end_descendants():
    """Kills every process below this one that is still there, and returns what they were."""
    killed = {}
    for _ in range(20):
        left = descendants()
        for process in left:
            with contextlib.suppress(OSError):
                with open(f"/proc/{process}/cmdline", "rb") as file:
                    words = file.read().split(b"\0")
                if os.readlink(f"/proc/{process}/exe"):
                    killed[process] = b" ".join(words).decode(errors="replace").strip()[:120]
                os.kill(process, signal.SIGKILL)
        reap_orphans(())
        found = running()
        if all(found.get(process, "Z")[0] == "Z" for process in left):
            break
        time.sleep(0.05)
    return killed


@contextlib.contextmanager
def shared_memory():
    """Removes the shared memory that programs leave behind which are killed: faketime and Chromium name theirs so."""
    before = set(os.listdir("/dev/shm"))
    try:
        yield
    finally:
        for name in set(os.listdir("/dev/shm")) - before:
            if name.startswith(("faketime_shm_", "sem.faketime_sem_", "org.chromium.")):
                path = os.path.join("/dev/shm", name)
                shutil.rmtree(path) if os.path.isdir(path) else os.remove(path)


def mounts_below(folder):
    """The file systems that are mounted in a folder, the last one first."""
    with open("/proc/self/mountinfo") as file:
        points = [line.split()[4].encode().decode("unicode_escape") for line in file]
    return [point for point in reversed(points) if point.startswith(folder + "/")]


def remove(folder):
    """Removes a folder, but nothing that is mounted in it."""
    for point in mounts_below(folder):
        subprocess.run(["umount", "--lazy", point], capture_output=True)
    if left := mounts_below(folder):
        print(f"Not removed, since file systems are mounted in it: {folder} ({', '.join(left)})")
    else:
        shutil.rmtree(folder, ignore_errors=True)


@contextlib.contextmanager
def temporary_folder(inside):
    """A folder for the temporary files of a run, which goes with it.

    Tests flush thousands of files: where there is room, it is in memory, and waits for no disk that builds keep busy. A
    run holds a lock on its folder: one that was killed holds none, and its folder is removed now.
    """
    place = os.environ.get("TMPDIR") or "/dev/shm"
    if "TMPDIR" not in os.environ:
        room = os.statvfs(place)
        allowed = not room.f_flag & os.ST_NOEXEC and room.f_bavail * room.f_frsize > 2 << 30
        place = place if allowed else os.path.join(inside, "tmp")
    os.makedirs(place, exist_ok=True)
    for name in os.listdir(place):
        if name.startswith(PREFIX):
            with contextlib.suppress(OSError), locked(os.path.join(place, name)):
                remove(os.path.join(place, name))
    folder = tempfile.mkdtemp(prefix=PREFIX, dir=place)
    # Tests run programs as other users.
    os.chmod(folder, 0o1777)
    with locked(folder):
        try:
            yield folder
        finally:
            remove(folder)


@contextlib.contextmanager
def locked(folder):
    """Holds a lock on a folder; an error if another process has one."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield
    finally:
        os.close(descriptor)
