/** Membership and shard locks, several runners over one real server. Each runner is a connection and a storage of its own. */
import { Context, Deferred, Effect, Fiber, Layer } from "effect"
import { Runner, RunnerAddress, RunnerStorage, ShardId } from "effect/cluster"
import { TestClock } from "effect/testing"
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from "vitest"
import { makeBucket } from "../../nats/NatsBucket.ts"
import { NatsConnection } from "../../nats/NatsConnection.ts"
import { NatsError } from "../../nats/NatsError.ts"
import { evictRunners } from "../../nats/RunnerLease.ts"
import { NatsRunnerLease, layer } from "../../nats/NatsRunnerStorage.ts"
import { streams } from "../../nats/NatsStreams.ts"
import { token } from "../../nats/NatsSubjects.ts"
import { NatsServer } from "../harness/Nats.ts"
import { waitUntil } from "../harness/Wait.ts"
import { toSettings } from "./Cluster.ts"

let server: NatsServer
let installations = 0
beforeAll(async () => {
  server = await NatsServer.start()
})
afterAll(() => server[Symbol.asyncDispose]())
afterEach(() => void vi.restoreAllMocks())

interface Member {
  readonly address: RunnerAddress.RunnerAddress
  readonly runner: Runner.Runner
  readonly storage: RunnerStorage.RunnerStorage["Service"]
  readonly lease: NatsRunnerLease["Service"]
  readonly connection: NatsConnection["Service"]
}

const shards = (count: number) => Array.from({ length: count }, (_, index) => ShardId.make("default", index + 1))
const names = (found: ReadonlyArray<ShardId.ShardId>) => found.map(String).toSorted()

/** Runs with any number of runners in a separate installation. */
const withMembers = <A>(
  use: (join: (name: string) => Effect.Effect<Member>) => Effect.Effect<A, unknown>
): Promise<A> =>
  Effect.runPromise(
    Effect.scoped(
      Effect.gen(function* () {
        const scope = yield* Effect.scope
        const prefix = `storage-${installations++}`
        const join = (name: string) =>
          Effect.gen(function* () {
            const settings = toSettings({ SVC_NATS_URL: server.url, SVC_NATS_PREFIX: prefix })
            const context = yield* layer.pipe(
              Layer.provideMerge(NatsConnection.layer({ settings, name })),
              Layer.buildWithScope(scope),
              Effect.orDie
            )
            const address = RunnerAddress.make(name, 1)
            return {
              address,
              runner: Runner.make({ address, groups: ["default"], weight: 1 }),
              storage: Context.get(context, RunnerStorage.RunnerStorage),
              lease: Context.get(context, NatsRunnerLease),
              connection: Context.get(context, NatsConnection)
            }
          })
        return yield* use(join)
      })
    )
  )

const buckets = ({ connection }: Member) =>
  Effect.all({ leases: makeBucket(streams.leases), shards: makeBucket(streams.shards) }).pipe(
    Effect.provideService(NatsConnection, connection)
  )
const leaseKey = token("a:1")

const readClock = performance.now.bind(performance)
/** Sets the clock of this process ahead, but not that of the server. */
const setAhead = (millis: number): void => {
  vi.spyOn(performance, "now").mockImplementation(() => readClock() + millis)
}

/** Counts what a member publishes. */
const countWrites = ({ connection: { jetstream } }: Member) => {
  const publish = vi.spyOn(jetstream, "publish")
  return () => publish.mock.calls.length
}

const listed = (member: Member) =>
  Effect.map(member.storage.getRunners, (found) =>
    found.map(([runner, healthy]) => `${runner.address.host}${healthy ? "" : " unhealthy"}`).toSorted()
  )

/** Waits until a member lists these: it reads again once a message shows that the list may have changed. */
const lists = (member: Member, expected: ReadonlyArray<string>) =>
  Effect.repeat(listed(member), { until: (found) => found.join() === expected.join() }).pipe(
    Effect.timeoutOrElse({
      duration: "5 seconds",
      orElse: () => Effect.flatMap(listed(member), (found) => Effect.sync(() => expect(found).toEqual(expected)))
    })
  )

