/** Handles requests about nodes. */
import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { findNodeWarnings, makeDiffers } from "../../domain/NodeWarnings.ts"
import { QueueControl } from "../../queue/operator/QueueControl.ts"
import { AdminHttpApi } from "../api/AdminHttpApi.ts"
import { orUnavailable } from "../handlers/Available.ts"
import { Nodes } from "./Nodes.ts"
import { node } from "../api/NodeRecords.ts"

/** Entries that are counted, which is more than an installation runs. */
const maxRunning = 1000

/** Counts the running reviews of each node, by the owners of their leases. */
const countRunning = Effect.gen(function* () {
  const { entries } = yield* (yield* QueueControl).list({ statuses: ["running"], limit: maxRunning })
  const counts = new Map<string, number>()
  for (const { owner } of entries) {
    const name = owner?.split("/")[0] ?? ""
    counts.set(name, (counts.get(name) ?? 0) + 1)
  }
  return counts
})

const list = Effect.gen(function* () {
  const found = yield* (yield* Nodes).list
  const running = yield* countRunning
  const differs = makeDiffers(found)
  const items = found.map((one) => ({
    ...node.view(one),
    running: running.get(one.name) ?? 0,
    differs: differs(one)
  }))
  return { items, warnings: findNodeWarnings(found) }
})

export const layer = HttpApiBuilder.group(AdminHttpApi, "nodes", (handlers) =>
  handlers.handle("list", () => orUnavailable(list))
)
