/** Changes for which repositories for members may be read, according to the host. */
import { Effect } from "effect"
import { assert, describe, it } from "vitest"
import { findOutsider } from "../../actors/Outsider.ts"
import { toSnapshot } from "../../src/config/LoadConfig.ts"
import { administrator } from "../../src/domain/Change.ts"
import type { Change } from "../../src/domain/Change.ts"
import { ForgeError } from "../../src/forge/ForgeError.ts"

const failing = (reason: ForgeError["reason"]) =>
  Effect.fail(new ForgeError({ reason, operation: "GET /permission", message: reason }))

const outsider = async (over: Partial<Change>, repositories: ReadonlyArray<object>, answer = members) => {
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
  if (workspace === undefined) throw new Error("the document has a workspace")
  const change: Change = {
    provider: "github",
    trigger: "hub",
    workspace: "app",
    repo: { fullName: "acme/app" },
    target: { kind: "pull_request", number: 1 },
    ...over
  }
  const canWrite = (_: Change["repo"], person: string) => {
    asked.push(person)
    return answer(person)
  }
  const found = await Effect.runPromise(Effect.result(findOutsider(change, workspace, { canWrite })))
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

  it("no request is sent if nothing is for members only", async () => {
    assert.deepStrictEqual(await outsider(by("mallory"), []), { found: undefined, asked: [] })
    const open = [{ visibility: "any_author" }]
    assert.deepStrictEqual(await outsider(by("mallory"), open), { found: undefined, asked: [] })
  })

  it("a host that refuses counts as no, one that is unavailable is queried again", async () => {
    const { found } = await outsider(by("ada"), [{}], () => failing("forbidden"))
    assert.strictEqual(found, "ada")
    assert.strictEqual((await outsider(by("ada"), [{}], () => failing("unavailable"))).found, "unavailable")
  })
})