describe("membership", () => {
  it("who registered is on the list of all, with an own machine id; who unregistered is not", () =>
    withMembers((join) =>
      Effect.gen(function* () {
        const members = yield* Effect.forEach(["a", "b", "c"], join)
        const ids = yield* Effect.forEach(members, ({ storage, runner }) => storage.register(runner, true), {
          concurrency: "unbounded"
        })
        expect(new Set(ids).size).toBe(3)
        for (const member of members) yield* lists(member, ["a", "b", "c"])
        const [a, b] = members
        if (a === undefined || b === undefined) throw new Error("no members")
        yield* a.storage.unregister(a.address)
        yield* lists(b, ["b", "c"])
        expect(yield* a.storage.register(a.runner, true)).toBe(ids[0])
        yield* lists(b, ["a", "b", "c"])
      })
    ))

  it("a list that is requested again is held back for a while, but not beyond a change", () =>
    withMembers((join) =>
      Effect.gen(function* () {
        const [a, b] = [yield* join("a"), yield* join("b")]
        yield* a.storage.register(a.runner, true)
        yield* lists(b, ["a"])
        // While a lease is late, which a busy machine causes, nothing is held back.
        const held = Effect.gen(function* () {
          yield* a.storage.refresh(a.address, [])
          const startedAt = readClock()
          expect(yield* listed(b)).toEqual(["a"])
          return readClock() - startedAt
        })
        yield* Effect.timeout(Effect.repeat(held, { until: (millis) => millis > 2000 }), "30 seconds")
        const again = yield* Effect.forkChild(listed(b), { startImmediately: true })
        yield* b.storage.register(b.runner, true)
        expect(yield* Fiber.join(again)).toEqual(["a", "b"])
      })
    ))

  it("a live runner is never missing, however fast the leases are refreshed", () =>
    withMembers((join) =>
      Effect.gen(function* () {
        const members = yield* Effect.forEach(["a", "b", "c"], join)
        yield* Effect.forEach(members, ({ storage, runner }) => storage.register(runner, true))
        const looker = yield* join("looker")
        const other = yield* join("other")
        const refreshing = yield* Effect.forkChild(
          Effect.forEach(members, ({ storage, address }) => Effect.forever(storage.refresh(address, [])), {
            concurrency: "unbounded"
          })
        )
        for (let look = 0; look < 100; look++) {
          // The leases are read again after such a change.
          yield* look % 2 === 0 ? other.storage.register(other.runner, true) : other.storage.unregister(other.address)
          expect((yield* listed(looker)).filter((host) => host !== "other")).toEqual(["a", "b", "c"])
        }
        refreshing.interruptUnsafe()
      })
    ))

  it("health is judged by others, and does not prolong a lease", () =>
    withMembers((join) =>
      Effect.gen(function* () {
        const [a, b] = [yield* join("a"), yield* join("b")]
        yield* a.storage.register(a.runner, true)
        yield* b.storage.register(b.runner, true)
        const epoch = yield* a.lease.epoch
        yield* b.storage.setRunnerHealth(a.address, false)
        yield* lists(b, ["a unhealthy", "b"])
        yield* a.storage.refresh(a.address, [])
        expect(yield* a.lease.epoch).toBe(epoch)
        yield* b.storage.setRunnerHealth(a.address, true)
        yield* lists(a, ["a", "b"])
      })
    ))

  it("who registers again is healthy, and the marks of runners that no longer exist are deleted", () =>
    withMembers((join) =>
      Effect.gen(function* () {
        const [a, b] = [yield* join("a"), yield* join("b")]
        yield* a.storage.register(a.runner, true)
        yield* b.storage.register(b.runner, true)
        yield* b.storage.setRunnerHealth(a.address, false)
        yield* b.storage.setRunnerHealth(RunnerAddress.make("gone", 1), false)
        yield* a.storage.register(a.runner, true)
        yield* lists(b, ["a", "b"])
        expect(yield* (yield* buckets(a)).shards.keys("unhealthy.*")).toEqual([])
      })
    ))

  it("a refresh before registering is nothing", () =>
    withMembers((join) =>
      Effect.gen(function* () {
        const a = yield* join("a")
        expect(yield* a.storage.refresh(a.address, shards(3))).toEqual([])
        expect(yield* a.storage.acquire(a.address, shards(3))).toEqual([])
      })
    ))
})

