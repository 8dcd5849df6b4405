/**
 * A verdict of success is earned: whatever a model sends, it ended its review with a summary, and each of its reports is among the
 * problems.
 */
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import { Effect, Layer, Logger } from "effect"
import { verbatimReason } from "../../../src/domain/Reason.ts"
import { analyseNatively, passLimits } from "../../../src/agent/native/NativeLlm.ts"
import { Gateway, GatewayError } from "../../../src/llm/Gateway.ts"
import type { GatewayRequest, GatewayResponse } from "../../../src/llm/Gateway.ts"
import { cleanTurns, modelTurns, toCall } from "../../harness/ModelSteps.ts"
import { expectEarned, makeChange, reviewBy } from "../../harness/EarnedVerdict.ts"
import type { Sent } from "../../harness/EarnedVerdict.ts"
import type { Turn } from "../../harness/ModelSteps.ts"
import { testOwners } from "../../harness/Owners.ts"
import { calling } from "../Fixture.ts"

const numRuns = Number(process.env["AICR_TEST_RESPONSES"] ?? 16)

const change = makeChange()

let ids = 0
const respond = (turn: Turn): Effect.Effect<GatewayResponse, GatewayError> => {
  if (turn.kind === "filtered")
    return Effect.fail(
      new GatewayError({ reason: "refused", why: verbatimReason("p/m: the model refused the request") })
    )
  if (turn.kind === "error")
    return Effect.fail(new GatewayError({ reason: "unavailable", why: verbatimReason("p/m: HTTP 500") }))
  const response = { ...calling("", {}), model: "p/m", calls: [] }
  if (!("steps" in turn))
    return Effect.succeed({ ...response, text: turn.kind === "prose" ? "Line 2 has a fault." : "" })
  const calls = turn.steps.map((step) => ({ id: `call-${++ids}`, ...toCall(step) }))
  return Effect.succeed({ ...response, calls, ...(turn.kind === "cut" ? { isCutOff: true } : {}) })
}

/** A gateway whose conversation gets these turns. */
const scripted = (turns: ReadonlyArray<Turn>, sent: Sent) => {
  let next = 0
  return Layer.succeed(
    Gateway,
    Gateway.of({
      call: Effect.fnUntraced(function* (request: GatewayRequest) {
        const turn = turns[Math.min(next++, turns.length - 1)]
        if (turn === undefined) return yield* Effect.die("no turn")
        // A model that is called no more is none that the verdict depends on.
        if (request.avoid !== undefined && request.avoid.length > 0)
          return yield* Effect.fail(
            new GatewayError({ reason: "invalid", why: verbatimReason("every model was tried") })
          )
        if ("steps" in turn) sent.steps.push(...turn.steps)
        const response = yield* respond(turn)
        for (const call of response.calls) if (request.onToolCall !== undefined) yield* request.onToolCall(call)
        return response
      })
    })
  )
}

const quiet = Logger.layer([])

const limits = { ...passLimits, steps: 8 }

describe("a verdict of success", () => {
  it("of native-llm is earned by what the model sent", async () => {
    let successes = 0
    await fc.assert(
      fc.asyncProperty(modelTurns, async (turns) => {
        const sent: Sent = { steps: [] }
        const gateway = scripted(turns, sent)
        successes += expectEarned(
          await reviewBy(change, (brief) =>
            Effect.provide(analyseNatively(limits)(brief), [gateway, testOwners, quiet])
          ),
          [sent]
        )
      }),
      { numRuns, examples: [[cleanTurns]] }
    )
    expect(successes).toBeGreaterThan(0)
  }, 120_000)
})
