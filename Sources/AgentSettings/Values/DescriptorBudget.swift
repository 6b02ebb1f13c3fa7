// SPDX-License-Identifier: Apache-2.0

/// How the agent divides its file descriptors (RLIMIT_NOFILE).
///
/// With few descriptors the agent does less at once, so that one is always free to read a list or write an image.
package struct DescriptorBudget: Equatable, Sendable {
    package static let least = 64

    package let downloads: Int
    /// The most downloads that the descriptors allow, regardless of the configured limit.
    package let possibleDownloads: Int
    /// The most clients at once at the control socket.
    package let clients: Int
    /// The most clients at once per TCP address; 0 if the descriptors suffice for none.
    package let webClients: Int
    package let folders: Int
    package let eventLoops: Int
    /// The time for which an idle connection stays open.
    ///
    /// Each idle connection holds a descriptor, and there may be one for each origin.
    package let idleTime: Duration

    /// The agent's own descriptors: locks, folders, the database, and the helpers with the files that start them.
    private static let own = 36
    /// An event loop has one descriptor each for sockets, wake-ups from other threads, and timers.
    private static let perEventLoop = 3
    /// A client over TCP needs a connection, and the file of the image that it reads.
    private static let perWebClient = 2
    /// A download needs a connection, a file, and a socket or file for its name lookup.
    private static let perDownload = 3

    /// Divides the descriptors; `nil` if there are fewer than ``least``.
    ///
    /// `available` excludes descriptors that were open before the agent started; `addresses` is the number of TCP
    /// addresses to listen on.
    package init?(available: Int, concurrency: Int, processors: Int, addresses: Int) {
        guard available >= Self.least else { return nil }
        eventLoops = max(1, min(processors, available / 32))
        let rest = available - Self.own - eventLoops * Self.perEventLoop
        clients = min(256, rest / 4)
        folders = min(520, rest / 4)
        // A browser needs at least two connections: one stays open for the stream of events.
        webClients = rest < 64 ? 0 : min(64, rest / 32)
        let web = webClients == 0 ? 0 : addresses * (1 + webClients * Self.perWebClient)
        possibleDownloads = max(1, (rest - clients - folders - web) / Self.perDownload)
        downloads = min(concurrency, possibleDownloads)
        idleTime =
            switch available {
            case ..<1024: .milliseconds(10)
            case ..<16_384: .seconds(1)
            default: .seconds(60)
            }
    }
}
