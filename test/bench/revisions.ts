/**
 * Configuration in the database: publishing one field among 5 000 workspaces next to a bare compare-and-set of the same document, the time
 * until three nodes over Postgres and NATS work with a revision, and what reading the head costs a delivery.
 *
 * Ceilings, on two idle cores: `publish_ms` 3 times `load_ms`, because an edit is valid only with all the rest, which is read once;
 * `activate_p99_ms`, from the request to the last of three nodes with 500 workspaces, 500; `admission_overhead_us`, for each of 64 deliveries
 * that arrive together and share a read, 100. The read runs while the body is read. A delivery that arrives alone in one piece waits for one
 * round trip to its database (`admission_overhead_alone_us`; `admission_floor_alone_us` with `SELECT 1` or `PING` in place of the read), one
 * whose body follows its headers does not (`admission_overhead_headers_first_us`). `head_alone_us` is the read without a delivery.
 */
import { fork } from "node:child_process"
import type { ChildProcess } from "node:child_process"
import { join } from "node:path"
import { Context, Effect, Layer, ManagedRuntime, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import { Redis } from "ioredis"
import { parseDocument } from "../../src/config/revisions/DatabaseDocument.ts"
import type { NewRevision, RevisionHead } from "../../src/config/revisions/Revision.ts"
import { RevisionStore } from "../../src/config/revisions/RevisionStore.ts"
import { serialise } from "../../src/config/revisions/SealDocument.ts"
import type { StoredDocument } from "../../src/config/revisions/SealDocument.ts"
import * as Logging from "../../src/observability/logs/Logging.ts"
import { layerRedis } from "../../src/store/configuration/RedisSource.ts"
import type { SourceStores } from "../../src/store/configuration/SqlSource.ts"
import { layerSql } from "../../src/store/configuration/SqlSource.ts"
import { startNode, writeConfig } from "../harness/ConfigSource.ts"
import { NatsServer } from "../harness/Nats.ts"
import { RedisServer } from "../harness/Redis.ts"
import { waitUntil } from "../harness/Wait.ts"
import { databases, freshDatabase, postgresAt } from "../store/Databases.ts"
import { measureArrival } from "./revisions/arrival.ts"
import type { FromNode, ToNode } from "./revisions/node.ts"

const names = ["one", "two", "three"]
const file = {
  llm: {
    providers: [{ id: "main", kind: "openai_compatible", base_url: "http://localhost:1/v1" }],
    model_chain: { default: [{ provider: "main", model: "m" }] }
  },
  triggers: [{ name: "git", kind: "gitea", base_url: "http://localhost:2", webhook_secret: "s" }],
  config_sources: { database: { enabled: true }, runtime: { refresh_interval_seconds: 3600 } }
}

/** The workspaces of the configuration benchmark, as a document of the database. */
const makeDocument = (workspaces: unknown): StoredDocument =>
  serialise(
    parseDocument({ entities: { workspaces } }, (complaint) => {
      throw new Error(JSON.stringify(complaint))
    })
  )

const revisionOnto = (onto: RevisionHead, { hash, text }: StoredDocument): NewRevision => ({
  number: onto.number + 1,
  parent: onto.number,
  hash,
  document: text,
  actor: "bench",
  operationId: `bench ${onto.number}`,
  requestHash: "",
  reason: "",
  rebasedFrom: undefined,
  restores: undefined,
  diff: []
})

/** Appends the document, which is a compare-and-set of the head, and returns the duration. */
const append = Effect.fnUntraced(function* (stored: StoredDocument) {
  const store = yield* RevisionStore
  const head = yield* store.head
  const before = performance.now()
  const { _tag } = yield* store.append(revisionOnto(head, stored), head)
  if (_tag !== "Committed") throw new Error(_tag)
  return performance.now() - before
})

const median = (values: ReadonlyArray<number>): number => percentile(values, 0.5)
const percentile = (values: ReadonlyArray<number>, share: number): number =>
  values.toSorted((a, b) => a - b)[Math.min(values.length - 1, Math.floor(values.length * share))] ?? Number.NaN

const startNodes = (url: string, nats: string): ReadonlyArray<ChildProcess> =>
  names.map((name) =>
    fork(join(import.meta.dirname, "revisions/node.ts"), [name, writeConfig(file), url], {
      env: { ...process.env, SVC_NATS_URL: nats },
      execArgv: ["--disable-warning=ExperimentalWarning"],
      stdio: ["ignore", "inherit", "inherit", "ipc"]
    })
  )

/** Publishes one edit after the other on the first of three nodes. */
const measureNodes = async (stored: StoredDocument, nats: string, rounds: number) => {
  const url = await freshDatabase()
  const over = (namespace: string) => layerSql(namespace).pipe(Layer.provide(postgresAt(url)))
  const appendTo = (namespace: string, document: StoredDocument) =>
    Effect.runPromise(Effect.provide(append(document), over(namespace)))
  await appendTo("default", stored)
  const bare: Array<number> = []
  for (let round = 0; round < 5; round++) bare.push(await appendTo("bare", { ...stored, hash: `${round}` }))
  const nodes = startNodes(url, nats)
  const activated = new Map<string, number>()
  const publications: Array<Extract<FromNode, { published: number }>> = []
  for (const [index, node] of nodes.entries())
    node.on("message", (message: FromNode) => {
      if ("published" in message) publications.push(message)
      else activated.set(`${message.activated} ${names[index]}`, message.at)
    })
  const areAt = (revision: number) => (): ReadonlyArray<number> | undefined => {
    const times = names.flatMap((name) => activated.get(`${revision} ${name}`) ?? [])
    return times.length === names.length ? times : undefined
  }
  const options = { timeout: 120_000, describe: () => `all nodes are active; ${[...activated.keys()].join(", ")}` }
  await waitUntil(areAt(1), options)
  const activations: Array<number> = []
  for (let base = 1; base <= rounds; base++) {
    nodes[0]?.send({ base, workspace: "w7" } satisfies ToNode)
    const times = await waitUntil(areAt(base + 1), options)
    const publication = await waitUntil(() => publications[base - 1], options)
    activations.push(Math.max(...times) - publication.startedAt)
  }
  for (const node of nodes) node.disconnect()
  // The first ones load code.
  return { bare, activations: activations.slice(2), published: publications.slice(2).map(({ millis }) => millis) }
}

const waves = 200
const together = 64

/**
 * Microseconds that reading the head adds to each of 64 deliveries that arrive together; that it takes alone; and that it, and the smallest
 * request to the database, add to a delivery that arrives alone.
 */
const measureHead = async (stores: Layer.Layer<SourceStores, unknown>, floor: Effect.Effect<unknown, unknown>) =>
  Effect.runPromise(
    Effect.scoped(
      Effect.gen(function* () {
        const context = yield* Layer.build(stores)
        const { config } = yield* startNode(context, { document: file })
        const head = config.adoptHead() ?? Effect.void
        const micros = (admission: Effect.Effect<void>, count: number) =>
          Effect.promise(async () => {
            const before = performance.now()
            await Promise.all(Array.from({ length: count }, () => Effect.runPromise(admission)))
            return ((performance.now() - before) * 1000) / count
          })
        const rounds = (admission: Effect.Effect<void>, count: number) =>
          Effect.map(
            Effect.forEach(Array.from({ length: waves }), () => micros(admission, count)),
            median
          )
        const result: Array<number> = []
        for (const count of [together, 1])
          result.push((yield* rounds(head, count)) - (yield* rounds(Effect.void, count)))
        const least = Effect.orDie(Effect.asVoid(floor))
        const arriving = (read: Effect.Effect<void>, pauseMillis = 0) =>
          Effect.promise(() => measureArrival(config, read, pauseMillis))
        return {
          together: result[0] ?? Number.NaN,
          alone: result[1] ?? Number.NaN,
          arriving: yield* arriving(head),
          arrivingLeast: yield* arriving(least),
          arrivingBefore: yield* arriving(head, 2)
        }
      })
    )
  )

export const measureRevisions = async (
  workspacesOf: (count: number) => unknown
): Promise<Readonly<Record<string, number>>> => {
  await using nats = await NatsServer.start()
  await using redis = await RedisServer.start("everysec")
  const result: Record<string, number> = {}
  const large = makeDocument(workspacesOf(5000))
  const [few, many] = [
    await measureNodes(makeDocument(workspacesOf(500)), nats.url, 102),
    await measureNodes(large, nats.url, 12)
  ]
  result["revision_bytes"] = Buffer.byteLength(large.text)
  result["publish_ms"] = median(many.published)
  result["publish_bare_ms"] = median(many.bare)
  result["activate_p99_ms"] = percentile(few.activations, 0.99)
  result["activate_ms"] = median(few.activations)
  result["activate_5000_ms"] = median(many.activations)
  const client = new Redis(redis.url)
  const ping = Effect.promise(() => client.ping())
  const overSql = await Promise.all(
    databases.map(async ({ layer, name }) => {
      const built = ManagedRuntime.make(layer())
      const sql = Context.get(await built.context(), SqlClient.SqlClient)
      const records = Layer.succeed(SqlClient.SqlClient, sql)
      return { name, built, stores: layerSql("default").pipe(Layer.provide(records)), floor: sql`SELECT 1` }
    })
  )
  const kinds = [
    ...overSql,
    {
      name: "redis",
      stores: layerRedis({ url: Redacted.make(redis.url), namespace: "default", prefix: "bench" }),
      floor: ping
    }
  ]
  for (const { floor, name, stores } of kinds) {
    const found = await measureHead(Layer.provide(stores, Logging.layerAt("warn")), floor)
    const suffix = name === "sqlite" ? "" : `_${name}`
    result[`admission_overhead_us${suffix}`] = found.together
    result[`admission_overhead_alone_us${suffix}`] = found.arriving
    result[`admission_floor_alone_us${suffix}`] = found.arrivingLeast
    result[`admission_overhead_headers_first_us${suffix}`] = found.arrivingBefore
    result[`head_alone_us${suffix}`] = found.alone
  }
  for (const { built } of overSql) await built.dispose()
  client.disconnect()
  return result
}
