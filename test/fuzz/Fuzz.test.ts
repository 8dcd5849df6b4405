/**
 * The fuzzer finds planted faults, and every target passes its seeds, the inputs of earlier findings and a short run from a fixed
 * seed. Long runs: `npm run fuzz`.
 */
import { describe, expect, it } from "vitest"
import { explore } from "./Explore.ts"
import { fuzz } from "./Fuzz.ts"
import { targetNamed, targets } from "./Targets.ts"

describe("the fuzzer", () => {
  it("finds a fault behind conditions that are met one after the other", async () => {
    const { finding } = await fuzz("planted-deep", { millis: 60_000, runs: 500_000, seed: 1 })
    expect(finding?.problem ?? "nothing found").toContain("the fault behind four conditions")
    expect(Buffer.from(finding?.input ?? []).toString()).toMatch(/^key: drop table/)
  })

  it("finds an input that a parser never comes back from", async () => {
    const { finding } = await fuzz("planted-endless", { millis: 60_000, seed: 1, hangMillis: 1500 })
    expect(finding?.problem).toBe("did not end within 1500 ms of CPU time")
    expect(Buffer.from(finding?.input ?? []).toString()).toContain("[[")
  })

  it("gives a run that other processes keep from the processor the time it needs", async () => {
    const { runs, finding } = await fuzz("planted-starved", { millis: 60_000, runs: 1, seed: 1, hangMillis: 200 })
    expect(finding).toBeUndefined()
    expect(runs).toBe(1)
  })

  it("counts no time between runs for the run before", async () => {
    const { finding } = await fuzz("planted-busy-afterwards", { millis: 60_000, runs: 1, seed: 1, hangMillis: 200 })
    expect(finding).toBeUndefined()
  })

  it("finds an input that takes more time than its length allows", async () => {
    const { finding } = await fuzz("planted-quadratic", { millis: 60_000, seed: 1, hangMillis: 1500 })
    expect(finding?.problem).toMatch(/^took \d+ ms of CPU time for \d+ bytes|^did not end within/)
  })
})

/** Seeds and earlier findings, and mutated inputs up to this number at least. */
const tries = 40

describe("parsers of what outsiders send", () => {
  it.each(targets.map(({ name }) => name))("%s", async (name) => {
    const { runs, finding } = await explore(targetNamed(name), {
      millis: 600_000,
      runs: tries,
      seed: 1,
      onInput: () => {},
      onEnd: () => {}
    })
    expect(finding).toBeUndefined()
    expect(runs).toBeGreaterThanOrEqual(tries)
  })
})
