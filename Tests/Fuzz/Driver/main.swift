// SPDX-License-Identifier: Apache-2.0
import FuzzTargets
import Glibc

// libFuzzer with one of the targets, which the environment names: `SYNCAGENT_FUZZ_TARGET=urls Fuzzer CORPUS`.

// libdispatch otherwise writes to syslog for every worker thread of an unprivileged process.
setenv("LIBDISPATCH_LOG", "NO", 0)

private let target: FuzzTarget = {
    let name = getenv("SYNCAGENT_FUZZ_TARGET").map { String(cString: $0) }
    guard let target = FuzzTarget.all.first(where: { $0.name == name }) else {
        fatalError("SYNCAGENT_FUZZ_TARGET is to be one of \(FuzzTarget.all.map(\.name))")
    }
    return target
}()

private typealias Arguments = UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>

@_silgen_name("LLVMFuzzerRunDriver")
private func runDriver(
    _ count: UnsafeMutablePointer<CInt>, _ arguments: UnsafeMutablePointer<Arguments>,
    _ body: @convention(c) (UnsafePointer<UInt8>?, Int) -> CInt
) -> CInt

private var count = CommandLine.argc
private var arguments: Arguments = CommandLine.unsafeArgv
exit(
    runDriver(&count, &arguments) { bytes, count in
        do {
            try target.run(Array(UnsafeBufferPointer(start: bytes, count: count)))
        } catch {
            fatalError("\(error)")
        }
        return 0
    })
