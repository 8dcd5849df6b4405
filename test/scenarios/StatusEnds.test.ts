/** A head that is replaced while its review waits for a process: its commit does not say "in progress" for ever. */
import { expect, it } from "vitest"
import { honest, Installation, listStates } from "../harness/Installation.ts"
import { waitUntil } from "../harness/Wait.ts"

it("the status of a head that was replaced while the process was down ends", async () => {
  await using at = await Installation.make({ queue: "sqlite" })
  await at.aicr.start()
  const pull = await at.open("change")
  const first = pull.head
  // The model does not respond before the process dies.
  const asked = Promise.withResolvers<void>()
  at.model.script(() => {
    asked.resolve()
    return { cut: true }
  })
  await at.forge.notify(pull, "opened")
  await waitUntil(() => listStates(pull).at(-1) === "pending", { describe: () => at.aicr.log })
  await asked.promise
  await at.aicr.kill()
  at.model.script(honest)
  await at.push("change", 2)
  expect(pull.head).not.toBe(first)
  await at.aicr.start()
  await at.forge.notify(pull, "synchronized")
  await at.reviewed(pull)
  const statuses = () => pull.repository.statuses.get(first) ?? []
  await waitUntil(() => statuses().at(-1)?.state !== "pending", {
    timeout: 60_000,
    describe: () => `${JSON.stringify(statuses())}\n${at.aicr.log}`
  })
  expect(statuses().at(-1)?.description).toBe(`Superseded by ${pull.head.slice(0, 12)}`)
  expect(listStates(pull).at(-1)).toBe("success")
}, 120_000)
