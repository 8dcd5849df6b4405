/**
 * Polls a queue continuously, from outside, and records the maximum number of concurrent runs: per change, and of those that do
 * not wait for a model per workspace and per worker.
 */
import { Effect, Fiber, Layer, Redacted, Result } from "effect"
import { NatsConnection } from "../../nats/NatsConnection.ts"
import { natsSettings } from "../../nats/NatsSettings.ts"
import { layerJournal } from "../../src/queue/journal/JournalQueue.ts"
import { makeNatsJournal } from "../../src/queue/journal/NatsJournal.ts"
import { makeRedisJournal } from "../../src/queue/journal/RedisJournal.ts"
import { QueueControl } from "../../src/queue/operator/QueueControl.ts"

const limits = { perWorkspace: 10_000, total: 1_000_000 }

/** The queue of the service at a server of this kind. */
const queueAt = (url: string) => {
  if (url.startsWith("redis:")) return layerJournal(makeRedisJournal(Redacted.make(url)), limits)
  const settings = Result.getOrThrow(natsSettings({ SVC_NATS_URL: url }))
  if (settings === undefined) throw new Error(`no queue at ${url}`)
  return layerJournal(makeNatsJournal(), limits).pipe(Layer.provide(NatsConnection.layer({ settings, name: "watch" })))
}

export class QueueWatch implements AsyncDisposable {
  mostPerTarget = 0
  mostPerWorkspace = 0
  mostPerWorker = 0
  looks = 0
  readonly #fiber: Fiber.Fiber<unknown, unknown>

  /** `redis://` or `nats://`. */
  constructor(url: string) {
    const look = Effect.gen({ self: this }, function* () {
      const { entries } = yield* (yield* QueueControl).list({ statuses: ["running"], limit: 1000 })
      const computing = entries.filter(({ awaitsModel }) => !awaitsModel)
      const most = (running: typeof entries, of: (entry: (typeof entries)[number]) => string | undefined) =>
        Math.max(0, ...[...Map.groupBy(running, of).values()].map((group) => group.length))
      this.mostPerTarget = Math.max(
        this.mostPerTarget,
        most(entries, (entry) => entry.targetKey)
      )
      this.mostPerWorkspace = Math.max(
        this.mostPerWorkspace,
        most(computing, (entry) => entry.workspace)
      )
      this.mostPerWorker = Math.max(
        this.mostPerWorker,
        most(computing, (entry) => entry.owner)
      )
      this.looks++
    })
    const looking = Effect.forever(Effect.andThen(Effect.ignore(look), Effect.sleep("100 millis")))
    this.#fiber = Effect.runFork(Effect.provide(looking, queueAt(url)))
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Effect.runPromise(Fiber.interrupt(this.#fiber))
  }
}
