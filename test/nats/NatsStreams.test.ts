/** Streams on a real server: their settings, their creation by several nodes, and what happens when the server lost one. */
import { Effect, Logger } from "effect"
import { TestClock } from "effect/testing"
import { describe, expect, it } from "vitest"
import { NatsConnection } from "../../nats/NatsConnection.ts"
import { NatsError } from "../../nats/NatsError.ts"
import { ensure, recreating, retryUntilReady, streamName, streams } from "../../nats/NatsStreams.ts"
import type { StreamPlan } from "../../nats/NatsStreams.ts"
import { newPrefix, startBus } from "./Bus.ts"

const { run } = startBus()

describe("streams", () => {
  // Of two that make a stream at the same time the server refuses the second one for its name or for its subjects, or not at all.
  it("are made once by however many start together", async () => {
    const nodes = Array.from({ length: 12 })
    const plans = Object.values(streams)
    for (let installation = 0; installation < 20; installation++) {
      const prefix = newPrefix()
      await Promise.all(nodes.map(() => run(ensure(plans), prefix)))
      const made = Effect.flatMap(NatsConnection, ({ manager }) =>
        Effect.promise(() => Promise.all(plans.map((plan) => manager.streams.info(streamName(prefix, plan)))))
      )
      expect((await run(made, prefix)).map(({ config }) => config.num_replicas)).toEqual(plans.map(() => 1))
    }
  })

  it("of another node that created it in between are kept, and adjusted", () => {
    const prefix = newPrefix()
    return run(
      Effect.gen(function* () {
        const { manager, raw } = yield* NatsConnection
        const context = yield* Effect.context<NatsConnection>()
        const request = raw.request.bind(raw)
        let isFirst = true
        raw.request = async (...args) => {
          const reply = await request(...args)
          if (isFirst) {
            isFirst = false
            await Effect.runPromiseWith(context)(ensure([{ ...streams.leases, ttlMillis: 5000 }]))
          }
          return reply
        }
        yield* ensure([streams.leases])
        const { config } = yield* Effect.promise(() => manager.streams.info(streamName(prefix, streams.leases)))
        expect(config.max_age / 1_000_000).toBe(9000)
      }),
      prefix
    )
  })

  it("are changed when the plan is", () => {
    const prefix = newPrefix()
    const plans = Object.values(streams)
    return run(
      Effect.gen(function* () {
        yield* ensure(plans)
        const { manager } = yield* NatsConnection
        const age = (plan: (typeof plans)[number]) =>
          Effect.map(
            Effect.promise(() => manager.streams.info(streamName(prefix, plan))),
            ({ config }) => config.max_age / 1_000_000
          )
        expect(yield* Effect.forEach(plans, age)).toEqual([9000, 0, 9000])
        yield* ensure([{ ...streams.leases, ttlMillis: 5000 }])
        expect(yield* age(streams.leases)).toBe(5000)
      }),
      prefix
    )
  })

  it("have the settings that their kind needs", () =>
    run(
      Effect.gen(function* () {
        const plans: ReadonlyArray<StreamPlan> = [
          streams.shards,
          streams.nodes,
          { kind: "work", name: "tickets", maxMessages: 7 },
          { kind: "log", name: "journal" },
          { kind: "pages", name: "journal" }
        ]
        yield* ensure(plans)
        const { manager, prefix } = yield* NatsConnection
        const settings = yield* Effect.forEach(plans, (plan) =>
          Effect.map(
            Effect.promise(() => manager.streams.info(streamName(prefix, plan))),
            ({ config }) => [
              config.subjects.map((subject) => subject.replaceAll(prefix, "P")).join(" "),
              `${config.retention} ${config.storage} ${config.discard}`,
              { total: config.max_msgs, perSubject: config.max_msgs_per_subject, seconds: config.max_age / 1e9 },
              { isNewRefused: config.discard_new_per_subject ?? false, isDeleteRefused: config.deny_delete }
            ]
          )
        )
        const never = { isNewRefused: false, isDeleteRefused: false }
        const unlimited = { total: -1, perSubject: -1, seconds: 0 }
        expect(settings).toEqual([
          ["$KV.P_shards.>", "limits file new", { ...unlimited, perSubject: 1 }, { ...never, isDeleteRefused: true }],
          [
            "$KV.P_nodes.>",
            "limits memory new",
            { ...unlimited, perSubject: 1, seconds: 9 },
            { ...never, isDeleteRefused: true }
          ],
          [
            "P.work.tickets.>",
            "workqueue file new",
            { ...unlimited, total: 7, perSubject: 1 },
            { ...never, isNewRefused: true }
          ],
          ["P.log.journal", "limits file new", unlimited, never],
          ["P.pages.journal.>", "limits file new", unlimited, never]
        ])
      })
    ))
})

