// SPDX-License-Identifier: Apache-2.0
import Hummingbird
import Testing

@testable import AgentServer

@Suite("Allowance of unread responses")
struct AllowanceTests {
    private static let answer = Response(status: .ok, body: ResponseBody(byteBuffer: ByteBuffer(string: "x")))

    @Test("there is room again when a response is gone")
    func room() throws {
        let allowance = Allowance(4)
        do {
            let counted = try [allowance.count(Self.answer, as: 3), allowance.count(Self.answer, as: 1)]
            #expect(throws: APIError.busy) { try allowance.count(Self.answer, as: 1) }
            #expect(counted.map(\.body.contentLength) == [1, 1])
        }
        _ = try allowance.count(Self.answer, as: 4)
    }

    @Test("a response that is larger than the limit has to be alone")
    func large() throws {
        let allowance = Allowance(4)
        do {
            let small = try allowance.count(Self.answer, as: 1)
            #expect(throws: APIError.busy) { try allowance.count(Self.answer, as: 5) }
            withExtendedLifetime(small) {}
        }
        let large = try allowance.count(Self.answer, as: 5)
        #expect(throws: APIError.busy) { try allowance.count(Self.answer, as: 1) }
        withExtendedLifetime(large) {}
    }
}
