/** Lists the nodes on the bus of this environment, for `aicr nodes`. Wiring only. */
import { Effect, Result } from "effect"
import { NatsConnection } from "../../nats/NatsConnection.ts"
import { listNodes } from "../../nats/NatsNodes.ts"
import { natsSettings } from "../../nats/NatsSettings.ts"
import { readDetails, toVersion } from "../admin/nodes/NatsPresence.ts"
import { refused } from "../cli/Exit.ts"
import type { ExitWith } from "../cli/Exit.ts"
import { endWithCode } from "../cli/ExitCodes.ts"
import type { NodeLine } from "../cli/NodesCommand.ts"
import * as Logging from "../observability/logs/Logging.ts"

const quietLogs = Logging.layerAt("warn")

export const nodesOfEnvironment: Effect.Effect<ReadonlyArray<NodeLine>, ExitWith> = Effect.gen(function* () {
  const settings = natsSettings(process.env)
  if (Result.isFailure(settings)) return yield* refused(settings.failure)
  if (settings.success === undefined) {
    const message = "SVC_NATS_URL is not set: nodes work together over NATS, and without it one process does everything"
    return yield* refused(message)
  }
  const connection = NatsConnection.layer({
    settings: settings.success,
    name: "aicr nodes",
    connectWithin: "3 seconds"
  })
  const nodes = yield* listNodes.pipe(Effect.provide(connection), endWithCode)
  return nodes.map((node) => {
    const { startedAt } = node
    const { slots = 0, actors = 0, lastError } = readDetails(node)
    return { ...toVersion(node), startedAt, slots, actors, ...(lastError === undefined ? {} : { lastError }) }
  })
}).pipe(Effect.provide(quietLogs))
