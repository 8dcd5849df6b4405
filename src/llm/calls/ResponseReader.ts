/**
 * Reads a streamed response: returns each tool call as soon as its input is complete, counts what was received, and bounds it.
 * Providers of chat completions report their calls only at the end of the stream, so a call also counts as complete when the next
 * one begins and its input is a JSON object.
 */
import { ToolChoiceViolationError } from "ai"
import type { streamText, TextStreamPart, ToolSet } from "ai"
import { Deferred, Effect } from "effect"
import type { ToolCall } from "../Gateway.ts"
import { readPartialUsage } from "./PartialUsage.ts"
import type { PartialUsage } from "./PartialUsage.ts"
import { ResponseTooLarge } from "./Silence.ts"
import { resolveToolName } from "../ToolNames.ts"

/** Maximum characters of a response: several times the longest response of any model. */
const maxCharacters = 4_000_000

type Streamed = ReturnType<typeof streamText<ToolSet>>
type Part = TextStreamPart<ToolSet>
type Finish = Extract<Part, { readonly type: "finish-step" }>

/** Reasons of the SDK for a stream that ended without a reason of the provider. */
const early: ReadonlySet<string> = new Set(["other", "interrupted", "error"])

/** The stream ended without the end of the response. */
class EndedEarly extends Error {
  constructor() {
    super("the response ended early")
  }
}

/** Received part of a response, also if it was never completed. */
export class Reception {
  /** Characters of text, reasoning and tool input. */
  characters = 0
  /** Usage at the end of the response. */
  usage: Finish["usage"] | undefined
  /** Usage reported before the end. */
  partialUsage: PartialUsage = {}
  /** Whether the server sent anything, which need not be a piece of the response. */
  hasReceived = false
  readonly #begun = Deferred.makeUnsafe<void>()
  readonly #exhausted = Deferred.makeUnsafe<number>()

  /** Waits for the first piece of the response. */
  get begun(): Effect.Effect<void> {
    return Deferred.await(this.#begun)
  }
  /** Waits for headers that report an exhausted rate limit; returns the milliseconds until its reset. */
  get exhausted(): Effect.Effect<number> {
    return Deferred.await(this.#exhausted)
  }
  noteExhausted(millis: number): void {
    Deferred.doneUnsafe(this.#exhausted, Effect.succeed(millis))
  }
  get hasBegun(): boolean {
    return Deferred.isDoneUnsafe(this.#begun)
  }

  add(length: number): void {
    Deferred.doneUnsafe(this.#begun, Effect.void)
    this.characters += length
    if (this.characters > maxCharacters) throw new ResponseTooLarge(`${maxCharacters / 1_000_000} million characters`)
  }
}

export class ResponseReader {
  readonly #parts: AsyncIterator<Part>
  readonly #offered: ReadonlyArray<string>
  readonly #receipt: Reception
  readonly #onText: (text: string) => void
  readonly #calls = new Map<string, ToolCall>()
  #text: Array<string> = []
  #open: { readonly id: string; readonly name: string; readonly input: Array<string> } | undefined
  #finish: Finish | undefined
  #violation: ToolChoiceViolationError | undefined

  constructor(
    streamed: Streamed,
    offered: ReadonlyArray<string>,
    receipt: Reception,
    onText: (text: string) => void = () => {}
  ) {
    this.#onText = onText
    this.#parts = streamed.stream[Symbol.asyncIterator]()
    this.#offered = offered
    this.#receipt = receipt
  }

  get calls(): ReadonlyArray<ToolCall> {
    return [...this.#calls.values()]
  }
  get text(): string {
    return this.#text.join("")
  }
  /** Defined after the last call. */
  get usage(): Finish["usage"] | undefined {
    return this.#finish?.usage
  }
  /** The response's own reason, also if the model did not obey a forced tool choice. */
  get finishReason(): Finish["finishReason"] | undefined {
    return this.#violation?.finishReason ?? this.#finish?.finishReason
  }

  /** Returns the next complete tool call; undefined at the end of the response. Throws the provider's error. */
  async next(): Promise<ToolCall | undefined> {
    while (true) {
      const { done, value } = await this.#parts.next()
      if (done === true) break
      const call = this.#read(value)
      if (call !== undefined) return call
    }
    const { finishReason, rawFinishReason } = this.#finish ?? {}
    if (finishReason === undefined || (early.has(finishReason) && rawFinishReason === undefined)) throw new EndedEarly()
    return undefined
  }

  #read(part: Part): ToolCall | undefined {
    switch (part.type) {
      case "text-delta":
        this.#receipt.add(part.text.length)
        this.#text.push(part.text)
        this.#onText(part.text)
        return undefined
      case "reasoning-delta":
        this.#receipt.add(part.text.length)
        return undefined
      case "tool-input-start": {
        const complete = this.#complete()
        this.#open = { id: part.id, name: part.toolName, input: [] }
        this.#receipt.add(0)
        return complete
      }
      case "tool-input-delta":
        this.#receipt.add(part.delta.length)
        if (this.#open?.id === part.id) this.#open.input.push(part.delta)
        return undefined
      case "tool-call":
        if (this.#calls.has(part.toolCallId)) return undefined
        if (this.#open?.id === part.toolCallId) this.#open = undefined
        else this.#receipt.add(JSON.stringify(part.input ?? null).length)
        return this.#add({ id: part.toolCallId, name: part.toolName, input: part.input })
      case "raw":
        this.#receipt.hasReceived = true
        this.#receipt.partialUsage = { ...this.#receipt.partialUsage, ...readPartialUsage(part.rawValue) }
        return undefined
      case "finish-step":
        this.#finish = part
        this.#receipt.usage = part.usage
        return undefined
      case "error":
        if (!ToolChoiceViolationError.isInstance(part.error)) throw part.error
        this.#violation = part.error
        return undefined
      default:
        return undefined
    }
  }

  /** Returns the open call if its input is complete. */
  #complete(): ToolCall | undefined {
    if (this.#open === undefined) return undefined
    const { id, input, name } = this.#open
    const parsed = parseObject(input.join(""))
    return parsed === undefined ? undefined : this.#add({ id, name, input: parsed })
  }

  #add(call: ToolCall): ToolCall {
    const named = { ...call, name: resolveToolName(call.name, this.#offered) ?? call.name }
    this.#calls.set(call.id, named)
    return named
  }
}

const parseObject = (text: string): unknown => {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === "object" && value !== null ? value : undefined
  } catch {
    return undefined
  }
}
