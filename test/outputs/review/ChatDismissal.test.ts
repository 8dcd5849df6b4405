/** Permission to dismiss a finding from chat: the account of a person, its right to write, and the author of the change. */
import { Effect } from "effect"
import { describe, expect, it } from "vitest"
import { MemberFiles } from "../../../src/chat/members/MemberFiles.ts"
import type { ChatPrincipal } from "../../../src/domain/ChatRequest.ts"
import type { ForgeClient } from "../../../src/forge/Forge.ts"
import { forgeTable } from "../../../src/forge/hosts/ForgeTable.ts"
import { findDismisser } from "../../../src/outputs/review/ChatDismissal.ts"
import { testSnapshotWith } from "../../harness/ActorParts.ts"
import { change, workspace } from "../Fixtures.ts"
import { newTraffic } from "../../harness/Owners.ts"

const connection = { kind: "feishu_app", enabled: true, app_id: "cli_a" } as const
const person = (id: string): ChatPrincipal => ({ type: "feishu_open_id", id })
const member = (key: string, username: string, more: object = {}) => ({
  key,
  names: [],
  emails: [],
  accounts: [{ provider: "gitea", sourceTrigger: undefined, username, ...more }] as const,
  mention: { type: "feishu_open_id", id: `ou_${key}` } as const
})
const scope = { kind: "feishu_app", id: "cli_a" } as const
const members = MemberFiles.of({
  get: (_, { identity_scope: of }) =>
    Effect.succeed(
      of === undefined
        ? undefined
        : {
            scope,
            members: [
              member("ann", "ann"),
              member("eve", "eve"),
              member("dana", "DANA"),
              member("far", "ann", { sourceTrigger: "elsewhere" })
            ]
          }
    )
})

const profile = testSnapshotWith("shop", "host").current().triggers.get("host")
const client = (author: { readonly username: string } | undefined): ForgeClient => {
  if (profile === undefined) throw new Error("the trigger is missing")
  const made = forgeTable.gitea.client(profile, newTraffic())
  return {
    ...made,
    canWrite: (_, username) => Effect.succeed(username.toLowerCase() !== "eve"),
    pull: () => Effect.succeed({ author } as Effect.Success<ReturnType<ForgeClient["pull"]>>)
  }
}

const directory = (id: string) => ({ source: "file", path: "m", directory_id: "d", identity_scope: { ...scope, id } })
const room = (more: object) => ({ name: "room", kind: "feishu_app", app_id: "cli_a", ...more })

const decide = (
  who: ChatPrincipal,
  channels: ReadonlyArray<object>,
  dismissal: "maintainers" | "anyone",
  author: { readonly username: string } | "unknown" = { username: "dana" }
) => {
  const own = workspace({ channels: channels as never }, { dismissal })
  const dismisser = { person: who, connection, connectionId: "lark" }
  return Effect.runPromise(
    findDismisser(
      client(author === "unknown" ? undefined : author),
      members,
      own,
      { ...change, provider: "gitea" },
      dismisser
    )
  )
}

describe("a finding is dismissed from chat", () => {
  const listed = [room({ member_directory: directory("cli_a") })]
  const mapped = [room({ user_mappings: { ann: "ou_x", "x@example.test": "ou_y", dana: "ou_z" } })]
  it.each([
    ["a maintainer of a member file", "ou_ann", listed, "maintainers", "ann"],
    ["a maintainer of a mapping", "ou_x", mapped, "maintainers", "ann"],
    ["a person without an account, where anyone may", "ou_nobody", listed, "anyone", "ou_nobody"],
    ["a person who may only read, where anyone may", "ou_eve", listed, "anyone", "eve"]
  ] as const)("by %s", async (_, id, channels, dismissal, by) => {
    expect(await decide(person(id), channels, dismissal)).toEqual({ _tag: "Permitted", by })
  })

  it.each([
    ["ou_ann", "maintainers", { _tag: "Permitted", by: "ann" }],
    ["ou_nobody", "maintainers", { _tag: "Refused", outcome: "no_account" }],
    ["ou_eve", "maintainers", { _tag: "Refused", outcome: "not_permitted" }],
    ["ou_nobody", "anyone", { _tag: "Permitted", by: "ou_nobody" }],
    ["ou_eve", "anyone", { _tag: "Permitted", by: "eve" }]
  ] as const)("by %s with dismissal %s of a change without a known author: %j", async (id, dismissal, outcome) => {
    expect(await decide(person(id), listed, dismissal, "unknown")).toEqual(outcome)
  })

  it.each([
    ["a person who may only read", "ou_eve", listed, "maintainers", "not_permitted"],
    ["the author of the change", "ou_dana", listed, "maintainers", "own_change"],
    ["the author of the change, where anyone may", "ou_z", mapped, "anyone", "own_change"],
    ["a person without an account", "ou_nobody", listed, "maintainers", "no_account"],
    ["a person whose account is at another host", "ou_far", listed, "maintainers", "no_account"],
    ["a person who is mapped by an e-mail address", "ou_y", mapped, "maintainers", "no_account"],
    [
      "a person of another scope",
      "ou_ann",
      [room({ member_directory: directory("cli_b") })],
      "maintainers",
      "no_account"
    ],
    ["a person of another application", "ou_x", [{ ...mapped[0], app_id: "cli_b" }], "maintainers", "no_account"]
  ] as const)("not by %s", async (_, id, channels, dismissal, outcome) => {
    expect(await decide(person(id), channels, dismissal)).toEqual({ _tag: "Refused", outcome })
  })
})
