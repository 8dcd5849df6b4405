/** A sample of `npm run bench -- rounds`: changes over eight rounds, with a model that invents findings about whatever it sees. */
import { expect, it } from "vitest"
import { addFigures, simulateRounds } from "./SimulatedRounds.ts"

it("rounds end: what is new is published, late findings are not, and a round without news is silent", async () => {
  const all = await Promise.all([1, 2].map((seed) => simulateRounds(seed, 8)))
  const { clean, invented, latePublished, planted, plantedPublished, rounds, silent, tokens, tokensBefore } =
    addFigures(all)
  expect(rounds).toBe(16)
  expect(invented).toBeGreaterThan(20)
  expect(planted).toBeGreaterThan(1)
  expect(clean).toBeGreaterThan(1)
  expect({ latePublished, planted: plantedPublished, silent }).toEqual({ latePublished: 0, planted, silent: clean })
  expect(tokens).toBeGreaterThan(tokensBefore)
  expect(tokens / tokensBefore).toBeLessThan(1.1)
}, 240_000)
