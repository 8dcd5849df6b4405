/** Changes for which repositories for members may be read, according to the host. */
import { Effect } from "effect"
import { assert, describe, it } from "vitest"
import { verbatimReason } from "../../../src/domain/Reason.ts"
import { findOutsider, maxPushers } from "../../../actors/review/Outsider.ts"
import { toSnapshot } from "../../../src/config/LoadConfig.ts"
import { administrator } from "../../../src/domain/Change.ts"
import type { Change } from "../../../src/domain/Change.ts"
import { ForgeError } from "../../../src/forge/ForgeError.ts"
import { forgeTable } from "../../../src/forge/hosts/ForgeTable.ts"
import type { Pushers } from "../../../src/store/Receipts.ts"
import { newTraffic } from "../../harness/Owners.ts"

const failing = (reason: ForgeError["reason"]) =>
  Effect.fail(new ForgeError({ reason, operation: "GET /permission", why: verbatimReason(reason) }))

const noPushers: Pushers = { usernames: [], pushedHead: false, isPart: false }

const outsider = async (
  over: Partial<Omit<Change, "headRepo">> & { readonly headRepo?: Change["headRepo"] | undefined },
  repositories: ReadonlyArray<object>,
  { answer = members, pushers = noPushers }: { readonly answer?: typeof members; readonly pushers?: Pushers } = {}
) => {
  const asked: Array<string> = []
  const snapshot = await Effect.runPromise(
    toSnapshot(
      {
        triggers: [{ name: "hub", kind: "github", webhook_secret: "s" }],
        workspaces: {
          instances: {
            app: {
              source_repo: { trigger: "hub", repo: "acme/app" },
              context_repositories: repositories.map((one, index) => ({
                alias: `a${index}`,
                kind: "git",
                url: "https://git.test/a",
                ...one
              }))
            }
          }
        }
      },
      {}
    )
  )
  const [workspace] = snapshot.workspaces.values()
  const [profile] = snapshot.triggers.values()
  if (workspace === undefined || profile === undefined) throw new Error("the document has one of each")
  const change: Parameters<typeof findOutsider>[0] = {
    provider: "github",
    trigger: "hub",
    workspace: "app",
    repo: { fullName: "acme/app" },
    target: { kind: "pull_request", number: 1 },
    headRepo: { fullName: "Acme/App" },
    ...over
  }
  const canWrite = (_: Change["repo"], person: string) => {
    asked.push(person)
    return answer(person)
  }
  const client = { canWrite, ownerOf: forgeTable.github.client(profile, newTraffic()).ownerOf }
  const found = await Effect.runPromise(Effect.result(findOutsider(change, workspace, client, Effect.succeed(pushers))))
  return { found: found._tag === "Success" ? found.success : found.failure.reason, asked }
}

const members = (person: string): Effect.Effect<boolean, ForgeError> => Effect.succeed(person === "ada")
const by = (username: string): Partial<Change> => ({ author: { username } })

describe("outsider", () => {
  it.each<readonly [string, Partial<Change>, string | undefined, ReadonlyArray<string>]>([
    ["a member", by("ada"), undefined, ["ada"]],
    ["somebody else", by("mallory"), "mallory", ["mallory"]],
    ["nobody the host names", {}, "the author of the change, whom the host does not name,", []],
    ["somebody else, asked for by a member", { ...by("mallory"), requestedBy: "ada" }, "mallory", ["mallory"]],
    ["a member, asked for by somebody else", { ...by("ada"), requestedBy: "mallory" }, "mallory", ["ada", "mallory"]],
    [
      "a member, asked for by an administrator",
      { ...by("ada"), requestedBy: administrator("root") },
      undefined,
      ["ada"]
    ],
    ["a push", { ...by("mallory"), target: { kind: "push", branch: "main" } }, undefined, []]
  ])("%s", async (_, change, expected, asked) => {
    assert.deepStrictEqual(await outsider(change, [{}, { visibility: "any_author" }]), { found: expected, asked })
  })

  const fork = (fullName: string): Partial<Change> => ({ ...by("ada"), headRepo: { fullName } })
  const pushedBy = (...usernames: ReadonlyArray<string>): Pushers => ({ usernames, pushedHead: true, isPart: false })
  const group = "the owner of the head's repository, which is a group or hidden from the account of the trigger,"
  const numbered = { fullName: "acme/app", hostId: 5 }
  it.each<readonly [string, Parameters<typeof outsider>[0], Pushers, string | undefined, ReadonlyArray<string>]>([
    ["a fork of a member", fork("ada/app"), pushedBy("ada"), undefined, ["ada"]],
    ["a fork of somebody else", fork("mallory/app"), pushedBy("ada"), "mallory", ["ada", "mallory"]],
    ["a member's fork, to which somebody else pushed", fork("ada/app"), pushedBy("ada", "eve"), "eve", ["ada", "eve"]],
    [
      "a member's fork, of whose head no push is known",
      fork("ada/app"),
      { ...pushedBy("ada"), pushedHead: false },
      "the account that pushed the head, which no delivery names,",
      []
    ],
    [
      "a fork to which too many pushed",
      fork("ada/app"),
      { ...pushedBy("ada"), isPart: true },
      `one of more than ${maxPushers} accounts that pushed to the head`,
      []
    ],
    ["a fork beside its original", fork("acme/app-2"), pushedBy("ada"), group, []],
    [
      "a fork that was deleted or is hidden",
      { ...by("ada"), headRepo: undefined },
      pushedBy("ada"),
      "the owner of the head's repository, which the host does not name,",
      []
    ],
    [
      "a repository with another name and the same number",
      { ...by("ada"), repo: numbered, headRepo: { fullName: "renamed/app", hostId: 5 } },
      noPushers,
      undefined,
      ["ada"]
    ],
    [
      "a repository with the same name and another number",
      { ...by("ada"), repo: numbered, headRepo: { fullName: "acme/app", hostId: 6 } },
      noPushers,
      group,
      []
    ]
  ])("%s", async (_, change, pushers, expected, asked) => {
    assert.deepStrictEqual(await outsider(change, [{}], { pushers }), { found: expected, asked })
  })

  it("no request is sent if nothing is for members only", async () => {
    assert.deepStrictEqual(await outsider(by("mallory"), []), { found: undefined, asked: [] })
    const open = [{ visibility: "any_author" }]
    assert.deepStrictEqual(await outsider(by("mallory"), open), { found: undefined, asked: [] })
  })

  it("a host that refuses counts as no, one that is unavailable is queried again", async () => {
    const { found } = await outsider(by("ada"), [{}], { answer: () => failing("forbidden") })
    assert.strictEqual(found, "ada")
    const later = await outsider(by("ada"), [{}], { answer: () => failing("unavailable") })
    assert.strictEqual(later.found, "unavailable")
  })
})
