// SPDX-License-Identifier: Apache-2.0
import CacheFormat
import Glibc
import HTTPRules
import ImageChecks
import Reports
import SyncPlan
import SystemPackage

/// Renders images in `syncagent-render`, a process for each order, because its libraries can crash.
///
/// The process is given bytes, and opens no file. A second program may read formats that the first does not.
package struct RenderHelper: Sendable {
    /// The paths of the programs.
    ///
    /// Without the first one, no other is used. A missing program may be installed later.
    let programs: [FilePath]
    /// The time limit for one image.
    var timeout: Duration = .seconds(30)

    /// The results of an order, before the images are stored.
    struct Work: Sendable {
        var version: Int?
        var programs: Int?
        var rendered: [Digest: [Int: [UInt8]]] = [:]
        var failed: [Digest: RenderFailure] = [:]
        /// The images whose files are missing or damaged.
        var damaged: Set<Digest> = []
        var trouble: String?
    }

    /// Renders images; when this returns, the process has ended.
    ///
    /// Blocks until the order is done.
    func render(_ order: RenderOrder, from folder: CacheFolder, _ killer: HelperKiller) -> Work {
        var work = Work()
        let there = programs.filter { access($0.string, X_OK) == 0 }
        guard let first = programs.first, there.first == first else {
            let name = programs.first?.lastComponent?.string ?? "the renderer"
            let isThere = programs.first.map { access($0.string, F_OK) == 0 } ?? false
            work.trouble =
                isThere
                ? "\(name) cannot be executed: install the package syncagent-render again"
                : "\(name) is not installed: install the package syncagent-render"
            return work
        }
        work.programs = there.count
        var rest = load(order, from: folder, &work)
        let unread = work.trouble
        for program in there {
            guard work.trouble == unread, program == first || !rest.isEmpty else { break }
            rest = run(program, rest, of: order, killer, &work)
        }
        guard work.trouble == unread, !killer.isKilled else { return work }
        for (item, _) in rest {
            work.failed[item.image.sha256] = RenderFailure(
                .unsupported, "the renderer does not support \(item.image.type)")
        }
        return work
    }

    private typealias Task = (item: RenderOrder.Item, picture: RenderRequest.Picture)

    /// Reads the images to render.
    private func load(_ order: RenderOrder, from folder: CacheFolder, _ work: inout Work) -> [Task] {
        var tasks: [Task] = []
        for item in order.items {
            let digest = item.image.sha256
            do {
                let found = try folder.readIfPresent(item.image.path, upTo: item.image.bytes)
                guard let bytes = found, Digest.of(bytes) == digest else {
                    work.damaged.insert(digest)
                    continue
                }
                guard let picture = try RenderRequest.picture(of: bytes, forPixels: item.pixels.last ?? 1) else {
                    work.failed[digest] = RenderFailure(.unsupported, "\(item.image.type) is not rendered")
                    continue
                }
                tasks.append((item, picture))
            } catch let rejection as ImageRejection {
                work.failed[digest] = RenderFailure(.failed, "\(rejection)")
            } catch {
                // The other images can still be rendered; this one is retried with the next order.
                work.trouble = "\(error)"
            }
        }
        return tasks
    }

    /// Runs one program on the formats that it reads; returns the other tasks.
    private func run(
        _ program: FilePath, _ tasks: [Task], of order: RenderOrder, _ killer: HelperKiller, _ work: inout Work
    ) -> [Task] {
        let name = program.lastComponent?.string ?? "the renderer"
        var (rest, others) = (tasks, [Task]())
        // The images during which the program died. Each is retried once, alone: the machine may have been busy, asleep
        // or short of memory.
        var suspects: [Task] = []
        var isAlone = false
        repeat {
            let process: HelperProcess
            do throws(Errno) {
                process = try HelperProcess(program, [])
            } catch {
                work.trouble = Shortage(starting: error)?.reason ?? "\(FileError("start", program.string, error))"
                return []
            }
            defer { process.end() }
            killer.attach(process)
            let end = converse(with: process, &rest, &others, of: order, &work)
            if killer.isKilled { return [] }
            switch end {
            case .done: break
            case .died(let how, let code):
                guard let culprit = rest.first else {
                    work.trouble = "\(name) \(how)"
                    return []
                }
                rest.removeFirst()
                if isAlone {
                    work.failed[culprit.item.image.sha256] = RenderFailure(code, "the renderer \(how)")
                } else {
                    suspects.append(culprit)
                }
            case .unusable(let how):
                work.trouble = "\(name) \(how)"
                return []
            }
            if rest.isEmpty, let suspect = suspects.popLast() {
                rest = [suspect]
                isAlone = true
            }
        } while !rest.isEmpty
        return others
    }

    private enum End {
        case done
        /// The program died during the first of the remaining images, which gets the failure.
        case died(String, RenderFailure.Code)
        /// The program cannot be used, for a reason that is not about an image.
        case unusable(String)
    }

    private func converse(
        with process: HelperProcess, _ rest: inout [Task], _ others: inout [Task], of order: RenderOrder,
        _ work: inout Work
    ) -> End {
        var output = RenderOutput()
        var greeting: RenderGreeting?
        var deadline = ContinuousClock.now + timeout
        while true {
            switch process.next(by: deadline) {
            case .output(let bytes):
                output.append(bytes)
                if greeting == nil, output.count >= RenderGreeting.length {
                    guard let found = RenderGreeting(&output) else { return .unusable("is not a renderer") }
                    greeting = found
                    if work.version == nil { work.version = found.version }
                    others += rest.filter { !found.reads($0.picture.kind) }
                    rest.removeAll { !found.reads($0.picture.kind) }
                    var requests: [UInt8] = []
                    for task in rest { RenderRequest.write(task.picture, task.item, of: order, to: &requests) }
                    process.send(requests)
                }
                do {
                    while greeting != nil, let task = rest.first,
                        let answer = try RenderAnswer(&output, for: task.item)
                    {
                        record(answer, of: task.item, &work)
                        rest.removeFirst()
                        deadline = .now + timeout
                    }
                    if greeting != nil, rest.isEmpty, !output.isEmpty {
                        return .unusable("sent unexpected output")
                    }
                } catch {
                    return .died("sent an invalid answer", .failed)
                }
            case .message, .outputEnded: continue
            case .ended: return end(of: process, hasGreeted: greeting != nil, isDone: rest.isEmpty)
            case .late:
                return greeting == nil
                    ? .unusable("did not respond within \(DurationText.format(timeout))")
                    : .died("took longer than \(DurationText.format(timeout))", .interrupted)
            }
        }
    }

    private func end(of process: HelperProcess, hasGreeted: Bool, isDone: Bool) -> End {
        if let error = process.unsent { return .unusable("did not read its input: \(error)") }
        switch process.end() {
        case .code(let code):
            if isDone, hasGreeted, code == 0 { return .done }
            // Exit code 65 (EX_DATAERR, sysexits(3)): the program does not understand the request, so no image is to
            // blame.
            if code == 65 { return .unusable("has another version than the agent: install the same version of both") }
            let how = "exited with status \(code)"
            return hasGreeted ? .died(how, .failed) : .unusable("\(how): install its package again")
        case .signal(let signal):
            let how = "was killed by signal \(signal)"
            // SIGKILL comes from a user, or from a system without memory: it says little about the image.
            return hasGreeted ? .died(how, signal == SIGKILL ? .interrupted : .failed) : .unusable(how)
        }
    }

    private func record(_ answer: RenderAnswer, of item: RenderOrder.Item, _ work: inout Work) {
        switch answer {
        case .refused(let failure): work.failed[item.image.sha256] = failure
        case .rendered(let images):
            work.rendered[item.image.sha256] = Dictionary(
                zip(item.pixels, images)
            ) { first, _ in first }
        }
    }
}
