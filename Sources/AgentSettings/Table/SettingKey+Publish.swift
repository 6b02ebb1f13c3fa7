// SPDX-License-Identifier: Apache-2.0

extension SettingKey {
    static let publish: [SettingKey] = [
        .duration(
            "publish.heartbeat", \.publish.heartbeat, atLeast: .seconds(1),
            """
            How long after a publication the next one follows although nothing changed, so that other machines can tell \
            idle from dead.
            """)
    ]
}
