# SPDX-License-Identifier: Apache-2.0
"""Leases: shared locks of the manifest, for which the agent keeps what it names."""

from __future__ import annotations

import fcntl
import os
from io import FileIO

from ._errors import MAY_MEAN_REPLACED
from ._files import open_file, read_file

# On file systems without stable inode numbers, every opened file looks like a replaced one.
_ATTEMPTS = 100


def read_leased(path: str) -> tuple[FileIO, bool, bytes]:
    """Reads the file at a path, and leaves it open; with whether it is locked."""
    file, leased = _take_lease(path)
    try:
        return file, leased, read_file(file.fileno())
    except BaseException:
        file.close()
        raise


def _take_lease(path: str) -> tuple[FileIO, bool]:
    """Opens and locks the file at a path; it is still at the path when the lock is held."""
    for _ in range(1, _ATTEMPTS):
        file = open_file(path)
        try:
            leased = _lock(file)
            # The agent releases a generation only after a newer one has the name: a file that is locked and has the
            # name was locked in time.
            if os.path.samestat(os.fstat(file.fileno()), os.stat(path)):
                return file, leased
        except OSError as error:
            if error.errno not in MAY_MEAN_REPLACED:
                file.close()
                raise
        file.close()
    return open_file(path), False


def _lock(file: FileIO) -> bool:
    try:
        fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
        return True
    except OSError:
        return False