describe("shards", () => {
  it("each has one holder, also after concurrent requests", () =>
    withMembers((join) =>
      Effect.gen(function* () {
        const members = yield* Effect.forEach(["a", "b", "c"], join)
        yield* Effect.forEach(members, ({ storage, runner }) => storage.register(runner, true))
        const all = shards(64)
        const taken = yield* Effect.forEach(members, ({ storage, address }) => storage.acquire(address, all), {
          concurrency: "unbounded"
        })
        expect(names(taken.flat())).toEqual(names(all))
        for (const [index, { storage, address }] of members.entries()) {
          expect(names(yield* storage.refresh(address, all))).toEqual(names(taken[index] ?? []))
        }
      })
    ))

  it("a released shard goes to the next, with a higher fence", () =>
    withMembers((join) =>
      Effect.gen(function* () {
        const [a, b] = [yield* join("a"), yield* join("b")]
        yield* a.storage.register(a.runner, true)
        yield* b.storage.register(b.runner, true)
        const [first, second] = shards(2)
        if (first === undefined || second === undefined) throw new Error("no shards")
        yield* a.storage.acquire(a.address, [first, second])
        const before = (yield* a.lease.fence("default:1")) ?? 0
        expect(before).toBeGreaterThan(0)
        expect(yield* b.storage.acquire(b.address, [first, second])).toEqual([])
        yield* a.storage.release(a.address, first)
        expect(yield* a.lease.fence("default:1")).toBeUndefined()
        expect(names(yield* b.storage.acquire(b.address, [first, second]))).toEqual(["default:1"])
        expect(yield* b.lease.fence("default:1")).toBeGreaterThan(before)
      })
    ))

  it("unregistering frees nothing; releasing all does, and ends the lease", () =>
    withMembers((join) =>
      Effect.gen(function* () {
        const [a, b] = [yield* join("a"), yield* join("b")]
        yield* a.storage.register(a.runner, true)
        yield* b.storage.register(b.runner, true)
        const all = shards(8)
        yield* a.storage.acquire(a.address, all)
        yield* a.storage.unregister(a.address)
        expect(yield* b.storage.acquire(b.address, all)).toEqual([])
        expect(names(yield* a.storage.refresh(a.address, all))).toEqual(names(all))
        yield* a.storage.releaseAll(a.address)
        expect(names(yield* b.storage.acquire(b.address, all))).toEqual(names(all))
        expect(yield* b.lease.alive).toEqual(["b:1"])
      })
    ))

  it("releasing all while registered keeps the lease", () =>
    withMembers((join) =>
      Effect.gen(function* () {
        const a = yield* join("a")
        yield* a.storage.register(a.runner, true)
        yield* a.storage.acquire(a.address, shards(8))
        yield* a.storage.releaseAll(a.address)
        expect(yield* a.storage.refresh(a.address, shards(8))).toEqual([])
        yield* lists(a, ["a"])
      })
    ))

  it("a lease that is lost loses its shards; a new one has another epoch", () =>
    withMembers((join) =>
      Effect.gen(function* () {
        const [a, b] = [yield* join("a"), yield* join("b")]
        yield* a.storage.register(a.runner, true)
        yield* b.storage.register(b.runner, true)
        const all = shards(8)
        yield* a.storage.acquire(a.address, all)
        const epoch = yield* a.lease.epoch
        // Simulates the server's expiry of a lease.
        yield* (yield* buckets(a)).leases.delete(leaseKey)
        expect(names(yield* b.storage.acquire(b.address, all))).toEqual(names(all))
        expect(yield* a.storage.refresh(a.address, all)).toEqual([])
        expect(yield* a.lease.epoch).toBeUndefined()
        yield* a.storage.register(a.runner, true)
        expect(yield* a.lease.epoch).not.toBe(epoch)
        expect(yield* a.storage.acquire(a.address, all)).toEqual([])
        expect(names(yield* b.storage.refresh(b.address, all))).toEqual(names(all))
      })
    ))

  it("evicting a runner whose process has ended frees its shards immediately, and those of no other", () =>
    withMembers((join) =>
      Effect.gen(function* () {
        const members = yield* Effect.forEach(["a", "b", "c"], join)
        yield* Effect.forEach(members, ({ storage, runner }) => storage.register(runner, true))
        const [a, b, c] = members
        if (a === undefined || b === undefined || c === undefined) throw new Error("no members")
        const [ofA, ofB] = [shards(8).slice(0, 4), shards(8).slice(4)]
        yield* a.storage.acquire(a.address, ofA)
        yield* b.storage.acquire(b.address, ofB)
        yield* c.lease.evict((address) => address === "a:1")
        expect(yield* c.lease.alive).toEqual(["b:1", "c:1"])
        expect(names(yield* c.storage.acquire(c.address, shards(8)))).toEqual(names(ofA))
      })
    ))

  it("a lease that is refreshed after it was read is not evicted", () =>
    withMembers((join) =>
      Effect.gen(function* () {
        const a = yield* join("a")
        yield* a.storage.register(a.runner, true)
        const { leases } = yield* buckets(a)
        const entries: typeof leases.entries = (...input) =>
          Effect.tap(leases.entries(...input), Effect.orDie(a.storage.refresh(a.address, [])))
        yield* evictRunners({ ...leases, entries }, () => true)
        expect(yield* a.lease.alive).toEqual(["a:1"])
      })
    ))

  it("writes whose responses were lost are recognised", () =>
    withMembers((join) =>
      Effect.gen(function* () {
        const a = yield* join("a")
        yield* a.storage.register(a.runner, true)
        const epoch = yield* a.lease.epoch
        // The same runner wrote, and the response was lost.
        const there = yield* buckets(a)
        yield* there.leases.put(leaseKey, (yield* there.leases.get(leaseKey))?.value ?? "")
        const all = shards(4)
        yield* there.shards.put("shard.default.1", `${leaseKey}#${epoch}`)
        expect(names(yield* a.storage.refresh(a.address, []))).toEqual([])
        expect(yield* a.lease.epoch).toBe(epoch)
        expect(names(yield* a.storage.acquire(a.address, all))).toEqual(names(all))
        expect(names(yield* a.storage.refresh(a.address, all))).toEqual(names(all))
      })
    ))

  it("a lease ends by itself 9 s after its runner is gone, and no earlier; through a restart of the server", () =>
    withMembers((join) =>
      Effect.gen(function* () {
        const [a, b] = [yield* join("a"), yield* join("b")]
        yield* b.storage.register(b.runner, true)
        yield* a.storage.register(a.runner, true)
        const [shard] = shards(1)
        if (shard === undefined) throw new Error("no shard")
        yield* a.storage.acquire(a.address, [shard])
        yield* a.storage.refresh(a.address, [])
        const at = performance.now()
        yield* Effect.promise(() => a.connection.raw.close())
        yield* Effect.promise(() => server.kill())
        const refreshing = yield* Effect.forkChild(
          Effect.forever(Effect.andThen(b.storage.refresh(b.address, []), Effect.sleep(200)))
        )
        yield* Effect.promise(() => server.start())
        yield* Effect.promise(() =>
          waitUntil(
            () => Effect.runPromise(Effect.map(b.storage.acquire(b.address, [shard]), (taken) => taken.length === 1)),
            { describe: () => "the shard is free" }
          )
        )
        const after = performance.now() - at
        refreshing.interruptUnsafe()
        expect(after).toBeGreaterThan(8800)
        // Rounds and the server's start included, on a machine that is busy.
        expect(after).toBeLessThan(16_000)
      })
    ))
})

