/** The cluster over a real NATS, between real processes. */
import { Cause, Effect, Exit, Fiber, Stream } from "effect"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { makeBucket } from "../../nats/NatsBucket.ts"
import { NatsConnection } from "../../nats/NatsConnection.ts"
import { defaultPrefix } from "../../nats/NatsSettings.ts"
import { streams } from "../../nats/NatsStreams.ts"
import { waitUntil } from "../harness/Wait.ts"
import { withBus } from "./Bus.ts"
import { Cluster } from "./Cluster.ts"
import type { Answer } from "./Counter.ts"

const ids = Array.from({ length: 24 }, (_, index) => `actor-${index}`)

describe("calls between processes", () => {
  let cluster: Cluster
  beforeAll(async () => {
    cluster = await Cluster.start(["a", "b"])
  })
  afterAll(() => cluster[Symbol.asyncDispose]())

  const defectOf = (exit: Exit.Exit<unknown, unknown>): string =>
    Exit.isFailure(exit) ? Cause.pretty(exit.cause) : "it succeeded"

  it("each actor lives on one node, and keeps its state", async () => {
    const answers = await cluster.spread(ids, ["a", "b"])
    const before = answers.get("actor-0")
    expect(await cluster.add("actor-0", 5)).toEqual({ ...before, count: (before?.count ?? 0) + 5 })
    expect(before?.fence).toBeGreaterThan(0)
  })

  it("a tell arrives", async () => {
    const { count } = await cluster.add("told")
    await cluster.run(
      Effect.flatMap(cluster.client, (of) =>
        Effect.repeat(of("told").Add({ amount: 2 }, { discard: true }), { times: 4 })
      )
    )
    expect((await cluster.add("told")).count).toBe(count + 11)
  })

  it("a session with a frame missing is over", () =>
    Effect.runPromise(
      withBus(
        cluster.server,
        defaultPrefix,
        Effect.gen(function* () {
          const { raw } = yield* NatsConnection
          const [runner] = yield* (yield* makeBucket(streams.leases)).keys()
          const subject = `${defaultPrefix}.runner.${runner}`
          const greeting = yield* Effect.promise(() => raw.request(subject, ""))
          const send = (frame: string) =>
            Effect.map(
              Effect.promise(() => raw.request(`${subject}.${greeting.string()}.session`, frame)),
              (answer) => answer.string()
            )
          expect(yield* send(`[3,{"_tag":"Ping"}]`)).toBe("")
          expect(yield* send(`[0,{"_tag":"Ping"}]`)).toBe(`[0,{"_tag":"Pong"}]`)
          expect(yield* send(`[2,{"_tag":"Ping"}]`)).toBe("")
          expect(yield* send(`[3,{"_tag":"Ping"}]`)).toBe("")
          expect(yield* send("no frame")).toBe("")
          const old = yield* Effect.exit(
            Effect.tryPromise(() => raw.request(`${subject}.earlier.session`, `[0,{"_tag":"Ping"}]`))
          )
          expect(defectOf(old)).toContain("no responders")
        })
      )
    ))

  it("a stream of a thousand parts", async () => {
    const parts = await cluster.run(
      Effect.flatMap(cluster.client, (of) => Stream.runCollect(of("s").Range({ count: 1000 })))
    )
    expect(parts).toEqual(Array.from({ length: 1000 }, (_, index) => index + 1))
  })

  it("who stops waiting stops the work", async () => {
    const endedAfter = (pause: number) =>
      Effect.gen(function* () {
        const actor = (yield* cluster.client)("i")
        yield* actor.Ended()
        const waiting = yield* Effect.forkChild(actor.Wait({ millis: 600_000 }), { startImmediately: true })
        // The next call has to wait for the one before it.
        const next = yield* Effect.forkChild(actor.Ended(), { startImmediately: true })
        yield* Effect.andThen(Effect.sleep(pause), Fiber.interrupt(waiting))
        return yield* Effect.timeout(Fiber.join(next), "20 seconds")
      })
    // None ended: the call was withdrawn before the actor started it.
    let ended = 0
    for (let pause = 200; ended === 0 && pause < 10_000; pause *= 2) ended = await cluster.run(endedAfter(pause))
    expect(ended).toBe(1)
  })

  it("a defect goes to the caller, once, and the actor lives on", async () => {
    const { count, life } = await cluster.add("d")
    const exit = await cluster.run(Effect.flatMap(cluster.client, (of) => Effect.exit(of("d").Die())))
    expect(defectOf(exit)).toContain("died of this")
    expect(await cluster.add("d")).toMatchObject({ count: count + 1001, life })
  })

  it.each([
    ["a question", { text: "x".repeat(9_000_000), times: 1 }],
    ["an answer", { text: "x", times: 9_000_000 }]
  ])("%s that NATS does not accept fails immediately with the reason; the next call works", async (_what, payload) => {
    const exit = await cluster.run(Effect.flatMap(cluster.client, (of) => Effect.exit(of("e").Echo(payload))))
    expect(defectOf(exit)).toMatch(/9000\d\d\d bytes, the server takes \d+; raise max_payload/)
    const large = await cluster.run(
      Effect.flatMap(cluster.client, (of) => of("e").Echo({ text: "x", times: 7_000_000 }))
    )
    expect(large.length).toBe(7_000_000)
  })

  it("a part of a stream that NATS does not take ends the stream", async () => {
    const exit = await cluster.run(
      Effect.flatMap(cluster.client, (of) => Effect.exit(Stream.runCollect(of("t").Texts({ bytes: 9_000_000 }))))
    )
    expect(defectOf(exit)).toContain("raise max_payload")
  })
})

