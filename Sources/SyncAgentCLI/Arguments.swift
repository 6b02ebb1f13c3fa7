// SPDX-License-Identifier: Apache-2.0
public import ArgumentParser
public import CacheFormat

extension IconURL: ExpressibleByArgument {}

extension ListName: ExpressibleByArgument {}
