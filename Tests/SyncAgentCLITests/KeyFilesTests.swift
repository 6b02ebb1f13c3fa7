// SPDX-License-Identifier: Apache-2.0
import Glibc
import SystemPackage
import Testing

@testable import SyncAgentCLI

@Suite("Files of signing keys")
struct KeyFilesTests {
    @Test(
        "a key is used that its user or root keeps from others",
        arguments: [
            (1000, 0o600, 1000, nil), (1000, 0o640, 1000, "can"), (0, 0o640, 1000, nil),
            (0, 0o644, 1000, "can"), (0, 0o660, 1000, "can"), (1001, 0o640, 1000, "belongs"),
            (1001, 0o600, 1000, "belongs"), (0, 0o600, 0, nil), (1001, 0o600, 0, nil), (1001, 0o644, 0, "can"),
        ] as [(uid_t, mode_t, uid_t, String?)])
    func owners(owner: uid_t, mode: mode_t, user: uid_t, flaw: String?) {
        let found = KeyFiles.flaw(of: "/k", owner: owner, mode: S_IFREG | mode, forUser: user)
        #expect(found?.split(separator: " ").first.map(String.init) == flaw)
    }

    @Test("an error about missing rights to a key or an export says what helps")
    func rights() {
        let message = KeyFiles.unreadable("/etc/syncagent/export.key", Errno.permissionDenied).description
        #expect(message.contains("chgrp GROUP /etc/syncagent/export.key"))
        #expect(KeyFiles.unreadable("/k", Errno.noSuchFileOrDirectory).description.hasSuffix("directory."))
        #expect(ExportCommand.remedy(for: .permissionDenied).contains("chown -R USER"))
        #expect(ExportCommand.remedy(for: .noSpace).isEmpty)
    }

    @Test("the target of an export is a path as the system reads it: the folder before “..” can be a link")
    func target() {
        #expect(ExportCommand.absolute("/a/link/../b").string == "/a/link/../b")
        #expect(ExportCommand.absolute("/a/./b/").string == "/a/b")
        #expect(ExportCommand.absolute("link/../b").string.hasSuffix("/link/../b"))
    }
}
