/** One simulated repository: folding does what the benchmark measures over twenty, and no author or sock puppet changes a decision. */
import { expect, it } from "vitest"
import { simulateRepository, SimulatedRecords } from "./SimulatedAcceptance.ts"

const simulate = async (puppets: boolean) => {
  await using records = new SimulatedRecords()
  return await simulateRepository({ seed: 2, changes: 300, puppets }, records)
}

it("a floor keeps what people accept, and authors and sock puppets move nothing", async () => {
  const { accepted, acceptedShown, criticalFolded, decisions, unwanted, unwantedFolded } = await simulate(false)
  expect(acceptedShown / accepted).toBeGreaterThan(0.85)
  expect(unwantedFolded / unwanted).toBeGreaterThan(0.3)
  expect(criticalFolded).toBe(0)
  expect((await simulate(true)).decisions).toBe(decisions)
}, 60_000)
