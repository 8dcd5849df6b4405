/** The stores of the queue, each in a separate location, for suites that loop over them. */
import { existsSync, mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { basename, join } from "node:path"
import { Effect, Layer, Redacted, Result } from "effect"
import { NatsConnection } from "../../nats/NatsConnection.ts"
import { natsSettings } from "../../nats/NatsSettings.ts"
import { layerJournal } from "../../src/queue/journal/JournalQueue.ts"
import { makeRedisJournal } from "../../src/queue/journal/RedisJournal.ts"
import { layerMemory } from "../../src/queue/journal/MemoryQueue.ts"
import { makeNatsJournal } from "../../src/queue/journal/NatsJournal.ts"
import type { Queue, QueueError } from "../../src/queue/Queue.ts"
import type { QueueControl } from "../../src/queue/operator/QueueControl.ts"
import { makeSqliteJournal } from "../../src/queue/journal/SqliteJournal.ts"
import type { QueueLimits } from "../../src/queue/core/QueueLimits.ts"
import { NatsServer } from "../harness/Nats.ts"
import { RedisServer } from "../harness/Redis.ts"

export const manyEntries: QueueLimits = { perWorkspace: 10_000, total: 100_000 }

export interface QueueStore {
  readonly name: string
  /** Whether entries survive closing and rebuilding the layer over the same location. */
  readonly durable: boolean
  readonly layer: (place: string, limits?: QueueLimits) => Layer.Layer<Queue | QueueControl, QueueError>
}

/** Returns one server for all locations of this process, or that of the parent process. A location is a separate prefix. */
let server: Promise<string> | undefined
export const redisUrl = (): Promise<string> =>
  (server ??=
    process.env["AICR_TEST_REDIS"] === undefined
      ? RedisServer.start().then(({ url }) => url)
      : Promise.resolve(process.env["AICR_TEST_REDIS"]))

let bus: Promise<string> | undefined
export const natsUrl = (): Promise<string> =>
  (bus ??=
    process.env["AICR_TEST_NATS"] === undefined
      ? NatsServer.start().then(({ url }) => url)
      : Promise.resolve(process.env["AICR_TEST_NATS"]))

const natsAt = (url: string) => {
  const settings = Result.getOrThrow(natsSettings({ SVC_NATS_URL: url }))
  if (settings === undefined) throw new Error("no NATS")
  return NatsConnection.layer({ settings, name: "test" }).pipe(Layer.orDie)
}

export const stores: ReadonlyArray<QueueStore> = [
  { name: "memory", durable: false, layer: (_, limits = manyEntries) => Layer.fresh(layerMemory(limits)) },
  {
    name: "sqlite",
    durable: true,
    layer: (place, limits = manyEntries) =>
      Layer.fresh(layerJournal(makeSqliteJournal(join(place, "queue.db")), limits))
  },
  {
    name: "redis",
    durable: true,
    layer: (place, limits = manyEntries) =>
      Layer.fresh(
        Layer.unwrap(
          Effect.map(Effect.promise(redisUrl), (url) =>
            layerJournal(makeRedisJournal(Redacted.make(url), basename(place)), limits)
          )
        )
      )
  },
  {
    name: "nats",
    durable: true,
    layer: (place, limits = manyEntries) =>
      Layer.fresh(
        Layer.unwrap(
          Effect.map(Effect.promise(natsUrl), (url) =>
            layerJournal(makeNatsJournal(basename(place)), limits).pipe(Layer.provide(natsAt(url)))
          )
        )
      )
  }
]

const folderIn = (parent: string) =>
  Effect.acquireRelease(
    Effect.sync(() => mkdtempSync(join(parent, "aicr-queue-"))),
    (path) => Effect.sync(() => rmSync(path, { recursive: true, force: true }))
  )
/** A new folder, removed when the scope closes. */
export const folder = folderIn(tmpdir())
/** A folder in memory if the system has one: for thousands of stores that need not survive a crash. */
export const quickFolder = folderIn(existsSync("/dev/shm") ? "/dev/shm" : tmpdir())

export const inFolder = (store: QueueStore, limits?: QueueLimits): Layer.Layer<Queue | QueueControl, QueueError> =>
  Layer.unwrap(Effect.map(folder, (path) => store.layer(path, limits)))
