/** Storing of drafts: one request at a time, nothing lost by a failure or a conflict. */
import { assert, describe, it } from "vitest"
import { Problem } from "../../../src/dashboard/client/Problem.ts"
import { Autosave } from "../../../src/dashboard/configuration/Autosave.ts"
import type { AutosaveOptions, Draft, DraftContent } from "../../../src/dashboard/configuration/Autosave.ts"
import { waitUntil } from "../../harness/Wait.ts"

const content = (yaml: string): DraftContent => ({ title: "t", base_revision: 0, yaml })

type Reply = Problem | "saved"

/** A service that stores what it gets, unless a reply is a problem. `calls`: what was sent, for which version. */
const start = (replies: ReadonlyArray<Reply> = [], more: Partial<AutosaveOptions> = {}) => {
  const calls: Array<string> = []
  let running = 0
  const autosave = new Autosave({
    delayMillis: 1,
    retryMillis: 1,
    save: async ({ yaml }, before, copyOf) => {
      assert.strictEqual(++running, 1, "one request at a time")
      const index = calls.push(`${yaml} ${before?.id ?? "new"} ${before?.version ?? 0} ${copyOf ?? ""}`.trim()) - 1
      await new Promise((resume) => setImmediate(resume))
      running--
      const reply = replies[index] ?? "saved"
      if (reply !== "saved") throw reply
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion
      return { id: before?.id ?? `d${index}`, version: (before?.version ?? 0) + 1, updated_at: "now" } as Draft
    },
    ...more
  })
  return { autosave, calls }
}
const reached = (autosave: Autosave, tag: string) =>
  waitUntil(() => autosave.stored.state._tag === tag, { describe: () => `${tag}: ${autosave.stored.state._tag}` })

const moved = new Problem(409, { code: "draft_conflict", version: 7 })

describe("an edit", () => {
  it("is stored once for several changes, and again for one during the request", async () => {
    const { autosave, calls } = start()
    for (const yaml of ["a", "ab", "abc"]) autosave.change(content(yaml))
    const stored = autosave.flush()
    autosave.change(content("abcd"))
    await stored
    assert.deepStrictEqual(calls, ["abc new 0", "abcd d0 1"])
    assert.strictEqual(autosave.stored.state._tag, "Saved")
  })

  it("is stored by itself after a while", async () => {
    const { autosave, calls } = start()
    autosave.change(content("a"))
    await reached(autosave, "Saved")
    assert.deepStrictEqual(calls, ["a new 0"])
  })

  it("is stored when the service responds again, in its newest form", async () => {
    const { autosave, calls } = start([new Problem(0, {}), new Problem(503, { code: "x" })])
    autosave.change(content("a"))
    await autosave.flush()
    assert.strictEqual(autosave.stored.state._tag, "Failed")
    await reached(autosave, "Saved")
    assert.deepStrictEqual(calls, ["a new 0", "a new 0", "a new 0"])
  })

  it("that is refused waits for the next change", async () => {
    const { autosave, calls } = start([new Problem(422, { code: "invalid_yaml" })])
    autosave.change(content("a: ["))
    await autosave.flush()
    assert.deepInclude(autosave.stored, { draft: undefined })
    assert.strictEqual(autosave.stored.state._tag, "Failed")
    autosave.change(content("a: []"))
    await reached(autosave, "Saved")
    assert.deepStrictEqual(calls, ["a: [ new 0", "a: [] new 0"])
  })

  it("that is discarded is not stored", async () => {
    const { autosave, calls } = start()
    autosave.change(content("a"))
    await autosave.stop()
    await autosave.flush()
    assert.deepStrictEqual(calls, [])
  })
})

describe("a version of another tab", () => {
  const collide = async () => {
    const at = start(["saved", moved])
    at.autosave.change(content("a"))
    await at.autosave.flush()
    at.autosave.change(content("b"))
    await at.autosave.flush()
    at.autosave.change(content("c"))
    assert.deepStrictEqual(at.autosave.stored.state, { _tag: "Moved", version: 7 })
    assert.strictEqual(at.calls.length, 2)
    return at
  }

  it("is replaced only by decision", async () => {
    const { autosave, calls } = await collide()
    await autosave.replace()
    assert.deepStrictEqual(calls.slice(2), ["c d0 7"])
    assert.strictEqual(autosave.stored.draft?.version, 8)
  })

  it("stays next to the own one, which becomes a copy with its credentials", async () => {
    const { autosave, calls } = await collide()
    await autosave.copy()
    autosave.change(content("d"))
    await autosave.flush()
    assert.deepStrictEqual(calls.slice(2), ["c new 0 d0", "d d2 1"])
  })
})
