# SPDX-License-Identifier: Apache-2.0
"""An upstream over https, whose certificate an authority of one's own signed."""
import ssl

from case import FleetTest
from commands import execute, until
from engines import program
from servers import Origin, TreeServer

COUNT = 10
SETTINGS = {"poll": "500ms", "wait": "4s", "spread": "100ms", "breakFor": "500ms", "breakMax": "1s"}


class TLS(FleetTest):

    def context(self):
        """The authority, and what a server needs to show a certificate for 127.0.0.1 that it signed."""
        if not program("openssl"):
            self.skipTest("not installed: openssl")
        authority, authority_key, request, key, certificate, names = [
            self.folder / name for name in ("ca.pem", "ca.key", "server.csr", "server.key", "server.pem", "names")]
        new = ("openssl", "req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes")
        execute(*new, "-x509", "-days", "2", "-subj", "/CN=Authority", "-keyout", authority_key, "-out", authority)
        execute(*new, "-subj", "/CN=127.0.0.1", "-keyout", key, "-out", request)
        names.write_text("subjectAltName = IP:127.0.0.1\n")
        execute("openssl", "x509", "-req", "-in", request, "-CA", authority, "-CAkey", authority_key, "-CAcreateserial",
                "-days", "2", "-extfile", names, "-out", certificate)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate, key)
        return authority, context

    def test_an_upstream_needs_a_certificate_of_an_authority_that_is_configured(self):
        authority, context = self.context()
        origin = self.serve(Origin())
        addresses = [origin.address(number) for number in range(COUNT)]
        seeder = self.agent("seeder").start()
        seeder.drop("all", addresses)
        seeder.await_ready(COUNT, 30)
        seeder.export(self.folder / "tree")
        upstream = self.serve(TreeServer(self.folder / "tree", tls=context))
        self.assertTrue(upstream.url.startswith("https:"))

        trusting = self.agent("trusting", [upstream.url], asks_origins=False, **SETTINGS,
                              **{"fetch.caFile": str(authority)})
        trusting.drop("all", addresses)
        trusting.start().await_ready(COUNT, 30)
        self.assertEqual(trusting.numbers(), set(range(COUNT)))
        self.assertEqual(trusting.states(), [("fresh", None)])
        self.assertEqual(set(origin.icons().values()), {1})

        trusting.stop()
        upstream.forget()
        other = self.agent("other", [upstream.url], **SETTINGS)
        other.drop("all", addresses)
        other.start()
        until(lambda: f"a broken upstream, not {other.states()}", lambda: other.states() == [("broken", "tls")], 30)
        # What to do about it, while icons wait for it.
        self.assertEqual(other.ready(), 0)
        status = other.command("status", check=False)
        self.assertEqual(status.code, 1, status.out)
        told = " ".join(status.out.split())
        self.assertIn("certificate is not trusted", told)
        self.assertIn("fetch.caFile", told)
        self.assertIn("[tls]", told)
        why = other.command("why", addresses[0]).out
        self.assertIn(f"{upstream.url}: broken, ", why)
        # Their origin, after upstream.wait.
        other.await_ready(COUNT, 30)
        self.assertEqual(set(origin.icons().values()), {2})
        self.assertEqual(sum(upstream.counts().values()), 0, "no request is sent without trust")

        other.stop()
        other.configure(**{"fetch.caFile": str(authority)})
        other.start()
        until(lambda: f"a fresh upstream, not {other.states()}", lambda: other.states() == [("fresh", None)], 30)
