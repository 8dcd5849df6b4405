import { describe, expect, it } from "vitest"
import { makeDestinationAt } from "../../../src/config/revisions/Destinations.ts"

const document = {
  triggers: [
    { name: "git", kind: "gitea", base_url: "https://git.example", http_proxy: "http://proxy.example", token: "t" },
    { name: "depot", kind: "perforce", port: "ssl:p4.example:1666", password: "p" }
  ],
  outputs: {
    channels: [
      { name: "comments", kind: "gitea_pr_review", trigger: "git", token: "t" },
      { name: "room", kind: "feishu_app", connection: "chat", secret: "s" },
      { name: "any", kind: "gitea_pr_review", token: "t", notify_feishu: { secret: "s" } }
    ]
  },
  im: { connections: { chat: { kind: "feishu_app", base_url: "https://chat.example" } } }
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
      kind: "gitea_pr_review",
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
      kind: "feishu_app",
      endpoints: {},
      connection: { name: "chat", kind: "feishu_app", endpoints: { base_url: "https://chat.example" } }
    }
  ],
  [
    "triggers whose changes a channel without a trigger serves",
    ["outputs", "channels", 2, "token"],
    {
      kind: "gitea_pr_review",
      endpoints: {},
      triggers: [{ kind: "gitea", endpoints: { base_url: "https://git.example", http_proxy: "http://proxy.example" } }]
    }
  ],
  [
    "no trigger for the chat message of such a channel",
    ["outputs", "channels", 2, "notify_feishu", "secret"],
    { kind: "gitea_pr_review", endpoints: {} }
  ]
]

describe("the destination of a credential includes", () => {
  it.each(cases)("%s", (_title, path, expected) => {
    expect(makeDestinationAt(document)(path)).toEqual(expected)
  })
})
