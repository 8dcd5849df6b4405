/**
 * A node of the benchmark of revisions: it works with the configuration in Postgres, publishes on request, and reports when it has activated
 * a revision. Notices go over NATS; the interval of the polling is too long to help. Arguments: name, configuration file, Postgres.
 */
import { Effect, Layer, ManagedRuntime, Stream } from "effect"
import { NatsConnection } from "../../../nats/NatsConnection.ts"
import { NatsEvents } from "../../../nats/NatsEvents.ts"
import * as KeepConfigurations from "../../../src/app/KeepConfigurations.ts"
import { ConfigStore } from "../../../src/config/ConfigStore.ts"
import * as NatsConfigHead from "../../../src/config/snapshots/NatsConfigHead.ts"
import { ConfigEditor } from "../../../src/config/revisions/ConfigEditor.ts"
import * as Logging from "../../../src/observability/logs/Logging.ts"
import { layerSql } from "../../../src/store/configuration/SqlSource.ts"
import { editorOn } from "../../harness/ConfigSource.ts"
import { toSettings } from "../../nats/Cluster.ts"
import { postgresAt } from "../../store/Databases.ts"

const [name = "", file = "", url = ""] = process.argv.slice(2)

export interface ToNode {
  readonly base: number
  readonly workspace: string
}
export type FromNode =
  | { readonly activated: number; readonly at: number }
  | { readonly published: number; readonly startedAt: number; readonly millis: number }

const send = (message: FromNode): void => void process.send?.(message)
const now = (): number => performance.timeOrigin + performance.now()

const node = NatsConfigHead.layer.pipe(
  Layer.provideMerge(KeepConfigurations.layer),
  Layer.provideMerge(editorOn(file, {}, name)),
  Layer.provide(layerSql("default")),
  Layer.provide(postgresAt(url, "verify")),
  Layer.provide(NatsEvents.layer),
  Layer.provide(
    NatsConnection.layer({ settings: toSettings({ SVC_NATS_URL: process.env["SVC_NATS_URL"] ?? "" }), name })
  ),
  Layer.provideMerge(Logging.layerAt("warn"))
)
const runtime = ManagedRuntime.make(node)

const publish = ({ base, workspace }: ToNode) =>
  Effect.gen(function* () {
    const startedAt = now()
    const outcome = yield* (yield* ConfigEditor).publish("operator", {
      base,
      operationId: `after ${base}`,
      operations: [{ op: "set_enabled", entity: { kind: "workspaces", name: workspace }, enabled: base % 2 === 0 }]
    })
    // On a loaded machine the activation may take longer than the response waits for it; its time is measured apart.
    if (outcome._tag !== "Committed") throw new Error(JSON.stringify(outcome).slice(0, 500))
    send({ published: outcome.revision.number, startedAt, millis: now() - startedAt })
  })

process.on("message", (message: ToNode) => void runtime.runPromise(publish(message)))
process.on("disconnect", () => process.exit(0))
await runtime.runPromise(
  Effect.gen(function* () {
    const config = yield* ConfigStore
    yield* config.changes.pipe(
      Stream.runForEach(({ revision = 0 }) => Effect.sync(() => send({ activated: revision, at: now() }))),
      Effect.forkDetach({ startImmediately: true })
    )
    send({ activated: config.current().revision ?? 0, at: now() })
  })
)
