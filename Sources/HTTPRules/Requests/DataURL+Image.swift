// SPDX-License-Identifier: Apache-2.0
package import AppLists
package import CacheFormat
package import ImageChecks

extension DataURL {
    /// Decodes and inspects the embedded image.
    ///
    /// - Throws: A ``FetchFailure`` with code `bad-url`, `too-large`, or one of those of ``ImageRejection``. It is
    ///   permanent.
    package func image(
        upTo limit: ByteCount, _ inspector: ImageInspector
    ) throws(FetchFailure) -> (bytes: [UInt8], info: ImageInfo) {
        let bytes: [UInt8]
        do {
            bytes = try self.bytes()
        } catch {
            throw FetchFailure(error)
        }
        guard bytes.count <= limit.bytes else { throw FetchFailure.tooLarge(limit: limit).forGood }
        do {
            return (bytes, try inspector.inspect(bytes.span.bytes, isComplete: true))
        } catch {
            throw FetchFailure.image(error).forGood
        }
    }
}
