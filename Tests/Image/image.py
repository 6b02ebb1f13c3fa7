# SPDX-License-Identifier: Apache-2.0
"""The image, as a file and unpacked."""
import functools
import gzip
import hashlib
import io
import json
import os
import pathlib
import shutil
import tarfile
import unittest


def what_is_missing():
    """Why no container can run here."""
    if os.geteuid() != 0:
        return "root"
    return None if shutil.which("runc") else "runc"


class Image:
    """An OCI image layout in a tar archive."""

    def __init__(self, archive):
        with tarfile.open(archive) as tar:
            self.files = {member.name: tar.extractfile(member).read() for member in tar if member.isfile()}
        [descriptor] = json.loads(self.files["index.json"])["manifests"]
        self.manifest = json.loads(self.blob(descriptor))
        self.document = json.loads(self.blob(self.manifest["config"]))
        self.config = self.document["config"]
        [packed] = self.manifest["layers"]
        self.packed = self.blob(packed)
        self.layer = gzip.decompress(self.packed)

    def blob(self, descriptor):
        """A blob, compared with its descriptor."""
        name = descriptor["digest"].removeprefix("sha256:")
        data = self.files[f"blobs/sha256/{name}"]
        assert hashlib.sha256(data).hexdigest() == name and len(data) == descriptor["size"], f"{name} is damaged"
        return data

    def members(self):
        with tarfile.open(fileobj=io.BytesIO(self.layer)) as tar:
            return tar.getmembers()

    def unpack(self, folder):
        with tarfile.open(fileobj=io.BytesIO(self.layer)) as tar:
            # Members belong to numbers, which need not be users of this machine.
            tar.extractall(folder, numeric_owner=True)


class ImageTest(unittest.TestCase):
    """A test of the image. `run` says which."""
    archive: pathlib.Path
    scratch: pathlib.Path
    maxDiff = None

    @staticmethod
    @functools.cache
    def read(archive):
        return Image(archive)

    @property
    def image(self):
        return self.read(self.archive)
