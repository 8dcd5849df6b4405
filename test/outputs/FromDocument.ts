/** Publishes reviews under the configuration of a document, read as the service reads it. */
import { Context, Effect, Layer, Scope } from "effect"
import { layerStatic } from "../../src/config/snapshots/FileConfigStore.ts"
import { readDocument } from "../../src/config/snapshots/Snapshots.ts"
import type { Snapshot } from "../../src/config/Snapshot.ts"
import type { Publication } from "../../src/domain/Publication.ts"
import type { Finding } from "../../src/domain/Problem.ts"
import { Forges } from "../../src/forge/Forges.ts"
import { AuthorGuess } from "../../src/outputs/AuthorGuess.ts"
import type { PublishInput } from "../../src/outputs/channels/Channel.ts"
import { Outputs } from "../../src/outputs/Outputs.ts"
import * as OutputsLayer from "../../src/outputs/OutputsLayer.ts"
import { Cache } from "../../src/store/Cache.ts"
import { repoName, unpaced } from "../forge/Clients.ts"
import type { Host } from "../forge/Clients.ts"
import { change, input } from "./Fixtures.ts"
import { uncounted } from "../harness/Owners.ts"
import { memoryObjects } from "../harness/MemoryObjects.ts"

type Env = Readonly<Record<string, string>>
type Tree = Readonly<Record<string, unknown>>

export const snapshotFrom = (tree: Tree, env: Env = {}, baseDir = "/nowhere"): Snapshot => {
  const { issues, snapshot } = readDocument(tree, env, { baseDir, unset: "warnings" })
  if (snapshot === undefined) throw new Error(JSON.stringify(issues))
  return snapshot
}

/** Trigger `host` with the host's token, and workspace `shop` of its repository. */
export const documentFor = ({ forge }: Host, outputs: Tree, trigger: Tree = {}): Tree => ({
  triggers: [
    { name: "host", kind: forge.kind, base_url: forge.url, token: forge.token, webhook_secret: "s", ...trigger }
  ],
  review: { output_language: "en" },
  outputs,
  workspaces: { instances: { shop: { source_repo: { trigger: "host", repo: repoName } } } }
})

/** One channel that gets line comments and summary. */
export const only = (channel: Tree, name = "own"): Tree => ({
  channels: [{ name, ...channel }],
  routes: { default: { line_comments: [name], summary: [name] } }
})

/** Publishes one review after the other; later ones see the rows that earlier ones sent. Throws when an operation fails. */
export const publisher = (host: Host, tree: Tree, env: Env = {}, baseDir?: string) => {
  const snapshot = snapshotFrom(tree, env, baseDir)
  const layer = Layer.provide(OutputsLayer.layer, [
    layerStatic(snapshot),
    Forges.layer,
    Cache.layerNone,
    memoryObjects,
    AuthorGuess.layerNone,
    uncounted
  ])
  const outputs = Context.get(Effect.runSync(Layer.buildWithScope(layer, Scope.makeUnsafe())), Outputs)
  const workspace = snapshot.workspaces.get("shop")
  if (workspace === undefined) throw new Error("no workspace")
  const sent: Array<Publication> = []
  return async (
    findings: ReadonlyArray<Finding>,
    more: Partial<PublishInput> = {}
  ): Promise<ReadonlyArray<Publication>> => {
    const { head } = host.pull
    const given = input(findings, {
      runId: `run-${sent.length}`,
      change: { ...change, provider: host.forge.kind, baseRef: "main", head },
      head,
      workspace,
      ...more
    })
    const waiting = [...outputs.plan(given)]
    const first = sent.length
    for (let row = waiting.shift(); row !== undefined; row = waiting.shift()) {
      const { operation } = row
      const previous = sent.findLast((one) => one.operation._tag === operation._tag && one.status === "sent")
      const { next, ...written } = await Effect.runPromise(
        unpaced(outputs.send(workspace, given.change, row, previous))
      )
      sent.push({ ...row, ...written, status: written.nothingToDo === undefined ? "sent" : "nothing_to_do" })
      waiting.unshift(...next)
    }
    return sent.slice(first)
  }
}
