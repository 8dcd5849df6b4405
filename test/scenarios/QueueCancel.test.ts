/**
 * A cancelled review ends immediately, during the call of its model, and every record and view reports it. With a queue in SQLite by default, also
 * in memory with AICR_TEST_BACKENDS=all.
 */
import { DatabaseSync } from "node:sqlite"
import { join } from "node:path"
import { describe, expect, it } from "vitest"
import { honest, Installation } from "../harness/Installation.ts"
import { takeSample } from "../harness/Samples.ts"
import { waitUntil } from "../harness/Wait.ts"

const rows = (at: Installation, query: string) => {
  const database = new DatabaseSync(join(at.directory, "aicr.db"), { readOnly: true })
  try {
    return database.prepare(query).all()
  } finally {
    database.close()
  }
}

describe.each(takeSample("AICR_TEST_BACKENDS", ["sqlite", "memory"] as const, 2))("queue %s", (queue) => {
  it("a pull request that is closed while its review runs", async () => {
    await using at = await Installation.make({ queue })
    await at.aicr.start()
    const [unwanted, next] = [await at.open("unwanted"), await at.open("next")]
    const reached = Promise.withResolvers<void>()
    at.model.script(() => {
      reached.resolve()
      return { stall: "silent" }
    })
    await at.forge.notify(unwanted, "opened")
    await reached.promise
    await at.forge.notify(next, "opened")

    at.model.script(honest)
    at.forge.close(unwanted, false)
    await at.forge.notify(unwanted, "closed")
    // The one place of the workspace is free again, minutes before the model would be given up: the next one is reviewed.
    await at.reviewed(next)
    await waitUntil(() => at.unfinished().length === 0, { describe: () => at.unfinished().join(", ") })

    expect(at.posted(unwanted)).toEqual({ reviews: [], comments: [], summaries: 0 })
    expect(at.countModelCalls("unwanted")).toBe(1)
    const target = `%:${unwanted.number}`
    expect(rows(at, `SELECT status FROM runs WHERE target_key LIKE '${target}'`)).toEqual([{ status: "cancelled" }])
    expect(rows(at, `SELECT outcome FROM events WHERE work IS NOT NULL AND target_key LIKE '${target}'`)).toEqual([
      { outcome: "cancelled" }
    ])
  })
})
