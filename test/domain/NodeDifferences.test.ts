import { describe, expect, it } from "vitest"
import { findDifferences } from "../../src/domain/NodeDifferences.ts"

const [version, configuration] = ["1.0.0", "0123456789ab"]

describe("warnings about a list of nodes", () => {
  it.each<[what: string, nodes: Parameters<typeof findDifferences>[0], expected: ReadonlyArray<string>]>([
    ["none without nodes", [], []],
    [
      "none for equal nodes",
      [
        { version, configuration },
        { version, configuration }
      ],
      []
    ],
    [
      "another version",
      [
        { version, configuration },
        { version: "1.1.0", configuration }
      ],
      ["versions"]
    ],
    [
      "another configuration and version",
      [
        { version, configuration },
        { version: "1.1.0", configuration: "another" }
      ],
      ["versions", "configurations"]
    ]
  ])("%s", (_, nodes, expected) => {
    expect(findDifferences(nodes).map((warning) => /different (\w+)/.exec(warning)?.[1])).toEqual(expected)
  })
})
