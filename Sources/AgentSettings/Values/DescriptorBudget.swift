// SPDX-License-Identifier: Apache-2.0

/// What the agent may do at once with the file descriptors that it may have (RLIMIT_NOFILE).
///
/// Where they are few it does less at once: none is to be missing when a list is read or an image is written.
package struct DescriptorBudget: Equatable, Sendable {
    /// The fewest with which an agent starts.
    package static let least = 64

    /// The most downloads at once.
    package let downloads: Int
    /// The most that there could be, whatever the limit is that is set.
    package let possibleDownloads: Int
    /// The most clients at once at the control socket.
    package let clients: Int
    /// The most clients at once at each address of TCP; 0 if there is not enough for any.
    package let webClients: Int
    /// The most folders of the cache that a publication keeps open.
    package let folders: Int
    /// The most threads that wait for sockets.
    package let eventLoops: Int
    /// How long a connection is kept that nothing is asked over: each holds a descriptor, and there may be as many as
    /// origins.
    package let idleTime: Duration

    /// The agent's own: locks, folders, the database, the helpers and what it takes to start them.
    private static let own = 36
    /// An event loop waits for sockets, for other threads and for time.
    private static let perEventLoop = 3
    /// A client over TCP has a connection, and an image that it reads.
    private static let perWebClient = 2
    /// A download has a connection, a file, and a socket or file while its host's name is looked up.
    private static let perDownload = 3

    /// Shares descriptors out; `nil` if there are fewer than ``least``.
    ///
    /// - Parameters:
    ///   - available: How many there may be, without those that were open before the agent began.
    ///   - concurrency: The most downloads at once, if there are enough.
    ///   - processors: How many there are.
    ///   - addresses: At how many addresses of TCP the agent may listen.
    package init?(available: Int, concurrency: Int, processors: Int, addresses: Int) {
        guard available >= Self.least else { return nil }
        eventLoops = max(1, min(processors, available / 32))
        let rest = available - Self.own - eventLoops * Self.perEventLoop
        clients = min(256, rest / 4)
        folders = min(300, rest / 4)
        // A browser takes two at least: one is a stream.
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
