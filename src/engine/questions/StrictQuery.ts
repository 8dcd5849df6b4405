/**
 * A model call with one valid form of response: exactly one call of one tool, with input that decodes. The same model
 * may repair an invalid response once; then the next model of the chain starts over. Prose is never parsed. Before its response a model may
 * read, where the caller permits it.
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

/** Tools with which a model may read before it responds. */
interface Reading {
  readonly tools: ReadonlyArray<ToolSpec>
  /** Responses that read, of all models together. A further one is not valid. */
  readonly maxReads: number
  readonly isReading: (response: GatewayResponse) => boolean
  /** Returns the messages with which the conversation continues. */
  readonly read: (messages: ReadonlyArray<Message>, response: GatewayResponse) => Effect.Effect<ReadonlyArray<Message>>
}

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
  readonly reading?: Reading | undefined
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
  const { reading, tool } = question
  const responses: Array<GatewayResponse> = []
  const wrong = new Map<string, string>()
  let reads = 0
  const end = (outcome: StrictResult<A>["outcome"]): StrictResult<A> => ({
    outcome,
    models: [...new Set(responses.map(({ model }) => model))],
    usage: responses.map(toUsage).reduce(addUsage, noUsage)
  })
  const { snapshot, group, role, system, deadlineMillis, maxThrottledMillis } = question
  const call = (messages: ReadonlyArray<Message>, prefer: string | undefined) =>
    gateway.call({
      snapshot,
      group,
      role,
      system,
      messages,
      tools: [...(reading?.tools ?? []), tool],
      ...(reading === undefined ? {} : { continues: reads < reading.maxReads }),
      deadlineMillis,
      maxThrottledMillis,
      prefer,
      avoid: [...wrong.keys()]
    })
  while (true) {
    let messages: ReadonlyArray<Message> = [{ role: "user", text: question.prompt }]
    let holder: string | undefined
    let mayRepair = true
    while (true) {
      const called = yield* Effect.result(call(messages, holder))
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
      if (reading !== undefined && reads < reading.maxReads && reading.isReading(response)) {
        reads++
        messages = yield* reading.read(messages, response)
        continue
      }
      const read = readResponse(question, response)
      if (read.ok) return end({ _tag: "Returned", value: read.value, model: response.model })
      if (!mayRepair) {
        wrong.set(response.model, read.error)
        break
      }
      mayRepair = false
      messages = [...messages, ...refusedResponse(response, tool.name, read.error)]
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
