/** Three nodes over one Postgres: with NATS a revision reaches all of them immediately, without it when they poll. */
import { assert, describe, it } from "@effect/vitest"
import { Context, Effect, Layer } from "effect"
import { NatsConnection } from "../../../nats/NatsConnection.ts"
import { NatsEvents } from "../../../nats/NatsEvents.ts"
import * as NatsConfigHead from "../../../src/config/snapshots/NatsConfigHead.ts"
import { ConfigStore } from "../../../src/config/ConfigStore.ts"
import { ConfigEditor } from "../../../src/config/revisions/ConfigEditor.ts"
import type { ConfigOperation } from "../../../src/config/revisions/Operations.ts"
import { layerSql } from "../../../src/store/configuration/SqlSource.ts"
import { inEnglish } from "../../../src/text/en.ts"
import { editorOn, sealingKey, writeConfig } from "../../harness/ConfigSource.ts"
import { NatsServer } from "../../harness/Nats.ts"
import { waitUntil } from "../../harness/Wait.ts"
import { toSettings } from "../../nats/Cluster.ts"
import { freshDatabase, postgresAt } from "../../store/Databases.ts"

const passes = (value: number): ConfigOperation => ({ op: "set", path: ["review", "max_passes"], value })
const withSecret: ConfigOperation = {
  op: "create",
  entity: { kind: "triggers", name: "second" },
  value: { kind: "gitea", base_url: "https://second.example", webhook_secret: "hook" }
}

interface NodeOptions {
  readonly name: string
  readonly refresh: number
  readonly key?: string
}

/** Starts a node that has its own connections. */
const startNode = (database: string, nats: string, { key = sealingKey, name, refresh }: NodeOptions) =>
  Layer.build(
    Layer.fresh(
      NatsConfigHead.layer.pipe(
        Layer.provideMerge(
          editorOn(
            writeConfig({
              config_sources: { database: { enabled: true }, runtime: { refresh_interval_seconds: refresh } }
            }),
            { SVC_CONFIG_SECRETS_KEY: key },
            name
          )
        ),
        Layer.provide(layerSql("default").pipe(Layer.provide(postgresAt(database)))),
        Layer.provide(NatsEvents.layer),
        Layer.provide(NatsConnection.layer({ settings: toSettings({ SVC_NATS_URL: nats }), name }))
      )
    )
  ).pipe(
    Effect.map((context) => ({
      name,
      config: Context.get(context, ConfigStore),
      editor: Context.get(context, ConfigEditor)
    }))
  )

describe("nodes of a cluster", () => {
  it.live(
    "activate a revision of another node immediately, show what one of them refuses, and poll without NATS",
    () =>
      Effect.scoped(
        Effect.gen(function* () {
          const server = yield* Effect.acquireRelease(
            Effect.promise(() => NatsServer.start()),
            (started) => Effect.promise(() => started[Symbol.asyncDispose]())
          )
          const database = yield* Effect.promise(() => freshDatabase())
          // The first ones poll after the end of this test.
          const one = yield* startNode(database, server.url, { name: "one", refresh: 3600 })
          const two = yield* startNode(database, server.url, { name: "two", refresh: 3600 })
          const keyless = yield* startNode(database, server.url, { name: "keyless", refresh: 1, key: "" })
          const passesOf = ({ config }: typeof one) => config.current().document.review.max_passes
          const published = (base: number, ...operations: ReadonlyArray<ConfigOperation>) =>
            one.editor.publish("alice", { base, operations, operationId: `after ${base}` })
          const until = (what: string, isTrue: () => boolean | Promise<boolean>) =>
            Effect.promise(() => waitUntil(isTrue, { describe: () => what }))

          yield* published(0, passes(7))
          yield* until("a notice reaches every node", () => [two, keyless].every((node) => passesOf(node) === 7))

          const before = two.config.current()
          yield* published(1, withSecret)
          yield* until("another node shows the refusal", async () => {
            const { nodes } = await Effect.runPromise(two.editor.status)
            const refused = nodes.find(({ node }) => node === "keyless")
            return refused?.state === "refused" && refused.revision === 2 && refused.active === 1
          })
          const { converged, nodes } = yield* two.editor.status
          assert.isFalse(converged)
          assert.match(
            nodes
              .find(({ node }) => node === "keyless")
              ?.problems.map(inEnglish)
              .join() ?? "",
            /secrets_key_missing/
          )
          yield* until("the others activate it", () => two.config.current().triggers.has("second"))
          const pinned = yield* two.config.pinned(before.hash)
          assert.deepStrictEqual([pinned.revision, pinned.triggers.has("second")], [1, false])
          yield* one.editor.restore("alice", { revision: 1, operationId: "back" })
          yield* until("a valid revision replaces the refused one", () => keyless.config.layered()?.active.number === 3)

          yield* Effect.promise(() => server.kill())
          yield* published(3, passes(9))
          yield* until("the node that polls activates it", () => passesOf(keyless) === 9)
          assert.strictEqual(passesOf(two), 7)
          yield* two.config.adoptHead() ?? Effect.void
          assert.strictEqual(passesOf(two), 9)
        })
      ),
    60_000
  )
})
