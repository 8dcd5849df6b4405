/** Publishes reviews of changelists on a fake Swarm server, under a document that is read as the service reads it. */
import { Context, Effect, Layer, Result, Scope } from "effect"
import { layerStatic } from "../../../src/config/snapshots/FileConfigStore.ts"
import { newId } from "../../../src/domain/Ids.ts"
import { TargetKey } from "../../../src/domain/Keys.ts"
import type { Change } from "../../../src/domain/Change.ts"
import type { Finding } from "../../../src/domain/Problem.ts"
import type { Publication } from "../../../src/domain/Publication.ts"
import { Forges } from "../../../src/forge/Forges.ts"
import { AuthorGuess } from "../../../src/outputs/AuthorGuess.ts"
import type { PublishInput } from "../../../src/outputs/channels/Channel.ts"
import { Outputs } from "../../../src/outputs/Outputs.ts"
import * as OutputsLayer from "../../../src/outputs/OutputsLayer.ts"
import { Cache } from "../../../src/store/Cache.ts"
import { unpaced } from "../../forge/Clients.ts"
import type { FakeSwarm } from "../../harness/FakeSwarm.ts"
import { analysis, finding, input } from "../Fixtures.ts"
import { snapshotFrom } from "../FromDocument.ts"
import { uncounted } from "../../harness/Owners.ts"
import { memoryObjects } from "../../harness/MemoryObjects.ts"

type Tree = Readonly<Record<string, unknown>>

export const branch = "//Ace/main"
export const path = "src/main.c"
/** The shelf of changelist 7. */
export const shelf = "7-0123456789ab"

export const shelved: Change = {
  provider: "perforce",
  trigger: "depot",
  workspace: "game",
  repo: { fullName: "game" },
  target: { kind: "commit", branch: `${branch}@=7` },
  head: shelf,
  headRef: branch,
  author: { username: "ada" },
  title: "Try"
}
export const submitted: Change = { ...shelved, target: { kind: "push", branch }, head: "9" }

export const problem = (n: number, line: number, more: Partial<Finding["problem"]> = {}, side: "new" | "old" = "new") =>
  finding(n, { file: path, ...more }, { path, side, line })

/** Settings of the channel that reach the server, without those of `more`. */
export const makeChannel = (swarm: Pick<FakeSwarm, "url" | "user" | "ticket">, more: Tree = {}): Tree => ({
  name: "swarm",
  kind: "p4_swarm",
  base_url: swarm.url,
  user: swarm.user,
  ticket: swarm.ticket,
  review_wait_seconds: 0,
  ...more
})

export const makeDocument = (channel: Tree, routes: Tree = { line_comments: ["swarm"], summary: ["swarm"] }): Tree => ({
  triggers: [
    { name: "depot", kind: "perforce", port: "p4.example:1666", user: "aicr", ticket: "t", depot_path: "//Ace/..." }
  ],
  review: { output_language: "en" },
  outputs: { channels: [channel], routes: { default: routes } },
  workspaces: { instances: { game: { source_repo: { trigger: "depot", repo: "game" } } } }
})

const maxAttempts = 6

const open = (tree: Tree, env: Readonly<Record<string, string>>, baseDir: string | undefined) => {
  const snapshot = snapshotFrom(tree, env, baseDir)
  const build = () =>
    Context.get(
      Effect.runSync(
        Layer.buildWithScope(
          Layer.provide(OutputsLayer.layer, [
            layerStatic(snapshot),
            Forges.layer,
            Cache.layerNone,
            memoryObjects,
            AuthorGuess.layerNone,
            uncounted
          ]),
          Scope.makeUnsafe()
        )
      ),
      Outputs
    )
  const workspace = snapshot.workspaces.get("game")
  if (workspace === undefined) throw new Error("no workspace")

  return { outputs: build(), workspace }
}

/**
 * Returns a function that sends one row as the publisher does: a lost response is looked up before the row is sent again. It returns the row as
 * it ended, and those that follow. `previous`: the last row of its kind that was sent.
 */
export const swarmSender = (tree: Tree, env: Readonly<Record<string, string>> = {}, baseDir?: string) => {
  const { outputs, workspace } = open(tree, env, baseDir)
  return async (
    change: Change,
    row: Publication,
    previous?: Publication
  ): Promise<readonly [Publication, ReadonlyArray<Publication>]> => {
    let isUnknown = false
    for (let attempt = 0; attempt < maxAttempts; attempt++) {
      const found = isUnknown
        ? await Effect.runPromise(unpaced(outputs.find(workspace, change, row, previous)))
        : undefined
      const sent =
        found === undefined
          ? await Effect.runPromise(unpaced(Effect.result(outputs.send(workspace, change, row, previous))))
          : Result.succeed(found)
      if (Result.isSuccess(sent)) {
        const { hostId, listed, next, nothingToDo, skipped, url } = sent.success
        if (nothingToDo !== undefined) return [{ ...row, status: "nothing_to_do", error: nothingToDo }, next]
        return skipped === undefined
          ? [{ ...row, status: "sent", hostId, url, listed }, next]
          : [{ ...row, status: "dropped", error: skipped }, []]
      }
      const { failure } = sent
      if (failure._tag === "ForgeError" && failure.reason === "unknown_outcome") isUnknown = true
      else return [{ ...row, status: "failed", error: failure.why }, []]
    }
    throw new Error(`not published within ${maxAttempts} attempts`)
  }
}

/** Returns a function that publishes one review, and returns the rows as they ended. */
export const swarmPublisher = (tree: Tree, env: Readonly<Record<string, string>> = {}, baseDir?: string) => {
  const { outputs, workspace } = open(tree, env, baseDir)
  const publish = swarmSender(tree, env, baseDir)
  let summary: Publication | undefined
  return async (
    change: Change,
    findings: ReadonlyArray<Finding>,
    more: Partial<PublishInput> = {}
  ): Promise<ReadonlyArray<Publication>> => {
    const given = input(findings, {
      runId: newId(),
      targetKey: TargetKey.make(`depot:game:${change.target.kind}:${change.target.branch ?? ""}`),
      change,
      head: change.head ?? "",
      workspace,
      analysis: analysis(findings, { coverage: { reviewed: [path], skipped: [], lines: 3 } }),
      ...more
    })
    const waiting = [...outputs.plan(given)]
    const done: Array<Publication> = []
    for (let row = waiting.shift(); row !== undefined; row = waiting.shift()) {
      const isSummary = row.operation._tag === "Summary"
      const [ended, next] = await publish(change, row, isSummary ? summary : undefined)
      if (isSummary && ended.status === "sent") summary = ended
      done.push(ended)
      waiting.unshift(...next)
    }
    return done
  }
}

/** Marks the comments of a finding with its state; returns how many have it. */
export const markInSwarm = (tree: Tree, change: Change, ruled: Parameters<Outputs["Service"]["mark"]>[2]) => {
  const { outputs, workspace } = open(tree, {}, undefined)
  return Effect.runPromise(unpaced(outputs.mark(workspace, change, ruled)))
}
