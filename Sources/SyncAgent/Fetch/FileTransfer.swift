// SPDX-License-Identifier: Apache-2.0
import Glibc
import HTTPRules
import SystemPackage
import Transfers

/// The “response” of a file on this machine, for an upstream that is a folder.
///
/// It is confined to the thread of the downloads; the file is read on a thread of its own, because disks can hang.
final class FileTransfer: Transfer {
    /// How much is delivered at once, so that others have their turns.
    private static let piece = 64 << 10

    enum Found: Sendable {
        case file([UInt8])
        /// A file that is larger than any that is accepted, with its size.
        case large(Int)
        case missing
        case failed(FetchFailure)
    }

    /// Reads a file; see ``read(_:upTo:manifest:)``.
    typealias Reader = @Sendable (_ path: String, _ longest: Int, _ manifest: String) -> Found

    private let receiver: any TransferReceiver
    private var rest: ArraySlice<UInt8> = []
    private(set) var isPaused = false
    private(set) var lastActivity: ContinuousClock.Instant? = .now
    let mayBeStale = false
    let isAnswered = true
    private(set) var hasEnded = false

    init(_ receiver: any TransferReceiver) {
        self.receiver = receiver
    }

    func cancel() { hasEnded = true }

    func waitTime(at now: ContinuousClock.Instant) -> Duration { .zero }

    func breakOff(afterSilenceOf time: Duration) { cancel() }

    func resume() {
        guard isPaused else { return }
        isPaused = false
        lastActivity = .now
        deliver()
    }

    /// Passes on what was found.
    func deliver(_ found: Found) {
        guard !hasEnded else { return }
        switch found {
        case .failed(let failure): end(failure)
        case .missing: if receive(404, bytes: nil) { end(nil) }
        case .large(let bytes): if receive(200, bytes: bytes) { end(Unwanted()) }
        case .file(let bytes):
            guard receive(200, bytes: bytes.count) else { return }
            rest = bytes[...]
            deliver()
        }
    }

    /// Passes on a head; returns whether the body is wanted.
    private func receive(_ status: Int, bytes: Int?) -> Bool {
        lastActivity = .now
        let fields = bytes.map { [(name: "content-length", value: "\($0)")] } ?? []
        guard receiver.receive(ResponseHead(status: status, fields: HTTPFields(fields))) else {
            end(Unwanted())
            return false
        }
        return true
    }

    private func deliver() {
        while !hasEnded, !rest.isEmpty {
            let piece = rest.prefix(Self.piece)
            switch piece.withUnsafeBytes({ receiver.receive($0) }) {
            case .taken: rest = rest.dropFirst(piece.count)
            case .later:
                isPaused = true
                return
            case .refused: return end(Unwanted())
            }
        }
        if !hasEnded { end(nil) }
    }

    private func end(_ failure: (any Error)?) {
        guard !hasEnded else { return }
        hasEnded = true
        rest = []
        receiver.receiveEnd(failure)
    }

    // MARK: Files

    /// Reads a file below a folder with a manifest; without the manifest, the folder counts as unreachable, not as empty.
    static func read(_ path: String, upTo longest: Int, manifest: String) -> Found {
        do {
            // Without O_NONBLOCK, opening a FIFO waits for a writer.
            let file = try FileDescriptor.open(
                FilePath(path), .readOnly, options: [.closeOnExec, .noFollow, .nonBlocking])
            defer { try? file.close() }
            let status = try file.stat()
            guard status.type == .regular else { return .failed(FetchFailure(.connect, "\(path) is not a file")) }
            let size = Int(status.size)
            guard size <= longest else { return .large(size) }
            let bytes = try file.read(at: 0, count: size + 1)
            if bytes.count == size { return .file(bytes) }
            return .failed(FetchFailure(.connectionClosed, "\(path) changed while it was read"))
        } catch Errno.noSuchFileOrDirectory where access(manifest, F_OK) == 0 {
            return .missing
        } catch {
            return .failed(FetchFailure(.connect, "cannot read \(path): \(error)"))
        }
    }
}
