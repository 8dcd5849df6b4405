/** A row of the outbox that ends every process that handles it is set aside; the rows after it and those of other targets are sent. */
import { DatabaseSync } from "node:sqlite"
import { join } from "node:path"
import { expect, it } from "vitest"
import { maxStarts } from "../../actors/publishing/PublishDecision.ts"
import { honest, Installation, listStates } from "../harness/Installation.ts"
import { waitUntil } from "../harness/Wait.ts"

const rowsOf = (at: Installation, target: string) => {
  const database = new DatabaseSync(join(at.directory, "aicr.db"), { readOnly: true })
  try {
    return database.prepare("SELECT kind, status, error FROM publications WHERE target_key LIKE ?").all(`%:${target}`)
  } finally {
    database.close()
  }
}

it("is quarantined after a bounded number of processes, and does not block other work", async () => {
  await using at = await Installation.make({ queue: "sqlite" })
  await at.aicr.start()
  at.model.script(honest)
  const poisoned = await at.open("poisoned")
  const other = await at.open("other")

  let kills = 0
  let killed = Promise.withResolvers<void>()
  at.host.onRequest = ({ method, path }) => {
    if (method !== "POST" || !path.endsWith(`/pulls/${poisoned.number}/reviews`)) return undefined
    kills++
    killed.resolve(at.aicr.kill().then(() => undefined))
    return { kind: "cut" }
  }
  await at.forge.notify(poisoned, "opened")
  const isOver = () => rowsOf(at, `pull_request:${poisoned.number}`).some(({ status }) => status === "quarantined")
  for (let start = 0; start <= maxStarts; start++) {
    await killed.promise
    killed = Promise.withResolvers()
    await at.aicr.start()
    // While the first one still ends processes, another change comes in.
    if (start === maxStarts) await at.forge.notify(other, "opened")
  }
  await waitUntil(isOver, { describe: () => `not quarantined; log:\n${at.aicr.log}`, timeout: 60_000 })
  await at.reviewed(other)
  await at.settled()

  expect(kills).toBe(maxStarts + 1)
  expect(at.posted(other).reviews).toEqual([other.head])
  expect(at.posted(poisoned)).toMatchObject({ reviews: [], summaries: 1 })
  expect(listStates(poisoned).at(-1)).not.toBe("pending")
  const [row, ...rest] = rowsOf(at, `pull_request:${poisoned.number}`).filter(({ status }) => status === "quarantined")
  expect(rest).toEqual([])
  expect(row).toMatchObject({
    kind: "Review",
    error: JSON.stringify({ _tag: "PublishersCrashed", count: maxStarts })
  })
})
