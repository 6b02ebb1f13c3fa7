# SPDX-License-Identifier: Apache-2.0
"""The service of a user, beside the system's."""
import json

import icons
from case import MachineTest
from commands import until


class UserService(MachineTest):
    def setUp(self):
        super().setUp()
        run = self.machine.run
        run("useradd", "--create-home", "ada")
        run("loginctl", "enable-linger", "ada")
        uid = run("id", "-u", "ada").out.strip()
        self.runtime = f"/run/user/{uid}"
        until("the manager of the user", lambda: self.machine.path(f"{self.runtime}/systemd/private").exists())

    def as_ada(self, *command, **options):
        return self.machine.run(*command, user="ada", environment=[f"XDG_RUNTIME_DIR={self.runtime}"], **options)

    def test_a_user_has_an_agent_of_their_own(self):
        self.assertEqual(json.loads(self.as_ada("syncagent", "status", "--json", check=False).out)["pid"], self.pid())
        self.as_ada("systemctl", "--user", "enable", "--now", "syncagent")
        pid = int(self.as_ada("systemctl", "--user", "show", "--value", "--property=MainPID", "syncagent").out)
        status = json.loads(self.as_ada("syncagent", "status", "--json", check=False).out)
        self.assertEqual((status["state"], status["pid"]), ("running", pid))
        self.assertNotEqual(pid, self.pid())
        lists = "/home/ada/.config/syncagent/lists.d"
        self.machine.path("/home/ada/apps.plist").write_bytes(icons.plist(range(3)))
        self.as_ada("cp", "/home/ada/apps.plist", lists)
        self.as_ada("syncagent", "sync", "--wait", "apps.plist")
        path = self.as_ada("syncagent", "path", icons.url(2)).out.strip()
        self.assertTrue(path.startswith("/home/ada/.cache/syncagent/by-url/"), path)
        self.assertEqual(self.machine.path(path).read_bytes(), icons.png(2))
        self.assertTrue(self.machine.path("/home/ada/.local/state/syncagent/state.sqlite").exists())
        self.assertTrue(self.machine.path(f"{self.runtime}/syncagent/control.sock").exists())
        # The system's is another one.
        self.assertEqual(self.status()["pid"], self.pid())
        self.assertEqual(self.status()["lists"], [])
        self.as_ada("systemctl", "--user", "reload", "syncagent")
        self.as_ada("systemctl", "--user", "stop", "syncagent")
        result = self.as_ada("systemctl", "--user", "show", "--value", "--property=Result", "syncagent").out.strip()
        self.assertEqual(result, "success")
