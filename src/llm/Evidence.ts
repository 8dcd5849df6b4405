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
import { Objects } from "../store/Objects.ts"
import type { StoreError } from "../store/StoreError.ts"
import type { GatewayAnswer, GatewayRequest, Message } from "./Gateway.ts"
import { withoutKnownSecrets } from "./KnownSecrets.ts"
import type { ModelRun } from "./ModelRun.ts"

const maxTextLength = 2_000_000
const maxRunLength = 64_000_000
const maxCallLength = 4_000_000
const maxCalls = 5_000
/** Runs whose size is remembered; more do not run at once. */
const maxRuns = 1_000

export interface AskedModel {
  readonly run: ModelRun
  /** `provider/model`. */
  readonly model: string
  /** Milliseconds since the epoch. */
  readonly at: number
  readonly millis: number
  readonly request: Pick<GatewayRequest, "system" | "messages" | "tools" | "group" | "role">
  readonly outcome:
    | { readonly _tag: "Answered"; readonly answer: Pick<GatewayAnswer, "text" | "calls" | "usage"> }
    | { readonly _tag: "Failed"; readonly kind: string; readonly message: string }
}

const Usage = Schema.Struct({
  inputTokens: Schema.Number,
  outputTokens: Schema.Number,
  cachedTokens: Schema.Number,
  cacheWriteTokens: Schema.Number,
  reasoningTokens: Schema.Number,
  costUsd: Schema.optional(Schema.Number)
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
  answer: Schema.optional(
    Schema.Struct({
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

const make = Effect.gen(function* () {
  const objects = yield* Objects
  const sizes = new Map<string, { length: number; calls: number; readonly texts: Set<string> }>()
  /** Messages are repeated with every step of a conversation: each is cleaned and hashed once. */
  const known = new WeakMap<Message, { readonly name: string; readonly text: string }>()

  const sizeOf = (runId: string) => {
    const held = sizes.get(runId) ?? { length: 0, calls: 0, texts: new Set<string>() }
    sizes.delete(runId)
    sizes.set(runId, held)
    for (const oldest of sizes.keys()) {
      if (sizes.size <= maxRuns) break
      sizes.delete(oldest)
    }
    return held
  }
  const namedMessage = (message: Message) => {
    const held = known.get(message)
    if (held !== undefined) return held
    const made = named(messageText(message))
    known.set(message, made)
    return made
  }

  const keep = Effect.fnUntraced(function* (asked: AskedModel) {
    const { run, request, outcome } = asked
    const size = sizeOf(run.id)
    if (size.calls >= maxCalls || size.length >= maxRunLength) return
    const system = named(keptText(request.system))
    const tools = named(JSON.stringify(kept(request.tools)))
    const messages = request.messages.map(namedMessage)
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
        ? { answer: kept(outcome.answer) }
        : { failure: { kind: outcome.kind, message: keptText(outcome.message) } })
    })
    if (call.length > maxCallLength) {
      return yield* Effect.logWarning(`An answer of ${asked.model} is too long to be kept as evidence of run ${run.id}`)
    }
    yield* objects.put(`${folderOf(run.id)}/calls/${newId()}.json`, call)
    size.calls++
    size.length += call.length
    if (size.calls >= maxCalls || size.length >= maxRunLength) {
      yield* Effect.logWarning(`The evidence of run ${run.id} has reached its limit; further model calls are not kept`)
    }
  })

  return Evidence.of({
    record: (asked) =>
      Effect.catch(keep(asked), ({ message }) =>
        Effect.logWarning(`A model call of run ${asked.run.id} could not be kept: ${message}`)
      ),
    calls: Effect.fnUntraced(function* (runId) {
      const names = yield* objects.list(`${folderOf(runId)}/calls`)
      const found: Array<StoredCall> = []
      for (const name of names.slice(0, maxCalls)) {
        const text = yield* objects.get(`${folderOf(runId)}/calls/${name}`, 4 * maxCallLength)
        const call = Option.getOrUndefined(decodeCall(text))
        if (call !== undefined) found.push(call)
      }
      return found
    }),
    text: (runId, name) => objects.get(`${folderOf(runId)}/texts/${name}`, 4 * maxTextLength)
  })
})

/** A message as it is kept. */
export const messageText = (message: Message): string => {
  const { native: _, ...plain } = message.role === "assistant" ? message : { ...message, native: undefined }
  return JSON.stringify(kept(plain))
}

/** A text without secrets and of bounded length. */
export const keptText = (text: string): string => {
  const clean = withoutKnownSecrets(text)
  return clean.length <= maxTextLength ? clean : `${clean.slice(0, maxTextLength)}\n(cut)`
}

/** JSON data with every text in it kept so; what is nested deeper than any answer means is left out. */
const kept = (value: unknown, depth = 0): unknown => {
  if (typeof value === "string") return keptText(value)
  if (typeof value !== "object" || value === null) return value
  if (depth > 40) return "(cut)"
  if (Array.isArray(value)) return value.map((item) => kept(item, depth + 1))
  return Object.fromEntries(Object.entries(value).map(([key, held]) => [key, kept(held, depth + 1)]))
}

const named = (text: string): { readonly name: string; readonly text: string } => ({
  name: createHash("sha256").update(text).digest("hex"),
  text
})
