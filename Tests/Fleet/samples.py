# SPDX-License-Identifier: Apache-2.0
"""The sample configurations, with nothing changed but what an administrator changes."""
import pathlib

FOLDER = pathlib.Path(__file__).resolve().parents[2] / "Packaging/fleet"


def sample(name, changes):
    """The text of a sample with other ports, folders and hosts.

    Each text to replace has to be there as often as it is said, so that a test cannot run something else by mistake.
    """
    text = (FOLDER / name).read_text()
    for old, (new, times) in changes.items():
        found = text.count(old)
        assert found == times, f"{name} has {old!r} {found} times, not {times} times"
        text = text.replace(old, str(new))
    return text
