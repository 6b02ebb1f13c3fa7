// SPDX-License-Identifier: Apache-2.0
import Glibc

/// A mutex that ThreadSanitizer knows, in place of that of `Synchronization`, which waits without a call that it sees.
///
/// `Tests/Fuzz/sanitize thread` puts this file into each module that has a mutex.
struct Mutex<Value: ~Copyable>: ~Copyable, @unchecked Sendable {
    private let value = UnsafeMutablePointer<Value>.allocate(capacity: 1)
    private let lock = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)

    init(_ initial: consuming sending Value) {
        value.initialize(to: initial)
        pthread_mutex_init(lock, nil)
    }

    deinit {
        value.deinitialize(count: 1)
        value.deallocate()
        pthread_mutex_destroy(lock)
        lock.deallocate()
    }

    borrowing func withLock<Result: ~Copyable, Failure: Error>(
        _ body: (inout sending Value) throws(Failure) -> sending Result
    ) throws(Failure) -> sending Result {
        pthread_mutex_lock(lock)
        defer { pthread_mutex_unlock(lock) }
        return try body(&value.pointee)
    }
}