describe("a stream that the server lost", () => {
  const plan = { kind: "log", name: "lost" } as const
  /** Runs with calls that publish to the stream, which exists at first, and the warnings. */
  const withStream = <A>(
    use: (parts: {
      readonly connection: NatsConnection["Service"]
      readonly lose: Effect.Effect<void>
      readonly publish: () => Promise<unknown>
      readonly warnings: ReadonlyArray<string>
    }) => Effect.Effect<A, unknown, NatsConnection>
  ) => {
    const warnings: Array<string> = []
    const logger = Logger.layer([Logger.make(({ message }) => void warnings.push(JSON.stringify(message)))])
    return run(
      Effect.gen(function* () {
        const connection = yield* NatsConnection
        const { jetstream, manager, prefix } = connection
        yield* ensure([plan])
        return yield* use({
          connection,
          lose: Effect.promise(() => manager.streams.delete(streamName(prefix, plan))),
          publish: () => jetstream.publish(`${prefix}.log.lost`, "x"),
          warnings
        })
      }).pipe(Effect.provide(logger))
    )
  }

  it("is created once for all calls that fail together", () =>
    withStream(({ connection, lose, publish, warnings }) =>
      Effect.gen(function* () {
        yield* lose
        let requests = 0
        const { prefix, raw } = connection
        raw.subscribe(`$JS.API.STREAM.*.${streamName(prefix, plan)}`, { callback: () => void requests++ })
        const attempt = recreating(connection, plan)
        yield* Effect.forEach(Array.from({ length: 20 }), () => attempt("call", publish), { concurrency: "unbounded" })
        yield* Effect.promise(() => raw.flush())
        // It is looked for, and created.
        expect(requests).toBe(2)
        expect(warnings).toEqual([expect.stringContaining("created again")])
        yield* lose
        yield* attempt("call", publish)
        expect(warnings.length).toBe(2)
      })
    ))

  it("is not reported by a node that finds it created by another", () =>
    withStream(({ connection, lose, publish, warnings }) =>
      Effect.gen(function* () {
        yield* lose
        const context = yield* Effect.context<NatsConnection>()
        let calls = 0
        yield* recreating(connection, plan)("call", async () => {
          if (calls++ > 0) return publish()
          const missing: unknown = await publish().catch((cause: unknown) => cause)
          await Effect.runPromiseWith(context)(ensure([plan]))
          throw missing
        })
        expect([calls, warnings]).toEqual([2, []])
      })
    ))

  it("is looked for once per call, and not for a call that fails for another reason", () =>
    withStream(({ connection, lose, publish }) =>
      Effect.gen(function* () {
        const attempt = recreating(connection, plan)
        yield* lose
        const missing = yield* Effect.promise(() => publish().catch((cause: unknown) => cause))
        let calls = 0
        const failing = (cause: unknown) => () => {
          calls++
          return Promise.reject(cause instanceof Error ? cause : new Error("unexpected"))
        }
        yield* Effect.flip(attempt("call", failing(missing)))
        expect(calls).toBe(2)
        yield* Effect.flip(attempt("call", failing(new Error("closed"))))
        expect(calls).toBe(3)
      })
    ))
})

describe("retryUntilReady", () => {
  const count = (reason: NatsError["reason"]) => {
    let attempts = 0
    const failing = Effect.suspend(() => {
      attempts++
      return Effect.fail(new NatsError({ reason, message: "fails" }))
    })
    return Effect.gen(function* () {
      const retrying = yield* Effect.forkChild(Effect.flip(retryUntilReady(failing)), { startImmediately: true })
      yield* TestClock.adjust("19 seconds")
      const atNineteen = { attempts, ended: retrying.pollUnsafe() !== undefined }
      yield* TestClock.adjust("2 seconds")
      return [atNineteen, retrying.pollUnsafe() !== undefined]
    }).pipe(Effect.provide(TestClock.layer()), Effect.runPromise)
  }

  it("waits 20 seconds for a server that is unavailable, and for no other reason", async () => {
    expect(await count("unavailable")).toEqual([{ attempts: 39, ended: false }, true])
    expect(await count("refused")).toEqual([{ attempts: 1, ended: true }, true])
  })
})
