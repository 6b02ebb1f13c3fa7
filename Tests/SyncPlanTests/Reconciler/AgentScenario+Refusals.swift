// SPDX-License-Identifier: Apache-2.0
import CacheFormat
import HTTPRules
import SyncPlan

extension AgentScenario {
    /// Has the cache folder refuse the publication, or some of its images; `lost` ones are missing in `staging/`.
    mutating func refusePublication(
        losing lost: Set<String> = [], unplaced: Set<String> = [], unnamed: Set<IconURL> = []
    ) throws {
        try endPublication { disk, publication in
            disk.refuse(publication, lost: lost, unplaced: unplaced, unnamed: unnamed)
        }
    }

    /// Finds no more room than this for the documents of the publication.
    mutating func refusePublication(room: Int) throws {
        try endPublication { _, publication in
            let sizes = Dictionary(publication.documents.map { ($0.list, $0.json.utf8.count) }) { a, _ in a }
            let shortage = Shortage(
                bytes: sizes.values.reduce(0, +), isGeneral: false, reason: "documents do not fit")
            return .noRoom(shortage, room: room, documents: sizes)
        }
    }
}
