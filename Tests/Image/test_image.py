# SPDX-License-Identifier: Apache-2.0
"""What is in the image."""
import hashlib
import json
import posixpath
import re
import stat

from image import ImageTest

LIMIT = 60_000_000


class Content(ImageTest):
    def paths(self):
        return {f"/{member.name}": member for member in self.image.members()}

    def test_both_descriptions_name_the_same_layer(self):
        [docker] = json.loads(self.image.files["manifest.json"])
        self.assertEqual(docker["Config"].rpartition("/")[2], self.image.manifest["config"]["digest"].partition(":")[2])
        self.assertEqual(
            [layer.rpartition("/")[2] for layer in docker["Layers"]],
            [layer["digest"].partition(":")[2] for layer in self.image.manifest["layers"]])
        self.assertEqual(
            self.image.document["rootfs"]["diff_ids"], [f"sha256:{hashlib.sha256(self.image.layer).hexdigest()}"])
        self.assertRegex(docker["RepoTags"][0], r"^syncagent:[0-9][A-Za-z0-9_.-]*$")

    def test_it_runs_the_agent_as_a_user_with_a_number(self):
        config = self.image.config
        self.assertEqual(config["Entrypoint"] + config["Cmd"], ["/usr/bin/syncagent", "run"])
        self.assertEqual(config["User"], "65530:65530")
        self.assertEqual(config["StopSignal"], "SIGTERM")
        self.assertEqual(
            set(config["Volumes"]), {"/etc/syncagent/lists.d", "/var/cache/syncagent", "/var/lib/syncagent"})
        self.assertEqual(config["Healthcheck"]["Test"], ["CMD", "/usr/bin/syncagent", "status", "--health"])
        for label in ("title", "description", "version", "created"):
            self.assertTrue(config["Labels"][f"org.opencontainers.image.{label}"])

    def test_it_is_small(self):
        print(f"{len(self.image.packed) / 1e6:.1f} MB, unpacked {len(self.image.layer) / 1e6:.1f} MB", end=" ")
        self.assertLessEqual(len(self.image.packed), LIMIT)

    def test_it_has_no_other_programs(self):
        programs = [
            path for path, member in self.paths().items()
            if member.isfile() and member.mode & 0o111 and not re.search(r"\.so(\.|$)", path)]
        self.assertEqual(
            set(programs) - {"/usr/libexec/syncagent/syncagent-render", "/usr/libexec/syncagent/syncagent-render-heif"},
            {"/usr/bin/syncagent", "/usr/libexec/syncagent/syncagent-parse", "/usr/libexec/syncagent/syncagent-watch"})

    def test_only_the_agents_own_folders_belong_to_it(self):
        for path, member in self.paths().items():
            with self.subTest(path):
                ours = path in ("/var/cache/syncagent", "/var/lib/syncagent")
                self.assertEqual((member.uid, member.gid), (65530, 65530) if ours else (0, 0))
                self.assertFalse(member.mode & (stat.S_ISUID | stat.S_ISGID))
                if not member.issym() and not member.mode & stat.S_ISVTX:
                    self.assertFalse(member.mode & (stat.S_IWGRP | stat.S_IWOTH))

    def test_all_times_are_the_same(self):
        self.assertEqual(len({member.mtime for member in self.image.members()}), 1)

    def test_links_lead_to_something(self):
        paths = self.paths()
        for path, member in paths.items():
            if member.issym():
                with self.subTest(path):
                    target = posixpath.normpath(posixpath.join(posixpath.dirname(path), member.linkname))
                    self.assertIn(re.sub(r"^/lib(?=/)", "/usr/lib", target), paths)

    def test_each_package_has_its_copyright_and_its_entry_for_scanners(self):
        paths = self.paths()
        packages = {path.rpartition("/")[2] for path in paths if path.startswith("/var/lib/dpkg/status.d/")}
        self.assertTrue({"syncagent", "libc6", "libcurl4", "libssl3", "ca-certificates"} <= packages)
        for package in packages:
            with self.subTest(package):
                folder = f"/usr/share/doc/{package}"
                while paths[folder].issym():
                    folder = posixpath.join(posixpath.dirname(folder), paths[folder].linkname)
                self.assertIn(f"{folder}/copyright", paths)
        for path in ("/etc/ssl/certs/ca-certificates.crt", "/usr/share/common-licenses/Apache-2.0",
                     "/usr/share/common-licenses/GPL-2", "/usr/share/doc/syncagent/syncagent.cdx.json", "/etc/os-release"):
            self.assertIn(path, paths)
