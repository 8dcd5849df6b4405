/**
 * What was asked of models and what they answered, per run, without secrets of known forms: what a review can be run again from.
 *
 * ```
 * runs/<run>/calls/<id>.json    one request: model, references to its texts, answer or failure, usage
 * runs/<run>/texts/<sha256>     system text, tools and messages, each kept once
 * ```
 * Keeping it never fails a review: what cannot be written is said in the log. Bounded per text and per run.
 */
import { createHash } from "node:crypto"
import { Context, Effect, Layer, Option, Schema } from "effect"
import { newId } from "../domain/Ids.ts"
import { Usd } from "../domain/Money.ts"
import { Objects } from "../store/Objects.ts"
import type { StoreError } from "../database/StoreError.ts"
import type { GatewayAnswer, GatewayRequest, Message } from "./Gateway.ts"
import { keptData, keptText, messageText } from "./KeptText.ts"
import type { ModelAccount } from "./ModelRun.ts"
import { requestKey } from "./RequestKey.ts"

const maxTextBytes = 8_000_000
const maxRunLength = 64_000_000
const maxCallLength = 4_000_000
const maxCalls = 5_000
/** Runs whose size is remembered; more do not run at once. */
const maxRuns = 1_000

/** `native` is JSON. */
type RecordedAnswer = Pick<GatewayAnswer, "text" | "calls" | "usage" | "native">

export interface AskedModel {
  readonly run: ModelAccount
  /** `provider/model`. */
  readonly model: string
  /** Milliseconds since the epoch. */
  readonly at: number
  readonly millis: number
  readonly request: Pick<GatewayRequest, "system" | "messages" | "tools" | "group" | "role">
  readonly outcome:
    | { readonly _tag: "Answered"; readonly answer: RecordedAnswer }
    | { readonly _tag: "Failed"; readonly kind: string; readonly message: string }
}

const Usage = Schema.Struct({
  inputTokens: Schema.Number,
  outputTokens: Schema.Number,
  cachedTokens: Schema.Number,
  cacheWriteTokens: Schema.Number,
  reasoningTokens: Schema.Number,
  costUsd: Schema.optional(Usd)
})

/** As stored; `system`, `tools` and `messages` name texts. */
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
  /** Of requests that were answered (RequestKey.ts). */
  key: Schema.optional(Schema.String),
  answer: Schema.optional(
    Schema.Struct({
      /** It is whole as it is kept, and any conversation can go on from it. */
      reusable: Schema.optional(Schema.Boolean),
      native: Schema.optional(Schema.Unknown),
      text: Schema.String,
      calls: Schema.Array(Schema.Struct({ id: Schema.String, name: Schema.String, input: Schema.Unknown })),
      usage: Usage
    })
  ),
  failure: Schema.optional(Schema.Struct({ kind: Schema.String, message: Schema.String }))
})
export type StoredCall = typeof StoredCall.Type
const decodeCall = Schema.decodeUnknownOption(Schema.fromJsonString(StoredCall))

export class Evidence extends Context.Service<
  Evidence,
  {
    readonly record: (asked: AskedModel) => Effect.Effect<void>
    /** The calls of a run in the order they were made; records of another version are left out. */
    readonly calls: (runId: string) => Effect.Effect<ReadonlyArray<StoredCall>, StoreError>
    /** A text that a call names: the system text as it is, tools and messages as JSON. */
    readonly text: (runId: string, name: string) => Effect.Effect<string | undefined, StoreError>
  }
>()("aicr/llm/Evidence") {
  /** Keeps nothing: for a program that shows its result and ends. */
  static readonly layerNone: Layer.Layer<Evidence> = Layer.succeed(
    Evidence,
    Evidence.of({ record: () => Effect.void, calls: () => Effect.succeed([]), text: () => Effect.undefined })
  )

  static readonly layer: Layer.Layer<Evidence, never, Objects> = Layer.effect(
    Evidence,
    Effect.suspend(() => make)
  )
}

export const evidenceFolder = "runs"
const folderOf = (runId: string): string => `${evidenceFolder}/${runId}`

/** What the evidence of a run has used up of its limits. */
interface RunSize {
  length: number
  calls: number
  readonly texts: Set<string>
}

/** Sizes of the runs that called last, and the named form of each message. */
class EvidenceMemory {
  readonly #sizes = new Map<string, RunSize>()
  /** Messages are repeated with every step of a conversation: each is cleaned and hashed once. */
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

const keepCall = Effect.fnUntraced(function* (objects: Objects["Service"], memory: EvidenceMemory, asked: AskedModel) {
  const { run, request, outcome } = asked
  const size = memory.size(run.id)
  if (isFull(size)) return
  const system = named(keptText(request.system))
  const tools = named(JSON.stringify(keptData(request.tools)))
  const messages = request.messages.map((message) => memory.named(message))
  const texts = new Map([system, tools, ...messages].map(({ name, text }) => [name, text]))
  const putText = Effect.fnUntraced(function* ([name, text]: readonly [string, string]) {
    if (size.texts.has(name)) return
    yield* objects.put(`${folderOf(run.id)}/texts/${name}`, text)
    size.texts.add(name)
    size.length += text.length
  })
  yield* Effect.forEach(texts, putText, { concurrency: 4, discard: true })
  const call = JSON.stringify({
    version: 1,
    model: asked.model,
    at: asked.at,
    millis: asked.millis,
    group: request.group,
    role: request.role,
    system: system.name,
    tools: tools.name,
    messages: messages.map(({ name }) => name),
    ...(outcome._tag === "Answered"
      ? { key: requestKey(asked.model, request), answer: keptAnswer(outcome.answer) }
      : { failure: { kind: outcome.kind, message: keptText(outcome.message) } })
  })
  if (call.length > maxCallLength) {
    return yield* Effect.logWarning("model response too long to be recorded", { model: asked.model, run_id: run.id })
  }
  yield* objects.put(`${folderOf(run.id)}/calls/${newId()}.json`, call)
  size.calls++
  size.length += call.length
  if (isFull(size)) {
    yield* Effect.logWarning("evidence limit of a run reached, later model calls are not recorded", {
      run_id: run.id
    })
  }
})

const make = Effect.gen(function* () {
  const objects = yield* Objects
  const memory = new EvidenceMemory()
  return Evidence.of({
    record: (asked) =>
      Effect.catch(keepCall(objects, memory, asked), ({ message }) =>
        Effect.logWarning("model call not recorded", { run_id: asked.run.id, error: message })
      ),
    calls: Effect.fnUntraced(function* (runId) {
      const names = yield* objects.list(`${folderOf(runId)}/calls`)
      const calls: Array<StoredCall> = []
      for (const name of names.slice(0, maxCalls)) {
        const text = yield* objects.get(`${folderOf(runId)}/calls/${name}`, 4 * maxCallLength)
        const call = Option.getOrUndefined(decodeCall(text))
        if (call !== undefined) calls.push(call)
      }
      return calls
    }),
    text: (runId, name) => objects.get(`${folderOf(runId)}/texts/${name}`, maxTextBytes)
  })
})

const keptAnswer = (answer: RecordedAnswer) => {
  const data = keptData(answer)
  return { ...Object(data), reusable: JSON.stringify(data) === JSON.stringify(answer) }
}

interface NamedText {
  readonly name: string
  readonly text: string
}

const named = (text: string): NamedText => ({
  name: createHash("sha256").update(text).digest("hex"),
  text
})
