/**
 * Every model call names the run that pays for it and every write to a host names its writer: forgetting it does not compile. The
 * types are checked by `npm run check`; what a default of an ambient reference would hide is found in the sources.
 */
import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import type { Context, Effect } from "effect"
import { describe, expect, it } from "vitest"
import type { ForgeClient, HostMergeQueue } from "../../src/forge/Forge.ts"
import type { Writing } from "../../src/forge/WriteOwner.ts"
import type { Gateway } from "../../src/llm/Gateway.ts"
import type { ModelRun } from "../../src/llm/ModelRun.ts"
import type { Agent } from "../../src/agent/Agent.ts"
import type { AuthorGuess } from "../../src/outputs/AuthorGuess.ts"
import type { Outputs } from "../../src/outputs/Outputs.ts"

type Requires<F> = F extends (...args: never) => Effect.Effect<unknown, unknown, infer R> ? R : never
/** Compiles only where the two are the same. */
type Same<A, B> = [A] extends [B] ? ([B] extends [A] ? true : false) : false
const same = <A, B>(isSame: Same<A, B>): void => expect(isSame).toBe(true)

type Reads =
  | "findAccount"
  | "branchHead"
  | "canWrite"
  | "repositoryId"
  | "commentText"
  | "commitAuthor"
  | "file"
  | "findComment"
  | "gitAuthorization"
  | "missing"
  | "newestCommit"
  | "openPulls"
  | "ownerOf"
  | "branchTip"
  | "pull"
  | "reviewTexts"
  | "self"
/** Methods of the client that are neither known reads nor require an owner. */
type Unowned = {
  [
    K in Exclude<
      keyof ForgeClient,
      | Reads
      | "changes"
      | "ci"
      | "commitComments"
      | "conversations"
      | "issues"
      | "threads"
      | "verdicts"
      | "hooks"
      | "writers"
    >
  ]: Same<Requires<ForgeClient[K]>, Writing> extends true ? never : K
}[Exclude<
  keyof ForgeClient,
  | Reads
  | "changes"
  | "ci"
  | "commitComments"
  | "conversations"
  | "issues"
  | "mergeQueue"
  | "threads"
  | "verdicts"
  | "hooks"
  | "writers"
>]

describe("owners", () => {
  it("are required by types", () => {
    same<Requires<Context.Service.Shape<typeof Gateway>["call"]>, ModelRun>(true)
    same<Requires<Context.Service.Shape<typeof Agent>["analyse"]>, ModelRun>(true)
    same<Requires<Context.Service.Shape<typeof AuthorGuess>["guess"]>, ModelRun>(true)
    same<Requires<Context.Service.Shape<typeof Outputs>["send"]>, Writing>(true)
    same<Unowned, never>(true)
    same<Requires<ForgeClient["changes"][keyof ForgeClient["changes"]]>, never>(true)
    same<Requires<HostMergeQueue[keyof HostMergeQueue]>, never>(true)
    same<Requires<ForgeClient["issues"]["create"]>, Writing>(true)
    same<Requires<ForgeClient["issues"]["edit"]>, Writing>(true)
    same<Requires<ForgeClient["issues"]["remove"]>, Writing>(true)
    same<Requires<ForgeClient["threads"]["resolve"]>, Writing>(true)
    same<Requires<ForgeClient["hooks"]["create"]>, Writing>(true)
    same<Requires<ForgeClient["hooks"]["update"]>, Writing>(true)
    same<Requires<NonNullable<ForgeClient["conversations"]>["reply"]>, Writing>(true)
    same<Requires<NonNullable<NonNullable<ForgeClient["conversations"]>["react"]>>, Writing>(true)
    same<Requires<NonNullable<ForgeClient["verdicts"]>["dismiss"]>, Writing>(true)
    same<Requires<NonNullable<ForgeClient["commitComments"]>["create"]>, Writing>(true)
    // @ts-expect-error a call without a run does not compile
    const unpaid: Effect.Effect<unknown, unknown> = null as unknown as ReturnType<Calls>
    expect(unpaid).toBeNull()
  })

  it("have no default: the existing ambient references permit nothing", () => {
    const root = join(import.meta.dirname, "../..")
    const references = ["actors", "demo", "eval", "nats", "src"].flatMap((folder) =>
      readdirSync(join(root, folder), { recursive: true, encoding: "utf8" })
        .filter((name) => name.endsWith(".ts"))
        .flatMap((name) => {
          const text = readFileSync(join(root, folder, name), "utf8")
          return [...text.matchAll(/Context\.Reference<[^(]*>\("([^"]+)"/g)].map(([, id]) => id)
        })
    )
    expect(references.toSorted()).toEqual([
      "aicr/actors/NewReports",
      "aicr/admin/Caller",
      "aicr/chat/ChatApps",
      "aicr/chat/Directories",
      // Where the sync of a commit runs; its caller waits for it in both cases.
      "aicr/database/SyncOnThread",
      "aicr/forge/DuringOutage",
      // Whether something is searched for.
      "aicr/forge/HasNoOthers",
      "aicr/forge/ResponseTimeout",
      // Whether comments at lines are written.
      "aicr/forge/TakesLineComments",
      "aicr/forge/WriteGap",
      // Records that are read only.
      "aicr/forge/WrittenStatus",
      // Limits of log lines only.
      "aicr/observability/WarningLimits",
      // Records that are read only.
      "aicr/outputs/Records"
    ])
  })
})

type Calls = Context.Service.Shape<typeof Gateway>["call"]
