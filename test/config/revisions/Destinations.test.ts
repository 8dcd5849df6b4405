import { describe, expect, it } from "vitest"
import { destinationAt } from "../../../src/config/revisions/Destinations.ts"

const document = {
  triggers: [
    { name: "git", kind: "gitea", base_url: "https://git.example", http_proxy: "http://proxy.example", token: "t" },
    { name: "depot", kind: "perforce", port: "ssl:p4.example:1666", password: "p" }
  ],
  outputs: {
    channels: [
      { name: "comments", kind: "gitea", trigger: "git", token: "t" },
      { name: "room", kind: "slack", connection: "chat", webhook_url: "https://hook.example", secret: "s" }
    ]
  },
  im: { connections: { chat: { kind: "slack", base_url: "https://chat.example" } } }
}

const cases: ReadonlyArray<readonly [title: string, path: ReadonlyArray<number | string>, expected: unknown]> = [
  [
    "kind, address and proxy of a trigger",
    ["triggers", 0, "token"],
    { kind: "gitea", endpoints: { base_url: "https://git.example", http_proxy: "http://proxy.example" } }
  ],
  ["port of a server", ["triggers", 1, "password"], { kind: "perforce", endpoints: { port: "ssl:p4.example:1666" } }],
  [
    "trigger of a channel",
    ["outputs", "channels", 0, "token"],
    {
      kind: "gitea",
      endpoints: {},
      trigger: {
        name: "git",
        kind: "gitea",
        endpoints: { base_url: "https://git.example", http_proxy: "http://proxy.example" }
      }
    }
  ],
  [
    "connection of a channel",
    ["outputs", "channels", 1, "secret"],
    {
      kind: "slack",
      endpoints: { webhook_url: "https://hook.example" },
      connection: { name: "chat", kind: "slack", endpoints: { base_url: "https://chat.example" } }
    }
  ]
]

describe("the destination of a credential includes", () => {
  it.each(cases)("%s", (_title, path, expected) => {
    expect(destinationAt(document, path)).toEqual(expected)
  })
})
