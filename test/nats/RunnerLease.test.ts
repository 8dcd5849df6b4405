/** Machine ids of runners that register together, over a bucket in memory. NatsRunnerStorage.test.ts uses a real server. */
import { Effect } from "effect"
import { afterEach, expect, it, vi } from "vitest"
import type { BucketEntry, NatsBucket } from "../../nats/NatsBucket.ts"
import { NatsError } from "../../nats/NatsError.ts"
import { Holdings, registerRunner } from "../../nats/RunnerLease.ts"

afterEach(() => void vi.restoreAllMocks())

/** Every call takes a turn of the event loop, so that calls of several runners alternate. The list with the number `failing` fails. */
const memoryBucket = (failing?: number): NatsBucket => {
  const stored = new Map<string, BucketEntry>()
  let revision = 0
  let lists = 0
  const soon = <A>(result: () => A) => Effect.promise(() => new Promise<void>(setImmediate)).pipe(Effect.map(result))
  const write = (key: string, value: string) => {
    stored.set(key, { key, value, revision: ++revision })
    return revision
  }
  const bucket: Pick<NatsBucket, "entries" | "get" | "put" | "update"> = {
    entries: () =>
      Effect.suspend(() =>
        ++lists === failing
          ? Effect.fail(new NatsError({ reason: "unavailable", message: "no response" }))
          : soon(() => [...stored.values()])
      ),
    get: (key) => soon(() => stored.get(key)),
    put: (key, value) => soon(() => write(key, value)),
    update: (key, value) => soon(() => write(key, value))
  }
  return bucket as NatsBucket
}

it("runners that choose one machine id together get different ones", async () => {
  vi.spyOn(Math, "random").mockReturnValue(0)
  const leases = memoryBucket()
  const register = (address: string) => registerRunner(leases, new Holdings(), address, "runner")
  const machines = await Effect.runPromise(
    Effect.forEach(["a:1", "b:1", "c:1"], register, { concurrency: "unbounded" })
  )
  expect(machines.toSorted()).toEqual([0, 1, 2])
})

it("a runner that could not read who has its machine id does not keep it", async () => {
  vi.spyOn(Math, "random").mockReturnValue(0)
  // The second list of the second runner.
  const leases = memoryBucket(4)
  const [first, second] = [new Holdings(), new Holdings()]
  const register = (holdings: Holdings, address: string) => registerRunner(leases, holdings, address, "runner")
  const both = Effect.all([register(first, "a:1"), Effect.flip(register(second, "b:1"))], { concurrency: 2 })
  expect((await Effect.runPromise(both))[1].reason).toBe("unavailable")
  expect(second.own).toBeUndefined()
  expect([first.own?.lease.machine, await Effect.runPromise(register(second, "b:1"))]).toEqual([0, 1])
})
