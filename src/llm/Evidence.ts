/**
 * Stores the requests to models and their responses per run, without secrets of known forms, for replays of a review.
 *
 * ```
 * runs/<run>/calls/<id>.json    one request: model, references to its texts, response or failure, usage
 * runs/<run>/texts/<sha256>     system text, tools and messages, each kept once
 * runs/<run>/fence              the secret of the fences in its prompts (src/engine/plan/Fence.ts)
 * ```
 * A failed write never fails a review and is logged. Bounded per text and per run.
 */
import { createHash } from "node:crypto"
import { Context, Effect, Layer, Option, Schema } from "effect"
import { Reason } from "../domain/Reason.ts"
import { newId } from "../domain/Ids.ts"
import { Objects } from "../store/Objects.ts"
import type { StoreError } from "../database/StoreError.ts"
import { GatewayUsage } from "./Gateway.ts"
import type { GatewayResponse, GatewayRequest, Message } from "./Gateway.ts"
import { keptData, keptText, messageText } from "./evidence/KeptText.ts"
import type { ModelAccount } from "./ModelRun.ts"
import { requestKey } from "./RequestKey.ts"
import { logFailure } from "../observability/LimitedWarnings.ts"

const maxTextBytes = 8_000_000
const maxRunLength = 64_000_000
const maxCallLength = 4_000_000
const maxCalls = 5_000
/** Number of runs whose size is tracked; more do not run at the same time. */
const maxRuns = 1_000

/** `native` is JSON. */
type RecordedResponse = Pick<GatewayResponse, "text" | "calls" | "usage" | "native" | "isCutOff">

export interface RecordedCall {
  readonly run: ModelAccount
  /** `provider/model`. */
  readonly model: string
  /** Milliseconds since the epoch. */
  readonly at: number
  readonly millis: number
  readonly request: Pick<GatewayRequest, "system" | "messages" | "tools" | "group" | "role" | "isOfAgent">
  readonly outcome:
    | { readonly _tag: "Responded"; readonly response: RecordedResponse }
    | {
        readonly _tag: "Failed"
        readonly kind: string
        readonly why: Reason
        /** Usage of the failed call, if a response had begun. */
        readonly usage?: GatewayUsage | undefined
      }
}

/** Stored form; `system`, `tools` and `messages` name texts. */
export const StoredCall = Schema.Struct({
  version: Schema.Literal(1),
  model: Schema.String,
  at: Schema.Number,
  millis: Schema.Number,
  group: Schema.String,
  role: Schema.String,
  system: Schema.String,
  tools: Schema.String,
  messages: Schema.Array(Schema.String),
  /** Key of a request with a response (RequestKey.ts). */
  key: Schema.optional(Schema.String),
  response: Schema.optional(
    Schema.Struct({
      /** True when the stored form is complete, so that a conversation can continue from it. */
      reusable: Schema.optional(Schema.Boolean),
      native: Schema.optional(Schema.Unknown),
      text: Schema.String,
      calls: Schema.Array(Schema.Struct({ id: Schema.String, name: Schema.String, input: Schema.Unknown })),
      isCutOff: Schema.optional(Schema.Boolean),
      usage: GatewayUsage
    })
  ),
  failure: Schema.optional(Schema.Struct({ kind: Schema.String, why: Reason, usage: Schema.optional(GatewayUsage) }))
})
export type StoredCall = typeof StoredCall.Type
const decodeCall = Schema.decodeUnknownOption(Schema.fromJsonString(StoredCall))

export class Evidence extends Context.Service<
  Evidence,
  {
    readonly record: (call: RecordedCall) => Effect.Effect<void>
    /** Returns the ids of the recorded calls of a run in their order. */
    readonly list: (runId: string) => Effect.Effect<ReadonlyArray<string>, StoreError>
    /** Returns one call; undefined if it was removed, or is of another version. */
    readonly call: (runId: string, id: string) => Effect.Effect<StoredCall | undefined, StoreError>
    /** Returns the calls of a run in their order; records of another version are omitted. */
    readonly calls: (runId: string) => Effect.Effect<ReadonlyArray<StoredCall>, StoreError>
    /** Returns a text that a call names: the system text verbatim, tools and messages as JSON. */
    readonly text: (runId: string, name: string) => Effect.Effect<string | undefined, StoreError>
  }
>()("aicr/llm/Evidence") {
  /** Stores nothing; for commands that print their result and exit. */
  static readonly layerNone: Layer.Layer<Evidence> = Layer.succeed(
    Evidence,
    Evidence.of({
      record: () => Effect.void,
      list: () => Effect.succeed([]),
      call: () => Effect.undefined,
      calls: () => Effect.succeed([]),
      text: () => Effect.undefined
    })
  )

  static readonly layer: Layer.Layer<Evidence, never, Objects> = Layer.effect(
    Evidence,
    Effect.suspend(() => make)
  )
}

