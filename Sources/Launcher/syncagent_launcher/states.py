# SPDX-License-Identifier: Apache-2.0
"""What the window shows when there are no apps to show: what is missing, and what to do."""
import os
import shlex
from dataclasses import dataclass
from enum import Enum

from .names import clean

SYSTEM_CACHE = "/var/cache/syncagent"
SYSTEM_LISTS = "/etc/syncagent/lists.d"


class Absence(Enum):
    """Why a cache has no apps."""

    NO_CACHE = "no cache"
    NO_APPS = "no apps"
    NO_LIST = "no list"
    UNREADABLE = "unreadable"


class Action(Enum):
    """What a button does."""

    COPY = "copy"
    OPEN = "open"
    SHOW_ALL = "show all"
    CLEAR = "clear"
    READ_AGAIN = "read again"


@dataclass(frozen=True)
class EmptyState:
    """icon: the name of a symbolic icon
    value: the command that the button copies, which is shown, or the folder that it opens
    """

    icon: str
    title: str
    text: str
    button: str
    action: Action
    value: str = ""


@dataclass(frozen=True)
class Place:
    """A cache folder, and whether it is that of the user, that of the system, or another one."""

    folder: str
    is_own: bool = False

    @classmethod
    def of(cls, folder, is_default):
        """The place of a folder, given whether it was chosen because none was named."""
        return cls(str(folder), is_own=is_default and str(folder) != SYSTEM_CACHE)

    @property
    def is_system(self):
        return self.folder == SYSTEM_CACHE

    @property
    def start(self):
        """The command that starts the agent of the cache."""
        if self.is_own:
            return "systemctl --user enable --now syncagent"
        if self.is_system:
            return "sudo systemctl enable --now syncagent"
        return f"syncagent run --cache={shlex.quote(self.folder)}"

    def lists(self, environment=os.environ):
        """The folder for lists; None if it is not known."""
        if not self.is_own:
            return SYSTEM_LISTS if self.is_system else None
        base = environment.get("XDG_CONFIG_HOME", "")
        if not os.path.isabs(base):
            base = os.path.join(environment.get("HOME", "/"), ".config")
        return os.path.join(base, "syncagent/lists.d")


def nothing_found(text):
    return EmptyState(
        "edit-find-symbolic", "No Results Found", f"No app has a name with “{clean(text, 40)}”.", "Clear Search",
        Action.CLEAR)


def empty_state(absence, place, wanted=None, problem="", environment=os.environ):
    """What to show for a cache without apps. `wanted` is the list that was named, `problem` what could not be read."""
    if absence is Absence.NO_CACHE:
        return EmptyState(
            "org.syncagent.Launcher-symbolic", "No Icons Yet",
            f"The agent has never published anything in {shown(place.folder)}. Start it with:", "Copy Command",
            Action.COPY, place.start)
    if absence is Absence.NO_LIST:
        return EmptyState(
            "edit-find-symbolic", "No Such List", f"There is no list {clean(wanted, 60)} in {shown(place.folder)}.",
            "Show All Apps", Action.SHOW_ALL)
    if absence is Absence.UNREADABLE:
        return EmptyState("dialog-error-symbolic", "Cannot Read the Icons", problem, "Try Again", Action.READ_AGAIN)
    if lists := place.lists(environment):
        return EmptyState(
            "org.syncagent.Launcher-symbolic", "No Apps Yet",
            f"Put an app list into {shown(lists)}, and its apps appear here.", "Open Lists Folder", Action.OPEN, lists)
    return EmptyState(
        "org.syncagent.Launcher-symbolic", "No Apps Yet",
        "Put an app list into the lists folder of the agent, and its apps appear here. It says which folder that is:",
        "Copy Command", Action.COPY, "syncagent config")


def shown(path, home=None):
    """A path as people write it."""
    home = home or os.path.expanduser("~")
    return "~" + path[len(home):] if home != "/" and path.startswith(home + "/") else path