describe("failures", () => {
  it("SIGTERM hands over, kill -9 waits for the lease to end, and NATS away for 2 s moves nothing", async () => {
    await using cluster = await Cluster.start(["a", "b"])
    const { server } = cluster

    // NATS is unavailable.
    const steady = await cluster.spread(ids, ["a", "b"])
    await server.kill()
    const call = cluster.add("actor-0")
    await new Promise((resolve) => setTimeout(resolve, 2000))
    await server.start()
    await call
    const after = await cluster.addAll(ids)
    expect(lives(after)).toEqual(lives(steady))

    /** Returns the milliseconds until all actors of a node reply from another. */
    const failover = async (node: string, signal: NodeJS.Signals): Promise<number> => {
      const before = await cluster.addAll(ids)
      const affected = ids.filter((id) => before.get(id)?.node === node)
      expect(affected).not.toEqual([])
      const at = performance.now()
      cluster.signal(node, signal)
      await Promise.all(
        affected.map((id) =>
          waitUntil(async () => (await cluster.add(id)).node !== node, { describe: () => `${id} leaves ${node}` })
        )
      )
      return performance.now() - at
    }
    // A lease lasts 9 s. The usual duration is measured in test/scenarios/ClusterFailover.test.ts.
    expect(await failover("a", "SIGTERM")).toBeLessThan(9000)
    await cluster.startNode("c")
    await cluster.spread(ids, ["b", "c"])
    expect(await failover("b", "SIGKILL")).toBeLessThan(20_000)
  })

  it("a frozen node loses its actors, and detects it when it thaws", async () => {
    await using cluster = await Cluster.start(["a", "b"])
    const before = await cluster.spread(ids, ["a", "b"])
    const frozen = ids.filter((id) => before.get(id)?.node === "a")
    cluster.signal("a", "SIGSTOP")
    const taken = await Promise.all(frozen.map((id) => cluster.add(id)))
    cluster.signal("a", "SIGCONT")
    expect(taken.filter(({ node }) => node !== "b")).toEqual([])
    // Each holder of a shard has a higher number than those before it.
    for (const [index, { fence }] of taken.entries()) {
      expect(fence).toBeGreaterThan(before.get(frozen[index] ?? "")?.fence ?? Number.POSITIVE_INFINITY)
    }
    const back = await cluster.spread(ids, ["a", "b"])
    expect([...lives(back)].filter((life) => lives(before).has(life) && life.startsWith("a/"))).toEqual([])
  })
})

const lives = (answers: ReadonlyMap<string, Answer>): ReadonlySet<string> =>
  new Set([...answers.values()].map(({ life }) => life))
