// SPDX-License-Identifier: Apache-2.0
import DemoOrigin
import Glibc
import LocalHTTP
import NIOCore
import NIOHTTP1
import Testing

@Suite("The demo's origin")
struct DemoOriginTests {
    @Test("the demo origin draws an icon for any name, and counts requests until it is cut off")
    func icons() async throws {
        try await DemoOrigin.run { origin in
            for name in ["Mail", "Ünï/çødé & more?", ""] {
                let answer = try await Exchange.with(origin.iconURL(name))
                #expect(answer.status == 200)
                #expect(answer.body == IconDrawing(name).png())
                #expect(answer.headers["content-type"] == ["image/png"])
                #expect(answer.headers["etag"] == [IconDrawing(name).entityTag])
            }
            #expect(try await Exchange.with(origin.baseURL + "/icons.png").status == 404)
            #expect(origin.requestCount == 4)

            await origin.cutOff()
            let failure = await #expect(throws: IOError.self) { try await Exchange.with(origin.iconURL("Mail")) }
            #expect(failure?.errnoCode == ECONNREFUSED)
            #expect(origin.requestCount == 4)
        }
    }
}
