# SPDX-License-Identifier: Apache-2.0
"""The tests that Debian would run on the installed package (autopkgtest), here on a machine."""
from case import AUTOPKGTEST, MachineTest


class Autopkgtest(MachineTest):
    def setUp(self):
        super().setUp()
        for name in ("cli", "service"):
            self.machine.write(f"/usr/local/lib/{name}", (AUTOPKGTEST / name).read_bytes(), 0o755)

    def test_its_programs_work_for_a_user(self):
        self.machine.run("useradd", "--create-home", "ada")
        self.machine.run("/usr/local/lib/cli", user="ada")

    def test_its_service_works(self):
        self.expect_in_journal("nonsense", "Reload failed", "Not reloaded", "Control process exited")
        self.machine.run("/usr/local/lib/service")

    def test_the_control_file_names_them(self):
        control = (AUTOPKGTEST / "control").read_text()
        named = [line.split()[1] for line in control.splitlines() if line.startswith("Tests:")]
        files = [file.name for file in AUTOPKGTEST.iterdir() if file.name != "control"]
        self.assertEqual(sorted(named), sorted(files))
