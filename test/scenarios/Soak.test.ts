/** The short form of `npm run soak`: all failures concurrently, and every change is reviewed once. */
import { expect, it } from "vitest"
import { soak } from "../soak/Soak.ts"

it("twenty changes, hosts that fail, kills and new configurations", async () => {
  const disturbances = { faults: 0.1, killEveryMillis: 6000, maxKills: 3, reloadEveryMillis: 5000 }
  const options = { ...disturbances, changes: 20, seed: 7, spreadMillis: 0, timeoutMillis: 150_000 }
  const { wrong, kills, reloads, faults } = await soak(options, () => {})
  expect(wrong).toEqual([])
  expect(Math.min(kills, reloads, faults)).toBeGreaterThan(0)
}, 240_000)
