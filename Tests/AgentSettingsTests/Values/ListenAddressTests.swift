import AgentSettings
// SPDX-License-Identifier: Apache-2.0
import Testing

@Suite("Addresses to listen at")
struct ListenAddressTests {
    @Test(
        "a listen address has a port, and says whether others reach it",
        arguments: [
            ("127.0.0.1:8080", "127.0.0.1:8080", true), ("127.8.9.1:0", "127.8.9.1:0", true),
            ("[::1]:65535", "[::1]:65535", true), ("localhost:80", "127.0.0.1:80", true),
            ("0.0.0.0:80", "0.0.0.0:80", false), ("[::]:80", "[::]:80", false),
            ("192.168.1.2:80", "192.168.1.2:80", false),
        ])
    func addresses(text: String, shown: String, isLoopback: Bool) throws {
        let address = try #require(ListenAddress(text))
        #expect(address.description == shown && address.isLoopback == isLoopback)
    }

    @Test(
        "text that is no listen address is refused",
        arguments: [
            "", ":80", "127.0.0.1", "127.0.0.1:", "localhost:65536", "127.0.0.1:-1", "127.0.0.1:+1", "::1:80",
            "[127.0.0.1]:80", "[::1:80", "example.com:80", "127.0.0.1:８０", "http://127.0.0.1:80",
        ])
    func refusals(text: String) {
        #expect(ListenAddress(text) == nil)
    }
}
