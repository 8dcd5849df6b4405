/** A thread that hangs, takes too much memory or ends fails the review that it works for, and no other. */
import { existsSync, readdirSync, readFileSync } from "node:fs"
import { getPriority } from "node:os"
import { setFlagsFromString } from "node:v8"
import { Worker } from "node:worker_threads"
import { Effect, Fiber } from "effect"
import { describe, expect, it } from "vitest"
import { defaultThreads, makeChangeThreads } from "../../src/engine/ChangeThreads.ts"
import type { ChangeThread, ChangeThreadsService } from "../../src/engine/ChangeThreads.ts"
import { waitUntil } from "../harness/Wait.ts"
import { makeRepository } from "../vcs/Repository.ts"
import { runEngine } from "./Fixture.ts"

const entry = new URL("./threads/UnrulyThread.js", import.meta.url)
const unruly = (millis: number, computing = 1) => makeChangeThreads({ entry, computing, millis })
const beats = () => new Int32Array(new SharedArrayBuffer(4))

/** Sends a word to an unruly thread. */
const send = (change: ChangeThread, word: string, counter = beats()) =>
  (
    change.run as unknown as (
      name: string,
      ...input: ReadonlyArray<unknown>
    ) => ReturnType<typeof change.run<"renderPass">>
  )("renderPass", word, counter)

const readStat = (thread: string): string => {
  try {
    return readFileSync(`/proc/self/task/${thread}/stat`, "latin1")
  } catch {
    // The thread has ended.
    return ""
  }
}

const diffOf = (path: string, lines: number) =>
  Buffer.from(
    `diff --git a/${path} b/${path}\nnew file mode 100644\n--- /dev/null\n+++ b/${path}\n@@ -0,0 +1,${lines} @@\n${"+line\n".repeat(lines)}`
  )

describe("a thread that", () => {
  it.each([
    ["hangs", "hang", 3_000, "limit", "took more than 3 seconds"],
    ["takes too much memory", "fill", 60_000, "limit", "needs more than 24 MiB of memory"],
    ["ends", "end", 60_000, "crashed", "it ended with code 7"]
  ] as const)(
    "%s fails its own change; the concurrent one and the next one continue",
    async (_, word, millis, reason, message) => {
      const threads = unruly(millis)
      await Effect.runPromise(
        Effect.scoped(
          Effect.gen(function* () {
            const other = yield* threads.open(24)
            expect(yield* send(other, "before")).toBe("before")
            const change = yield* threads.open(24)
            const error = yield* Effect.flip(send(change, word))
            expect(error).toMatchObject({ _tag: "AnalysisError", reason })
            expect(error.message).toContain(message)
            // What it held is lost: nothing more is computed for that change.
            expect(yield* Effect.flip(send(change, "again"))).toMatchObject({ reason })
            expect(yield* send(other, "after")).toBe("after")
            expect(yield* send(yield* threads.open(24), "next")).toBe("next")
          })
        )
      )
      threads.end()
    }
  )
})

it("an interrupted review ends its thread, and what waits for a processor goes on", async () => {
  const threads = unruly(60_000)
  const counter = beats()
  const hanging = Effect.runFork(
    Effect.scoped(Effect.flatMap(threads.open(24), (change) => send(change, "hang", counter)))
  )
  await waitUntil(() => Atomics.load(counter, 0) > 0, { describe: () => "the thread computes" })
  const next = Effect.runPromise(Effect.scoped(Effect.flatMap(threads.open(24), (change) => send(change, "next"))))
  await Effect.runPromise(Fiber.interrupt(hanging))
  expect(await next).toBe("next")
  let before = -1
  let quiet = 0
  // A thread that still computes may wait for a processor for a while.
  const stopped = () => {
    const now = Atomics.load(counter, 0)
    quiet = now === before ? quiet + 1 : 0
    before = now
    return quiet === 50
  }
  await waitUntil(stopped, { describe: () => "the thread has ended" })
  threads.end()
})

describe("after a change", () => {
  /** Has threads of `threads` work for one change, and returns which thread it was. */
  const useThread = (threads: ChangeThreadsService, word: string) =>
    Effect.runPromise(
      Effect.scoped(
        Effect.gen(function* () {
          const change = yield* threads.open(24)
          yield* send(change, word)
          return yield* send(change, "which")
        })
      )
    )

  it("its thread takes the next one, which waits until the change is dropped", async () => {
    const threads = unruly(60_000)
    const first = await useThread(threads, "nothing")
    for (let at = 0; at < 3; at++) expect(await useThread(threads, "nothing")).toBe(first)
    threads.end()
  })

  it.each([
    ["holds much memory", "hold"],
    ["keeps a low priority", "slow"]
  ])("a thread that %s ends", async (_, word) => {
    const threads = unruly(60_000)
    const first = await useThread(threads, word)
    for (let at = 0; at < 8; at++) expect(await useThread(threads, "nothing")).not.toBe(first)
    threads.end()
  })
})

it("a thread starts only for a change", async () => {
  const threads = unruly(60_000)
  const ids = await Effect.runPromise(
    Effect.scoped(
      Effect.gen(function* () {
        const first = yield* send(yield* threads.open(24), "which")
        // Ids of threads ascend.
        return { first: Number(first.slice("thread ".length)), next: new Worker("", { eval: true }).threadId }
      })
    )
  )
  expect(ids.next).toBe(ids.first + 1)
  threads.end()
})

