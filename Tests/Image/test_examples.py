# SPDX-License-Identifier: Apache-2.0
"""The examples of Packaging/examples/container: whether those who read such files accept them, and what they must say."""
import contextlib
import io
import pathlib
import re
import shutil
import subprocess

from image import ImageTest

EXAMPLES = pathlib.Path(__file__).resolve().parents[2] / "Packaging/examples/container"
COMPOSE, KUBERNETES = EXAMPLES / "compose.yaml", EXAMPLES / "kubernetes.yaml"
HEALTH = ["/usr/bin/syncagent", "status", "--health"]


class Examples(ImageTest):
    def documents(self, file):
        try:
            import yaml
        except ImportError:
            self.skipTest("the Python module yaml is missing")
        return list(yaml.safe_load_all(file.read_text()))

    def kinds(self):
        return {(document["kind"], document["metadata"]["name"]): document for document in self.documents(KUBERNETES)}

    @property
    def user(self):
        return int(self.image.config["User"].partition(":")[0])

    @property
    def tag(self):
        return f"syncagent:{self.image.config['Labels']['org.opencontainers.image.version']}"

    def test_compose_accepts_its_file(self):
        checked = []
        if shutil.which("docker") and subprocess.run(["docker", "compose", "version"], capture_output=True).returncode == 0:
            result = subprocess.run(
                ["docker", "compose", "--file", str(COMPOSE), "config", "--quiet"], capture_output=True, text=True)
            self.assertEqual((result.returncode, result.stderr), (0, ""))
            checked.append("docker compose")
        with contextlib.suppress(ImportError):
            from compose_spec import PyCompose
            PyCompose.from_yaml(COMPOSE.read_text()).validate()
            checked.append("compose-spec")
        if not checked:
            self.skipTest("neither “docker compose” nor the Python module compose-spec is there")
        print(f"by {' and '.join(checked)}", end=" ")

    def test_the_schema_of_kubernetes_accepts_its_file(self):
        try:
            import kubernetes_validate
        except ImportError:
            self.skipTest("the Python module kubernetes-validate is missing")
        versions = ["1.30", "1.34"]
        for version in versions:
            for document in self.documents(KUBERNETES):
                with self.subTest(f"{document['kind']}, {version}"), contextlib.redirect_stderr(io.StringIO()):
                    kubernetes_validate.validate(document, version, strict=True)
        print(f"of {', '.join(versions)}", end=" ")

    def test_compose_locks_its_services_up(self):
        [document] = self.documents(COMPOSE)
        agent, reader = document["services"]["agent"], document["services"]["reader"]
        for service in (agent, reader):
            self.assertTrue(service["read_only"])
            self.assertEqual(service["cap_drop"], ["ALL"])
            self.assertEqual(service["security_opt"], ["no-new-privileges:true"])
        self.assertEqual(agent["image"], self.tag)
        self.assertEqual(agent["healthcheck"]["test"], ["CMD", *HEALTH])
        self.assertEqual([entry.partition(":")[0] for entry in agent["tmpfs"]], ["/run"])
        # The same folders as in the image; the reader changes nothing.
        targets = {volume.split(":")[1] for volume in agent["volumes"]}
        self.assertEqual(targets, set(self.image.config["Volumes"]))
        self.assertTrue(all(volume["read_only"] for volume in reader["volumes"]))

    def test_pods_are_locked_up(self):
        kinds = self.kinds()
        for name in ("syncagent", "reader"):
            pod = kinds["DaemonSet", name]["spec"]["template"]["spec"]
            self.assertTrue(pod["securityContext"]["runAsNonRoot"])
            self.assertEqual(pod["securityContext"]["seccompProfile"], {"type": "RuntimeDefault"})
            self.assertFalse(pod["automountServiceAccountToken"])
            for container in pod["containers"]:
                context = container["securityContext"]
                self.assertTrue(context["readOnlyRootFilesystem"])
                self.assertFalse(context["allowPrivilegeEscalation"])
                self.assertEqual(context["capabilities"], {"drop": ["ALL"]})
            # What gives the folders to the agent can do that, and nothing else.
            for container in pod.get("initContainers", []):
                context = container["securityContext"]
                self.assertTrue(context["readOnlyRootFilesystem"])
                self.assertFalse(context["allowPrivilegeEscalation"])
                self.assertEqual(context["capabilities"], {"drop": ["ALL"], "add": ["CHOWN", "FOWNER"]})
            # Every mount is of a volume of the pod.
            volumes = {volume["name"] for volume in pod["volumes"]}
            for container in pod["containers"] + pod.get("initContainers", []):
                self.assertTrue({mount["name"] for mount in container["volumeMounts"]} <= volumes)

    def test_the_daemon_set_is_for_this_image(self):
        kinds = self.kinds()
        pod = kinds["DaemonSet", "syncagent"]["spec"]["template"]["spec"]
        [agent] = pod["containers"]
        self.assertEqual(agent["image"], self.tag)
        self.assertEqual((pod["securityContext"]["runAsUser"], pod["securityContext"]["runAsGroup"]), (self.user,) * 2)
        for probe in ("startupProbe", "readinessProbe", "livenessProbe"):
            self.assertEqual(agent[probe]["exec"]["command"], HEALTH)
        mounts = {mount["mountPath"] for mount in agent["volumeMounts"]}
        self.assertEqual(mounts, set(self.image.config["Volumes"]) | {"/run"})
        [owners] = pod["initContainers"]
        self.assertEqual(set(re.findall(r"chown (\S+)", owners["command"][-1])), {f"{self.user}:{self.user}"})
        [reader] = kinds["DaemonSet", "reader"]["spec"]["template"]["spec"]["containers"]
        self.assertTrue(all(mount["readOnly"] for mount in reader["volumeMounts"]))
        # Variables with the prefix of the settings are settings.
        self.assertFalse(pod["enableServiceLinks"])
