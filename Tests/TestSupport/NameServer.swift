// SPDX-License-Identifier: Apache-2.0
import Glibc
import NIOCore
import NIOPosix
import Synchronization

/// A name server at an address of loopback, for programs that run with a `resolv.conf` of their own.
///
/// It listens on UDP port 53, which takes root's rights. It answers with addresses and nothing else.
package final class NameServer: Sendable {
    /// What a program asks.
    package struct Question: Sendable {
        package enum Kind: UInt16, Sendable {
            case v4 = 1
            case v6 = 28
        }

        /// The name in lower case, without a dot at its end.
        package var name: String
        package var kind: Kind
        /// How often this was asked, this time included.
        package var number: Int
    }

    package enum Answer: Sendable {
        /// The name has these addresses; those of the other kind are left out.
        case addresses([String])
        /// There is no such name.
        case unknown
        /// No answer at all: the program waits.
        case silence
    }

    /// The address that it listens on.
    package let host: String
    /// Every question, under its name.
    package let questions = Tally()

    private let answer: @Sendable (Question) -> Answer
    private let numbers = Mutex<[String: Int]>([:])

    private init(host: String, answer: @escaping @Sendable (Question) -> Answer) {
        self.host = host
        self.answer = answer
    }

    /// Whether this process may listen on port 53, and give programs a `resolv.conf` of their own.
    package static var isAvailable: Bool { geteuid() == 0 }

    /// What stands in a `resolv.conf` that leads here.
    package var configuration: String { "nameserver \(host)\n" }

    private static let runs = Mutex(0)

    /// Runs a server for as long as the body runs.
    ///
    /// - Parameters:
    ///   - answer: What to say to a question.
    ///   - body: Gets the server, which listens.
    /// - Returns: What the body returns.
    /// - Throws: What the body throws, or the error of a socket that cannot be listened on.
    package static func run<R>(
        _ answer: @escaping @Sendable (Question) -> Answer, _ body: (NameServer) async throws -> R
    ) async throws -> R {
        let run = runs.withLock { runs in
            runs += 1
            return runs
        }
        let process = getpid()
        let server = NameServer(host: "127.\(100 + run % 100).\(process >> 8 & 0xFF).\(process & 0xFF)", answer: answer)
        let channel = try await DatagramBootstrap(group: .singletonMultiThreadedEventLoopGroup)
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(Handler(server: server))
                }
            }
            .bind(host: server.host, port: 53).get()
        do {
            let result = try await body(server)
            try await channel.close()
            return result
        } catch {
            try? await channel.close()
            throw error
        }
    }

    /// The answer to a message; `nil` if there is none.
    private func reply(to message: ByteBuffer) -> ByteBuffer? {
        var rest = message
        guard let id = rest.readInteger(as: UInt16.self), let flags = rest.readInteger(as: UInt16.self),
            rest.readInteger(as: UInt16.self) == 1, rest.readSlice(length: 6) != nil
        else { return nil }
        let start = rest.readerIndex
        var labels: [String] = []
        while let length = rest.readInteger(as: UInt8.self), length > 0 {
            guard let label = rest.readString(length: Int(length)) else { return nil }
            labels.append(label.lowercased())
        }
        guard let type = rest.readInteger(as: UInt16.self), rest.readInteger(as: UInt16.self) != nil,
            let question = message.getSlice(at: start, length: rest.readerIndex - start)
        else { return nil }
        let name = labels.joined(separator: ".")
        var addresses: [[UInt8]] = []
        var code: UInt16 = 0
        if let kind = Question.Kind(rawValue: type) {
            questions.add(name)
            let number = numbers.withLock { numbers in
                numbers["\(type) \(name)", default: 0] += 1
                return numbers["\(type) \(name)"] ?? 1
            }
            switch answer(Question(name: name, kind: kind, number: number)) {
            case .addresses(let texts): addresses = texts.compactMap { Self.bytes(of: $0, kind) }
            case .unknown: code = 3
            case .silence: return nil
            }
        }
        var reply = ByteBuffer()
        // An answer (QR), with recursion available, and desired as it was in the question (RFC 1035, section 4.1.1).
        reply.writeMultipleIntegers(id, 0x8080 | flags & 0x0100 | code, UInt16(1), UInt16(addresses.count), UInt32(0))
        reply.writeImmutableBuffer(question)
        for address in addresses {
            // The name is the one in the question; the answer may not be kept.
            reply.writeMultipleIntegers(0xC00C as UInt16, type, UInt16(1), UInt32(0), UInt16(address.count))
            reply.writeBytes(address)
        }
        return reply
    }

    private static func bytes(of address: String, _ kind: Question.Kind) -> [UInt8]? {
        var bytes = [UInt8](repeating: 0, count: kind == .v4 ? 4 : 16)
        return inet_pton(kind == .v4 ? AF_INET : AF_INET6, address, &bytes) == 1 ? bytes : nil
    }

    private final class Handler: ChannelInboundHandler {
        typealias InboundIn = AddressedEnvelope<ByteBuffer>
        typealias OutboundOut = AddressedEnvelope<ByteBuffer>
        private let server: NameServer

        init(server: NameServer) {
            self.server = server
        }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            let message = unwrapInboundIn(data)
            guard let reply = server.reply(to: message.data) else { return }
            let envelope = AddressedEnvelope(remoteAddress: message.remoteAddress, data: reply)
            context.writeAndFlush(wrapOutboundOut(envelope), promise: nil)
        }
    }
}
