# SPDX-License-Identifier: Apache-2.0
"""The renderer, which is a package of its own, below the service and its sandbox."""
import icons
from case import CACHE, MachineTest
from commands import until


class Renditions(MachineTest):
    def test_icons_are_rendered_once_the_renderer_is_installed(self):
        debs = sorted(self.deb.parent.glob("syncagent-render_*.deb"))
        if not debs:
            self.skipTest("there is no package of the renderer beside the one of the agent")
        self.expect_in_journal("rendering blocked")
        self.drop("apps", range(5))
        self.sync("apps")
        self.configure('[render]\nsizes = ["16", "32@2"]\n[desktop]\nicons = true\n')
        self.machine.run("systemctl", "reload", "syncagent")
        until("the problem", lambda: "not-rendered" in [problem["code"] for problem in self.status()["problems"]])
        self.install(debs[-1])
        self.machine.run("systemctl", "reload", "syncagent")
        until("the renditions", lambda: (self.status()["renditions"] or {}).get("ready") == 5)
        path = self.syncagent("path", icons.url(3), "--size", "64", "--resolve").out.strip()
        self.assertTrue(path.startswith(f"{CACHE}/icons/"), path)
        self.assertEqual(self.machine.path(path).read_bytes()[:8], b"\x89PNG\r\n\x1a\n")
        until("the icon theme", lambda: self.machine.path(f"{CACHE}/share/icons/hicolor/16x16/apps/App 3.png").exists())
        self.assertEqual(self.syncagent("verify").code, 0)
        # Off, and gone.
        self.configure("")
        self.machine.run("systemctl", "reload", "syncagent")
        until("no renditions", lambda: self.status()["renditions"] is None)
        until("no names", lambda: not self.machine.path(f"{CACHE}/by-size").exists())