describe("a runner whose lease may have expired", () => {
  it("has no fence, takes no shards and reports since when, until a refresh is confirmed", () =>
    withMembers((join) =>
      Effect.gen(function* () {
        const a = yield* join("a")
        const all = shards(4)
        yield* a.storage.register(a.runner, true)
        yield* a.storage.acquire(a.address, all)
        const fence = yield* a.lease.fence("default:1")
        expect([yield* a.lease.isHeld, typeof fence]).toEqual([true, "number"])
        setAhead(6000)
        // Too old to take more, and valid for what it holds.
        expect(yield* a.storage.acquire(a.address, all)).toEqual([])
        expect([yield* a.lease.isHeld, yield* a.lease.fence("default:1")]).toEqual([true, fence])
        setAhead(9000)
        expect([yield* a.lease.isHeld, yield* a.lease.fence("default:1")]).toEqual([false, undefined])
        expect(yield* a.lease.millisWithout).toBeGreaterThanOrEqual(9000)
        expect(names(yield* a.storage.refresh(a.address, all))).toEqual(names(all))
        expect([yield* a.lease.isHeld, yield* a.lease.fence("default:1")]).toEqual([true, fence])
        expect(yield* a.lease.millisWithout).toBeLessThan(9000)
      })
    ))

  it("a lease that was written within a second covers a single shard without another write", () =>
    withMembers((join) =>
      Effect.gen(function* () {
        const a = yield* join("a")
        const all = shards(2)
        yield* a.storage.register(a.runner, true)
        yield* a.storage.acquire(a.address, all)
        const writes = countWrites(a)
        expect(names(yield* a.storage.refresh(a.address, all.slice(0, 1)))).toEqual(["default:1"])
        expect(writes()).toBe(0)
        yield* a.storage.refresh(a.address, all)
        expect(writes()).toBe(1)
        setAhead(1000)
        yield* a.storage.refresh(a.address, all.slice(0, 1))
        expect(writes()).toBe(2)
      })
    ))

  it("is written by one call after the other, so that no write of this runner loses to another of it", () =>
    withMembers((join) =>
      Effect.gen(function* () {
        const a = yield* join("a")
        yield* a.storage.register(a.runner, true)
        const writes = countWrites(a)
        yield* Effect.all([a.storage.refresh(a.address, []), a.storage.refresh(a.address, [])], { concurrency: 2 })
        expect(writes()).toBe(2)
      })
    ))

  it("releases shards that the cluster has not listed for as long as a lease lasts", () =>
    withMembers((join) =>
      Effect.gen(function* () {
        const [a, b] = [yield* join("a"), yield* join("b")]
        const all = shards(2)
        yield* a.storage.register(a.runner, true)
        yield* b.storage.register(b.runner, true)
        yield* a.storage.acquire(a.address, all)
        yield* a.storage.refresh(a.address, all.slice(0, 1))
        expect(yield* b.storage.acquire(b.address, all)).toEqual([])
        setAhead(9001)
        yield* a.storage.refresh(a.address, all.slice(0, 1))
        yield* b.storage.refresh(b.address, [])
        expect(names(yield* b.storage.acquire(b.address, all))).toEqual(["default:2"])
      })
    ))
})

