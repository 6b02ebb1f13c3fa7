// SPDX-License-Identifier: Apache-2.0
public import ArgumentParser
public import CacheFormat

extension IconURL: ExpressibleByArgument {
    public init?(argument: String) {
        if argument.isEmpty { return nil }
        self.init(argument)
    }
}

extension ListName: ExpressibleByArgument {
    public init?(argument: String) {
        if argument.isEmpty { return nil }
        self.init(argument)
    }
}
