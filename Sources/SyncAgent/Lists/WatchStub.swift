import SystemPackage
package enum WatchSignal: Equatable, Sendable { case ready, changed, overflow, lost(reason: String), refused(errno: String), died(String) }
struct WatchHelper { init(executable: FilePath, folder: FilePath) {} ; func watch(_ r: @Sendable (WatchSignal) async -> Void) async throws { } }
