// SPDX-License-Identifier: Apache-2.0
import Glibc
import LocalHTTP
import NIOCore
import NIOEmbedded
import NIOHTTP1
import SystemPackage
import TestSupport
import Testing

@testable import AgentServer

@Suite("Bounds of the control server", .timeLimit(.minutes(1)))
struct ControlBoundsTests {
    @Test("thousands of requests at once are all answered, by as many connections as there may be")
    func crowd() async throws {
        try await ControlWorld.with { world in
            let counter = Counter()
            await withTaskGroup { group in
                for _ in 0..<64 {
                    group.addTask {
                        for _ in 0..<40 {
                            if (try? await world.client.status()) != nil { _ = counter.next() }
                        }
                    }
                }
            }
            // A queue that is full refuses some connections at once: nobody is kept waiting, and the agent goes on.
            #expect(counter.last > 64, "\(counter.last)")
            let status = try await world.client.status()
            #expect(status != nil)
        }
    }

    @Test("a client that reads nothing is dropped, one that reads slowly is not")
    func slowReader() throws {
        let channel = EmbeddedChannel(handler: SlowReaderHandler(patience: .seconds(30)))
        try channel.connect(to: SocketAddress(unixDomainSocketPath: "/s")).wait()
        channel.isWritable = false
        channel.pipeline.fireChannelWritabilityChanged()
        channel.embeddedEventLoop.advanceTime(by: .seconds(29))
        #expect(channel.isActive)
        channel.isWritable = true
        channel.pipeline.fireChannelWritabilityChanged()
        channel.embeddedEventLoop.advanceTime(by: .seconds(60))
        #expect(channel.isActive)
        channel.isWritable = false
        channel.pipeline.fireChannelWritabilityChanged()
        channel.embeddedEventLoop.advanceTime(by: .seconds(30))
        #expect(!channel.isActive)
    }
}
