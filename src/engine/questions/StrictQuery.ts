/**
 * A model call with one valid form of response: exactly one call of one tool, with input that decodes. The same model
 * may repair an invalid response once; then the next model of the chain starts over. Prose is never parsed.
 */
import { Effect } from "effect"
import type { Reason } from "../../domain/Reason.ts"
import { verbatimReason } from "../../domain/Reason.ts"
import type { Snapshot } from "../../config/Snapshot.ts"
import { addUsage, noUsage } from "../../domain/Analysis.ts"
import type { Usage } from "../../domain/Analysis.ts"
import { afterFailures, Gateway, toUsage } from "../../llm/Gateway.ts"
import type { GatewayResponse, GatewayFailure, GatewayRequest, Message, ToolSpec } from "../../llm/Gateway.ts"
import type { ModelRun } from "../../llm/ModelRun.ts"
import { refusedResponse } from "../../agent/RefusedResponse.ts"

export interface Question<A> {
  readonly snapshot: Snapshot
  /** Name of a group in llm.model_chain. */
  readonly group: string
  readonly role: GatewayRequest["role"]
  readonly system: string
  readonly prompt: string
  readonly tool: ToolSpec
  /** Decodes the input of the tool. The error is a message to the model. */
  readonly read: (
    input: unknown
  ) => { readonly ok: true; readonly value: A } | { readonly ok: false; readonly error: string }
  /** Limit for each call with its fallbacks. Waiting for permits does not count. */
  readonly deadlineMillis: number
  /** See GatewayRequest. */
  readonly maxThrottledMillis?: number | undefined
}

interface StrictResult<A> {
  readonly outcome:
    | { readonly _tag: "Returned"; readonly value: A; readonly model: string }
    | { readonly _tag: "Failed"; readonly error: GatewayFailure }
  /** All models that were called, whatever the outcome. */
  readonly models: ReadonlyArray<string>
  readonly usage: Usage
}

export const queryStrictly = Effect.fn("queryStrictly")(function* <A>(
  question: Question<A>
): Effect.fn.Return<StrictResult<A>, never, Gateway | ModelRun> {
  const gateway = yield* Gateway
  const { snapshot, group, role, system, tool, deadlineMillis, maxThrottledMillis } = question
  const responses: Array<GatewayResponse> = []
  const wrong = new Map<string, string>()
  const end = (outcome: StrictResult<A>["outcome"]): StrictResult<A> => ({
    outcome,
    models: [...new Set(responses.map(({ model }) => model))],
    usage: responses.map(toUsage).reduce(addUsage, noUsage)
  })
  while (true) {
    const messages: Array<Message> = [{ role: "user", text: question.prompt }]
    let holder: string | undefined
    for (const mayRepair of [true, false]) {
      const called = yield* Effect.result(
        gateway.call({
          snapshot,
          group,
          role,
          system,
          messages,
          tools: [tool],
          deadlineMillis,
          maxThrottledMillis,
          prefer: holder,
          avoid: [...wrong.keys()]
        })
      )
      if (called._tag === "Failure") {
        const before = [...wrong].map(([model, error]): Reason => ({
          _tag: "ModelFailed",
          model,
          reason: verbatimReason(error)
        }))
        return end({ _tag: "Failed", error: afterFailures(before, called.failure) })
      }
      const response = called.success
      responses.push(response)
      holder = response.model
      const read = readResponse(question, response)
      if (read.ok) return end({ _tag: "Returned", value: read.value, model: response.model })
      if (mayRepair) messages.push(...refusedResponse(response, tool.name, read.error))
      else wrong.set(response.model, read.error)
    }
  }
})

const readResponse = <A>({ tool, read }: Question<A>, { calls }: GatewayResponse) => {
  const [call] = calls
  if (call === undefined) return { ok: false, error: `the response is prose; call ${tool.name} exactly once` } as const
  if (calls.length > 1)
    return { ok: false, error: `it made ${calls.length} calls; call ${tool.name} exactly once` } as const
  if (call.name !== tool.name) return { ok: false, error: `unknown tool; call ${tool.name}` } as const
  return read(plain(call.input))
}

/** Drops fields that are null, which some models send for absent values, and parses input that was sent as JSON text. */
const plain = (input: unknown): unknown => {
  const value = typeof input === "string" ? parsed(input) : input
  return typeof value === "object" && value !== null && !Array.isArray(value)
    ? Object.fromEntries(Object.entries(value).filter(([, field]) => field !== null))
    : value
}

const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    // Not JSON: decoding the text produces an error that names the expected shape.
    return text
  }
}