it("threads of several concurrent changes stay for the next ones, because a start takes the processor from reviews", async () => {
  const threads = unruly(60_000, 3)
  const burst = Effect.scoped(
    Effect.gen(function* () {
      const changes = yield* Effect.forEach([1, 2, 3, 4], () => threads.open(24))
      return yield* Effect.forEach(changes, (change) => send(change, "which"))
    })
  )
  let last: ReadonlyArray<string> = []
  let same = 0
  // A burst that begins before the threads are free takes others.
  const isUsedAgain = await waitUntil(
    async () => {
      const before = last
      last = (await Effect.runPromise(burst)).toSorted()
      same = before.join() === last.join() ? same + 1 : 0
      return same === 5
    },
    { describe: () => `five bursts use the threads of the burst before, now ${last.join()}` }
  )
  expect(isUsedAgain).toBe(true)
  threads.end()
})

it("the flag of node for new objects does not extend the limit of a thread", async () => {
  setFlagsFromString("--max-semi-space-size=16")
  const threads = unruly(60_000)
  const churn = Effect.scoped(Effect.flatMap(threads.open(64), (change) => send(change, "churn")))
  expect(Number(await Effect.runPromise(churn))).toBeLessThan(12)
  threads.end()
})

it("threads that start later use the vocabulary that an earlier one has read", async () => {
  const observed = new URL("./threads/ObservedThread.js", import.meta.url)
  const threads = makeChangeThreads({ entry: observed, computing: 2, millis: 60_000 })
  const hasReceived = (change: ChangeThread) => send(change, "vocabulary received?")
  const received = await Effect.runPromise(
    Effect.scoped(
      Effect.gen(function* () {
        const one = yield* threads.open(256)
        const first = yield* hasReceived(one)
        expect(yield* one.run("countTokens", ["const answer = 42"])).toEqual([5])
        // The next change takes the thread that started with the first one.
        const two = yield* threads.open(256)
        yield* hasReceived(two)
        const three = yield* threads.open(256)
        expect(yield* three.run("countTokens", ["const answer = 42"])).toEqual([5])
        return [first, yield* hasReceived(three)]
      })
    )
  )
  expect(received).toEqual([false, true])
  threads.end()
})

it("two concurrent changes are isolated, whatever order their work comes in", async () => {
  const threads = makeChangeThreads({ ...defaultThreads, computing: 2 })
  const read = (path: string, lines: number) =>
    Effect.gen(function* () {
      const change = yield* threads.open(256)
      yield* change.run("beginDiff")
      const bytes = diffOf(path, lines)
      for (let at = 0; at < bytes.length; at += 4096) {
        yield* change.run("push", [Uint8Array.prototype.slice.call(bytes, at, at + 4096)])
      }
      yield* change.run("endDiff")
      yield* change.run("selectRead", 0)
      return yield* change.run("facts", 0, 10)
    }).pipe(Effect.scoped)
  const [a, b] = await Effect.runPromise(Effect.all([read("a.ts", 3000), read("b.ts", 7000)], { concurrency: 2 }))
  expect(a).toMatchObject([{ path: "a.ts", additions: 3000 }])
  expect(b).toMatchObject([{ path: "b.ts", additions: 7000 }])
  // A thread that is used again has nothing of the change before.
  const again = Effect.scoped(Effect.flatMap(threads.open(256), (change) => change.run("facts", 0, 10)))
  expect(await Effect.runPromise(again)).toEqual([])
  threads.end()
})

it.runIf(existsSync("/proc/self/task"))("a thread that computes for long gets a lower priority", async () => {
  const lowest = Math.min(19, getPriority() + 19)
  const isLowest = (thread: string) => Number(/\) \S (.*)/.exec(readStat(thread))?.[1]?.split(" ")[15]) === lowest
  const countLowest = () => readdirSync("/proc/self/task").filter(isLowest).length
  const before = countLowest()
  const threads = makeChangeThreads(defaultThreads)
  const text = "const answer = compute(42) ".repeat(2_000)
  await Effect.runPromise(
    Effect.scoped(
      Effect.gen(function* () {
        const change = yield* threads.open(256)
        for (let calls = 0; calls < 200_000 && countLowest() === before; calls++)
          yield* change.run("countTokens", [text])
      })
    )
  )
  const after = countLowest()
  threads.end()
  expect(after).toBe(before + 1)
})

it("a review that passes a limit fails with its reason, and a concurrent one completes", async () => {
  const repository = makeRepository()
  repository.write("a.ts", "export const a = 1\n")
  const base = repository.commit("base")
  repository.write("a.ts", "export const a = 2\n")
  const change = { repository, base, head: repository.commit("head") }
  const [hasty, patient] = await Promise.all([
    // No thread is up within no time.
    runEngine({ ...change, threads: makeChangeThreads({ ...defaultThreads, millis: 0 }) }).catch(String),
    runEngine(change)
  ])
  expect(hasty).toContain("one step of the analysis of the change took more than 0 seconds")
  expect(patient.analysis.coverage.reviewed).toEqual(["a.ts"])
})
