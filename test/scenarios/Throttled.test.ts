/** A provider that refuses requests, stalls, or takes one call at a time: no review is lost, and no response is paid for twice. */
import { expect, it } from "vitest"
import { faults, verdictsOn } from "../harness/FakeModel.ts"
import type { Recorded } from "../harness/FakeModel.ts"
import type { Reply } from "../harness/FakeModelReply.ts"
import { honest, Installation, namesIn } from "../harness/Installation.ts"
import { waitUntil } from "../harness/Wait.ts"

it(
  "a review whose provider refuses all requests waits for it, which costs no attempt",
  { timeout: 120_000 },
  async () => {
    await using at = await Installation.make({
      queue: "sqlite",
      attempts: 1,
      modelRetry: { give_up_after_seconds: 1 }
    })
    at.model.script(faults.rateLimited("2"))
    await at.aicr.start()
    const pull = await at.open("refused")
    await at.forge.notify(pull, "opened")
    await waitUntil(() => at.aicr.log.includes("review waits for a server"), { describe: () => at.aicr.log })
    const warnings = at.aicr.log.split("\n").filter((line) => line.includes("requests refused by a provider"))
    expect(warnings.map((line) => JSON.parse(line))).toMatchObject([
      {
        level: "warn",
        model: "fake/fake",
        reason: expect.objectContaining({ _tag: "HttpFailed", status: 429 }),
        suppressed: 0
      }
    ])
    at.model.script(honest)
    await at.reviewed(pull)
    expect(at.posted(pull)).toMatchObject({ reviews: [pull.head], comments: ["src/refused.ts:2"], summaries: 1 })
  }
)

it(
  "a review whose verification is refused waits, and only the verification is repeated",
  { timeout: 120_000 },
  async () => {
    await using at = await Installation.make({
      queue: "sqlite",
      attempts: 1,
      verification: "auto",
      modelRetry: { give_up_after_seconds: 1 }
    })
    let refusals = 0
    let isRefused = true
    const served: Array<"analysis" | "verification"> = []
    at.model.script((request) => {
      const verdicts = verdictsOn(request.text)
      if (verdicts !== undefined && isRefused) {
        refusals++
        return faults.rateLimited("2")
      }
      served.push(verdicts === undefined ? "analysis" : "verification")
      return verdicts ?? honest(request)
    })
    await at.aicr.start()
    const pull = await at.open("doubted")
    await at.forge.notify(pull, "opened")
    await waitUntil(() => at.aicr.log.includes("review waits for a server"), { describe: () => at.aicr.log })
    expect([refusals > 0, at.posted(pull).reviews]).toEqual([true, []])
    isRefused = false
    await at.reviewed(pull)
    expect(served).toEqual(["analysis", "verification"])
    expect(at.posted(pull)).toMatchObject({ reviews: [pull.head], comments: ["src/doubted.ts:2"], summaries: 1 })
  }
)

/** Numbers from 0 to 1 in a fixed order. */
const numbers = (seed: number) => {
  let state = seed
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state / 2 ** 32
  }
}

/** A provider that takes one call at a time and fails at random, and the names of the changes that it was paid for. */
const makeProvider = () => {
  const random = numbers(7)
  const paid: Array<string> = []
  let running = 0
  const script = async (request: Recorded): Promise<Reply> => {
    if (running > 0) return faults.rateLimited("0")
    const chance = random()
    if (chance < 0.15) return faults.rateLimited("0")
    if (chance < 0.3) return { status: 503, headers: { "retry-after": "0" } }
    running++
    const reply = honest(request)
    if (chance < 0.4) {
      running--
      return {
        ...reply,
        pace: (event: number) => (event < 3 ? Promise.resolve() : new Promise<void>(() => {}))
      } as Reply
    }
    await new Promise((resolve) => setTimeout(resolve, 20))
    running--
    paid.push(...namesIn(request))
    return reply
  }
  return { script, paid }
}

it(
  "twenty changes at a provider with one call at a time, faults and stalls, and a kill in between",
  {
    timeout: 240_000
  },
  async () => {
    await using at = await Installation.make({
      queue: "sqlite",
      concurrency: 4,
      perWorkspaceConcurrency: 4,
      provider: { timeout_ms: 500 },
      modelRetry: { max_attempts: undefined, backoff: { kind: "constant", base_ms: 20, max_ms: 20, jitter: false } }
    })
    const { paid, script } = makeProvider()
    at.model.script(script)
    await at.aicr.start()
    const pulls = await Promise.all(Array.from({ length: 20 }, (_, index) => at.open(`change-${index}`)))
    await Promise.all(pulls.map((pull) => at.forge.notify(pull, "opened")))
    await waitUntil(() => paid.length >= 5, { timeout: 60_000, describe: () => at.aicr.log })
    await at.aicr.kill()
    await at.aicr.start()
    await at.reviewed(...pulls)
    await at.settled()
    for (const [index, pull] of pulls.entries()) {
      expect(at.posted(pull)).toEqual({ reviews: [pull.head], comments: [`src/change-${index}.ts:2`], summaries: 1 })
    }
    // At most the calls that were under way when the process was killed are paid for again.
    expect(paid.length).toBeLessThanOrEqual(20 + 4)
  }
)