describe("a storage whose server is disconnected", () => {
  /** A member whose connection reports to be disconnected until `reconnect`. */
  const cut = (member: Member) =>
    Effect.gen(function* () {
      const state = { connected: false }
      const reconnected = yield* Deferred.make<void>()
      const connection = {
        ...member.connection,
        status: Effect.map(member.connection.status, (status) => ({ ...status, connected: state.connected })),
        reconnected: Deferred.await(reconnected)
      }
      const context = yield* Layer.build(
        Layer.fresh(layer).pipe(Layer.provide(Layer.succeed(NatsConnection, connection)))
      )
      return {
        storage: Context.get(context, RunnerStorage.RunnerStorage),
        reconnect: Effect.suspend(() => {
          state.connected = true
          return Deferred.succeed(reconnected, undefined)
        })
      }
    })

  it("sends nothing before the reconnect", () =>
    withMembers((join) =>
      Effect.gen(function* () {
        const a = yield* join("a")
        const { reconnect, storage } = yield* cut(a)
        const reads = vi.spyOn(a.connection.manager.streams, "info")
        const registering = yield* Effect.forkChild(storage.register(a.runner, true), { startImmediately: true })
        expect(reads.mock.calls.length).toBe(0)
        yield* reconnect
        yield* Fiber.join(registering)
        yield* lists(a, ["a"])
      }).pipe(Effect.scoped)
    ))

  it("leaves within 1.5 seconds, in each of the two steps", () =>
    withMembers((join) =>
      Effect.gen(function* () {
        const a = yield* join("a")
        const { storage } = yield* cut(a)
        for (const step of [storage.unregister(a.address), storage.releaseAll(a.address)]) {
          const leaving = yield* Effect.forkChild(step, { startImmediately: true })
          yield* TestClock.adjust("1499 millis")
          expect(leaving.pollUnsafe()).toBeUndefined()
          yield* TestClock.adjust("1 millis")
          yield* Fiber.join(leaving)
        }
      }).pipe(Effect.scoped, Effect.provide(TestClock.layer()))
    ))

  it("repeats a call that got no response in time, and no call that is refused", () =>
    withMembers((join) =>
      Effect.gen(function* () {
        const a = yield* join("a")
        const publish = vi.spyOn(a.connection.jetstream, "publish")
        publish.mockRejectedValueOnce(new Error("no response"))
        yield* a.storage.register(a.runner, true)
        yield* lists(a, ["a"])
        publish.mockClear()
        const refused = new NatsError({ reason: "refused", message: "not permitted" })
        publish.mockRejectedValueOnce(refused)
        yield* Effect.flip(a.storage.refresh(a.address, []))
        expect(publish.mock.calls.length).toBe(1)
      })
    ))
})
