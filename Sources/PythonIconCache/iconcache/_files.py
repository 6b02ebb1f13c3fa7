# SPDX-License-Identifier: Apache-2.0
"""Opens and reads files that may be replaced at any time."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Callable
from functools import lru_cache
from io import FileIO
from typing import Any, Optional, TypeVar

from ._errors import MAY_MEAN_REPLACED

Result = TypeVar("Result")

_OPENAT2 = 437
_RESOLVE_NO_MAGICLINKS = 0x02
_RESOLVE_BENEATH = 0x08
_ATTEMPTS = 100


def open_file(path: str) -> FileIO:
    """Opens a file for reading; a folder fails with EISDIR.

    It does not wait for a pipe, nor read a device: they fail with ESPIPE, as reading them at an offset would.
    """
    file = _open_quickly(lambda flags: os.open(path, flags), (stat.S_ISREG, stat.S_ISDIR))
    try:
        return FileIO(file)
    except BaseException:
        os.close(file)
        raise


def open_beneath(folder: str, path: str) -> int:
    """Opens a regular file below a folder, for reading; a link that leads out of it fails with EXDEV or ELOOP."""
    root = os.open(folder, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        return _open_quickly(lambda flags: _open_beneath(root, path, flags), (stat.S_ISREG,))
    finally:
        os.close(root)


def read_file(file: int) -> bytes:
    """Reads an open file from its beginning; the file offset stays as it is."""
    parts = []
    offset = 0
    size = os.fstat(file).st_size
    while part := os.pread(file, max(size - offset, 1 << 16), offset):
        parts.append(part)
        offset += len(part)
    return parts[0] if len(parts) == 1 else b"".join(parts)


def reopening(body: Callable[[], Result]) -> Result:
    """Opens and reads a file; tries once more if the error may mean that it was replaced."""
    try:
        return body()
    except OSError as error:
        if error.errno not in MAY_MEAN_REPLACED:
            raise
    return body()


def identity(status: os.stat_result) -> tuple[int, ...]:
    """Identifies a file and its version: a new file with the inode of a removed one has a later time of change."""
    return status.st_dev, status.st_ino, status.st_size, status.st_ctime_ns


def _open_quickly(open_with: Callable[[int], int], kinds: tuple[Callable[[int], bool], ...]) -> int:
    flags = os.O_RDONLY | os.O_CLOEXEC | os.O_NOCTTY
    try:
        file = open_with(flags | os.O_NONBLOCK)
    except BlockingIOError:
        # Another process holds a lease of the kernel on the file (F_SETLEASE, fcntl(2)), and gives it up in a moment.
        probe = open_with(os.O_PATH | os.O_CLOEXEC)
        try:
            if not stat.S_ISREG(os.fstat(probe).st_mode):
                raise
        finally:
            os.close(probe)
        file = open_with(flags)
    mode = os.fstat(file).st_mode
    if any(is_kind(mode) for is_kind in kinds):
        return file
    os.close(file)
    raise OSError(errno.ESPIPE, os.strerror(errno.ESPIPE))


def _open_beneath(root: int, path: str, flags: int) -> int:
    file = _openat2(root, path, flags)
    return _open_step_by_step(root, path, flags) if file is None else file


def _openat2(root: int, path: str, flags: int) -> Optional[int]:
    """Opens a file with openat2(2); None if the kernel does not have it, or a filter of system calls hides it."""
    import ctypes

    syscall, how_to = _system_call()
    how = how_to(flags, 0, _RESOLVE_BENEATH | _RESOLVE_NO_MAGICLINKS)
    code = 0
    for _ in range(_ATTEMPTS):
        file = syscall(
            ctypes.c_long(_OPENAT2), ctypes.c_int(root), ctypes.c_char_p(os.fsencode(path)), ctypes.byref(how),
            ctypes.c_size_t(ctypes.sizeof(how)),
        )  # fmt: skip
        if file >= 0:
            return int(file)
        code = ctypes.get_errno()
        if code in (errno.ENOSYS, errno.EPERM):
            return None
        # EAGAIN also says that something was renamed meanwhile.
        if code != errno.EINTR and (code != errno.EAGAIN or flags & os.O_NONBLOCK and _is_leased(root, path)):
            break
    raise OSError(code, os.strerror(code))


@lru_cache(maxsize=None)
def _system_call() -> tuple[Any, Any]:
    """syscall(2), and the type of the argument of openat2(2)."""
    import ctypes

    class OpenHow(ctypes.Structure):
        _fields_ = [("flags", ctypes.c_uint64), ("mode", ctypes.c_uint64), ("resolve", ctypes.c_uint64)]

    syscall = ctypes.CDLL(None, use_errno=True).syscall
    syscall.restype = ctypes.c_long
    return syscall, OpenHow


def _is_leased(root: int, path: str) -> bool:
    """Whether EAGAIN can come from a lease of the kernel: the file itself can be found."""
    try:
        return stat.S_ISREG(os.stat(path, dir_fd=root, follow_symlinks=False).st_mode)
    except OSError:
        return False


def _open_step_by_step(root: int, path: str, flags: int) -> int:
    """Opens one component after the other, and follows no link."""
    *folders, name = path.split("/")
    current = os.dup(root)
    try:
        for folder in folders:
            following = os.open(folder, os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=current)
            os.close(current)
            current = following
            if stat.S_ISLNK(os.fstat(current).st_mode):
                raise OSError(errno.ELOOP, os.strerror(errno.ELOOP))
        file = os.open(name, flags | os.O_NOFOLLOW, dir_fd=current)
    finally:
        os.close(current)
    if stat.S_ISLNK(os.fstat(file).st_mode):
        os.close(file)
        raise OSError(errno.ELOOP, os.strerror(errno.ELOOP))
    return file
