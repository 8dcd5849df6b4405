import { describe, expect, it } from "vitest"
import { findNodeWarnings, makeDiffers } from "../../src/domain/NodeWarnings.ts"

const node = {
  version: "1.0.0",
  configuration: "0123456789ab",
  roles: ["ingress"],
  needs: ["ingress"],
  refusedTemplates: []
}
const needy = { ...node, needs: ["ingress", "executor", "chat"] }

describe("warnings about a list of nodes", () => {
  it.each<[what: string, nodes: Parameters<typeof findNodeWarnings>[0], expected: ReturnType<typeof findNodeWarnings>]>(
    [
      ["none without nodes", [], []],
      ["none for equal nodes", [node, node], []],
      ["another version", [node, { ...node, version: "1.1.0" }], [{ _tag: "VersionsDiffer" }]],
      [
        "another configuration and version",
        [node, { ...node, version: "1.1.0", configuration: "another" }],
        [{ _tag: "VersionsDiffer" }, { _tag: "ConfigurationsDiffer" }]
      ],
      [
        "roles that no node has",
        [needy, node],
        [
          { _tag: "RoleUnserved", role: "executor" },
          { _tag: "RoleUnserved", role: "chat" }
        ]
      ],
      [
        "templates that some node cannot render, each once",
        [
          { ...node, refusedTemplates: ["short", "long"] },
          { ...node, refusedTemplates: ["short"] }
        ],
        [{ _tag: "TemplatesRefused", names: ["short", "long"] }]
      ],
      ["roles of different nodes", [needy, { ...node, roles: ["executor", "chat"] }], []]
    ]
  )("%s", (_, nodes, expected) => {
    expect(findNodeWarnings(nodes)).toEqual(expected)
  })
})

it.each([
  ["no others", [["a", "1"]], [[]]],
  [
    "one of three",
    [
      ["a", "1"],
      ["a", "1"],
      ["b", "1"]
    ],
    [[], [], ["configuration"]]
  ],
  [
    "each of two",
    [
      ["a", "1"],
      ["a", "2"]
    ],
    [["version"], ["version"]]
  ],
  [
    "in both",
    [
      ["a", "1"],
      ["a", "1"],
      ["b", "2"]
    ],
    [[], [], ["configuration", "version"]]
  ]
])("a node differs from most nodes: %s", (_, nodes, expected) => {
  const given = nodes.map(([configuration = "", version = ""]) => ({ configuration, version }))
  expect(given.map(makeDiffers(given))).toEqual(expected)
})