const callSuffix = /\.json$/

export const evidenceFolder = "runs"
const toFolder = (runId: string): string => `${evidenceFolder}/${runId}`

export const maxFenceBytes = 1_024

/** Returns the name of the object with the secret for the fences of a run. */
export const fenceName = (runId: string): string => `${toFolder(runId)}/fence`

/** Usage of the limits by the evidence of a run. */
interface RunSize {
  length: number
  calls: number
  readonly texts: Set<string>
}

/** Sizes of the most recent runs, and the stored form of each message. */
class EvidenceMemory {
  readonly #sizes = new Map<string, RunSize>()
  /** Messages are repeated with every step of a conversation, so each is redacted and hashed only once. */
  readonly #messages = new WeakMap<Message, NamedText>()

  size(runId: string): RunSize {
    const size = this.#sizes.get(runId) ?? { length: 0, calls: 0, texts: new Set<string>() }
    this.#sizes.delete(runId)
    this.#sizes.set(runId, size)
    for (const oldest of this.#sizes.keys()) {
      if (this.#sizes.size <= maxRuns) break
      this.#sizes.delete(oldest)
    }
    return size
  }

  named(message: Message): NamedText {
    const text = this.#messages.get(message) ?? named(messageText(message))
    this.#messages.set(message, text)
    return text
  }
}

const isFull = (size: RunSize): boolean => size.calls >= maxCalls || size.length >= maxRunLength

const keepCall = Effect.fnUntraced(function* (objects: Objects["Service"], memory: EvidenceMemory, call: RecordedCall) {
  const { run, request, outcome } = call
  const size = memory.size(run.id)
  if (isFull(size)) return
  const system = named(keptText(request.system))
  const tools = named(JSON.stringify(keptData(request.tools)))
  const messages = request.messages.map((message) => memory.named(message))
  const texts = new Map([system, tools, ...messages].map(({ name, text }) => [name, text]))
  const putText = Effect.fnUntraced(function* ([name, text]: readonly [string, string]) {
    if (size.texts.has(name)) return
    yield* objects.put(`${toFolder(run.id)}/texts/${name}`, text)
    size.texts.add(name)
    size.length += text.length
  })
  yield* Effect.forEach(texts, putText, { concurrency: 4, discard: true })
  const stored = JSON.stringify({
    version: 1,
    model: call.model,
    at: call.at,
    millis: call.millis,
    group: request.group,
    role: request.role,
    system: system.name,
    tools: tools.name,
    messages: messages.map(({ name }) => name),
    ...(outcome._tag === "Responded"
      ? { key: requestKey(call.model, request), response: keptResponse(outcome.response) }
      : { failure: { kind: outcome.kind, why: keptData(outcome.why), usage: outcome.usage } })
  })
  if (stored.length > maxCallLength) {
    return yield* Effect.logWarning("model response too long to be recorded", { model: call.model, run_id: run.id })
  }
  yield* objects.put(`${toFolder(run.id)}/calls/${newId()}.json`, stored)
  size.calls++
  size.length += stored.length
  if (isFull(size)) {
    yield* Effect.logWarning("evidence limit of a run reached, later model calls are not recorded", {
      run_id: run.id
    })
  }
})

const make = Effect.gen(function* () {
  const objects = yield* Objects
  const memory = new EvidenceMemory()
  const list = (runId: string) =>
    Effect.map(objects.list(`${toFolder(runId)}/calls`), (names) =>
      names.slice(0, maxCalls).map((name) => name.replace(callSuffix, ""))
    )
  const readCall = (runId: string, id: string) =>
    Effect.map(objects.get(`${toFolder(runId)}/calls/${id}.json`, 4 * maxCallLength), (text) =>
      Option.getOrUndefined(decodeCall(text))
    )
  return Evidence.of({
    record: (call) =>
      Effect.catch(keepCall(objects, memory, call), logFailure("model call not recorded", { run_id: call.run.id })),
    list,
    call: readCall,
    calls: (runId) =>
      Effect.flatMap(list(runId), (ids) =>
        Effect.map(
          Effect.forEach(ids, (id) => readCall(runId, id)),
          (found) => found.filter((one) => one !== undefined)
        )
      ),
    text: (runId, name) => objects.get(`${toFolder(runId)}/texts/${name}`, maxTextBytes)
  })
})

const keptResponse = (response: RecordedResponse) => {
  const data = keptData(response)
  return { ...Object(data), reusable: JSON.stringify(data) === JSON.stringify(response) }
}

interface NamedText {
  readonly name: string
  readonly text: string
}

const named = (text: string): NamedText => ({
  name: createHash("sha256").update(text).digest("hex"),
  text
})
