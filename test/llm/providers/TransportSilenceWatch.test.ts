/** Silence of servers on a fake clock: a local server that works for other calls is not silent. */
import { createServer } from "node:http"
import type { ServerResponse } from "node:http"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { afterEach, vi } from "vitest"
import { ServerActivity, SilenceWatch, Transport } from "../../../src/llm/providers/Transport.ts"

const minute = 60_000
const limits = { firstMillis: 60 * minute, betweenMillis: 5 * minute }
const useFakeClock = () => vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] })
afterEach(() => vi.useRealTimers())

describe("silence", () => {
  it("before the first byte ends the request after its limit", () => {
    useFakeClock()
    const watch = new SilenceWatch(limits)
    vi.advanceTimersByTime(60 * minute - 1)
    assert.isFalse(watch.signal.aborted)
    vi.advanceTimersByTime(1)
    assert.match(String(watch.signal.reason), /sent nothing for 3600000 ms/)
  })

  it("between two pieces ends it after the shorter limit, and not while the reader is busy", () => {
    useFakeClock()
    const watch = new SilenceWatch(limits)
    watch.received()
    vi.advanceTimersByTime(600 * minute)
    assert.isFalse(watch.signal.aborted)
    watch.listen()
    vi.advanceTimersByTime(5 * minute)
    assert.match(String(watch.signal.reason), /sent nothing for 300000 ms/)
  })

  it("before the first byte does not count while a local server responds to another call", () => {
    useFakeClock()
    const activity = new ServerActivity()
    const watch = new SilenceWatch(limits, activity)
    for (let at = 0; at < 10; at++) {
      vi.advanceTimersByTime(40 * minute)
      activity.note()
    }
    assert.isFalse(watch.signal.aborted)
    vi.advanceTimersByTime(60 * minute)
    assert.isTrue(watch.signal.aborted)
  })
})

describe("a request in the queue of a local server", () => {
  it.live("waits as long as the server responds to another one, and then gets its response", () =>
    Effect.gen(function* () {
      const [first, second] = [Promise.withResolvers<ServerResponse>(), Promise.withResolvers<ServerResponse>()]
      const arrivals = [first, second]
      const server = createServer((_, response) => arrivals.shift()?.resolve(response))
      yield* Effect.acquireRelease(
        Effect.promise(() => new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))),
        () => Effect.sync(() => server.close().closeAllConnections())
      )
      const address = server.address()
      const base_url = `http://127.0.0.1:${typeof address === "object" && address !== null ? address.port : 0}`
      const config = { id: "p", kind: "openai_compatible", base_url } as const
      const http = (yield* Transport).httpFor({ config, key: undefined, credentials: {}, missing: [] })
      yield* Effect.promise(async () => {
        useFakeClock()
        const post = () => http.fetch(base_url, { method: "POST", body: "{}" })
        const serving = post()
        const served = await first.promise
        const queued = post()
        const waiting = await second.promise
        served.write("begun")
        const reader = (await serving).body?.getReader()
        await reader?.read()
        for (let at = 0; at < 40; at++) {
          const piece = reader?.read()
          vi.advanceTimersByTime(4 * minute)
          served.write("more")
          await piece
        }
        waiting.end("at last")
        assert.strictEqual(await (await queued).text(), "at last")
        served.end()
      })
    }).pipe(Effect.scoped, Effect.provide(Transport.layer))
  )
})
