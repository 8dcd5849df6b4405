/** Channels that get nothing of a change because they write to another host. */
import { describe, expect, it } from "vitest"
import { Redacted } from "effect"
import type { TriggerProfile } from "../../../src/config/Snapshot.ts"
import type { TriggerKind } from "../../../src/domain/Kinds.ts"
import { findHostMismatch } from "../../../src/outputs/channels/ChannelHost.ts"
import { channelProblems } from "../../../src/outputs/channels/ChannelProblems.ts"
import { testSnapshot } from "../../harness/TestSnapshot.ts"
import { channel, workspace } from "../Fixtures.ts"
import { inEnglish } from "../../../src/text/en.ts"
import { triggerDefaults } from "../../harness/TriggerDefaults.ts"

const profile = (name: string, kind: TriggerKind, host: string): TriggerProfile => ({
  name,
  kind,
  enabled: true,
  webhookSecret: undefined,
  token: Redacted.make("t"),
  baseUrl: `https://${host}`,
  apiUrl: `https://${host}/api`,
  settings: { name, kind, ...triggerDefaults }
})

const withPort = (one: TriggerProfile, port: string): TriggerProfile => ({
  ...one,
  settings: { ...one.settings, port }
})

const triggers = new Map(
  [
    profile("a", "gitea", "a.test"),
    profile("a-writer", "gitea", "a.test"),
    profile("b", "gitea", "b.test"),
    profile("hub", "github", "hub.test"),
    profile("depot", "perforce", "depot.test"),
    profile("depot-1", "perforce", "depot.test"),
    withPort(profile("depot-2", "perforce", "depot.test"), "other.test:1666")
  ].map((one) => [one.name, one] as const)
)

const cases: ReadonlyArray<readonly [string, Parameters<typeof channel>[0], string, string | undefined, boolean]> = [
  ["the change's own host", { kind: "gitea_pr_review" }, "a", undefined, true],
  ["another credential of the same host", { kind: "gitea_pr_review", trigger: "a-writer" }, "a", undefined, true],
  ["another host of the same kind", { kind: "gitea_pr_review", trigger: "b" }, "a", undefined, false],
  ["another host of another kind", { kind: "github_pr_review", trigger: "hub" }, "a", undefined, false],
  [
    "another host, with the repository there",
    { kind: "github_issue", trigger: "hub", repo: "found" },
    "a",
    undefined,
    true
  ],
  ["another host, with the owner there", { kind: "gitea_issue", trigger: "b", owner: "team" }, "a", undefined, true],
  ["a kind of channel that the host does not have", { kind: "github_pr_review" }, "a", undefined, false],
  ["a depot's change, bound to a host", { kind: "gitea_issue", trigger: "a" }, "depot", undefined, false],
  [
    "a depot's change, with the repository there",
    { kind: "gitea_issue", trigger: "a", repo: "found" },
    "depot",
    undefined,
    true
  ],
  ["a schedule on the host of the channel", { kind: "gitea_issue", trigger: "a" }, "nightly", "a", true],
  ["a changelist, in Swarm", { kind: "p4_swarm" }, "depot", undefined, true],
  ["a changelist of another server, in Swarm", { kind: "p4_swarm", trigger: "depot-2" }, "depot", undefined, false],
  ["a changelist of the same server, in Swarm", { kind: "p4_swarm", trigger: "depot-1" }, "depot", undefined, true],
  ["a pull request, in Swarm", { kind: "p4_swarm" }, "a", undefined, false],
  ["a chat group", { kind: "feishu_bot", trigger: "b" }, "a", undefined, true],
  ["a trigger that is gone", { kind: "gitea_pr_review", trigger: "gone" }, "a", undefined, true]
]

describe("a channel and the host of a change", () => {
  it.each(cases)("%s", (_, given, trigger, host, publishes) => {
    const change = host === undefined ? { trigger } : { trigger, host }
    expect(findHostMismatch(channel(given), change, triggers) === undefined).toBe(publishes)
  })

  it("is reported by config check once per trigger", () => {
    const bound = workspace({
      channels: [{ name: "elsewhere", kind: "gitea_pr_review", trigger: "b" }],
      routes: { default: { summary: ["elsewhere"] } }
    })
    const { source_repo: _, ...instance } = bound.instance
    const shop = { ...bound, instance }
    const snapshot = {
      ...testSnapshot({}),
      triggers,
      workspaces: new Map([
        ["shop", shop],
        ["also", shop]
      ])
    }
    const found = channelProblems(snapshot)
    expect(found.map(({ path, severity }) => [path, severity])).toEqual(
      Array.from({ length: 3 }, () => ["outputs.channels.elsewhere", "warning"])
    )
    expect(found.map(({ reason }) => inEnglish(reason))[0]).toBe(
      "receives no changes of trigger a: it writes to the host of trigger b, and the change is on the host of trigger a; to publish it there, set repo or project_id of the channel"
    )
  })
})
