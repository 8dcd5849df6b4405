/**
 * A gateway that replays the evidence of a run: each recorded response is used once, at no cost. A request with the same texts and
 * definitions of tools as a recorded one gets its response; a changed request gets the response of the recorded request in its
 * position, and is listed among the differences.
 */
import { Effect } from "effect"
import type { StoreError } from "../database/StoreError.ts"
import { Evidence } from "./Evidence.ts"
import { keptData, keptText, messageText } from "./evidence/KeptText.ts"
import type { StoredCall } from "./Evidence.ts"
import { GatewayError } from "./Gateway.ts"
import type { Gateway, GatewayRequest } from "./Gateway.ts"

/** Difference of a request from the recorded one: the first line that differs. */
interface ChangedQuestion {
  readonly part: "system prompt" | "tools" | "prompt" | "conversation"
  readonly before: string
  readonly after: string
}

export interface RecordedResponses {
  readonly gateway: Gateway["Service"]
  /** Number of recorded responses. */
  readonly recorded: number
  /** Compares the requests so far with the recorded ones. */
  readonly compareRequests: () => {
    readonly same: number
    readonly changed: ReadonlyArray<ChangedQuestion>
    /** Number of requests without a remaining response. */
    readonly unanswered: number
  }
}

interface Entry {
  readonly response: NonNullable<StoredCall["response"]>
  readonly model: string
  readonly system: string
  readonly messages: ReadonlyArray<string>
  /** Definitions of the tools, as JSON. */
  readonly tools: string
  /** Kind of a request, by the names of its tools. */
  readonly kind: string
  used: boolean
}

/** Fence words are new for every review. */
const comparable = (text: string): string => text.replace(/\b[0-9a-f]{24}\b/g, "fence")
const shown = 300

/** Opens the evidence of a run. `recorded` is 0 if there is none. */
export const recordedResponses = Effect.fn("recordedResponses")(function* (
  runId: string
): Effect.fn.Return<RecordedResponses, StoreError, Evidence> {
  const evidence = yield* Evidence
  const texts = new Map<string, string>()
  const toText = Effect.fnUntraced(function* (name: string) {
    const known = texts.get(name)
    if (known !== undefined) return known
    const text = comparable((yield* evidence.text(runId, name)) ?? "")
    texts.set(name, text)
    return text
  })
  const entries: Array<Entry> = []
  for (const { response, model, system, messages, tools } of yield* evidence.calls(runId)) {
    if (response === undefined) continue
    const definitions = yield* toText(tools)
    entries.push({
      response,
      model,
      system: yield* toText(system),
      messages: yield* Effect.forEach(messages, toText),
      tools: definitions,
      kind: toolNames(definitions),
      used: false
    })
  }
  let same = 0
  let unanswered = 0
  const changed: Array<ChangedQuestion> = []

  const call = (request: GatewayRequest) =>
    Effect.suspend(() => {
      const system = comparable(keptText(request.system))
      const messages = request.messages.map((message) => comparable(messageText(message)))
      const tools = comparable(JSON.stringify(keptData(request.tools)))
      const kind = request.tools.map(({ name }) => name).join(" ")
      const open = entries.filter((entry) => !entry.used && entry.kind === kind)
      const exact = open.find(
        (entry) => entry.system === system && entry.tools === tools && equal(entry.messages, messages)
      )
      const found = exact ?? nearest(open, messages)
      if (found === undefined) {
        unanswered++
        return new GatewayError({
          reason: "invalid",
          why: { _tag: "NoRecordedResponse" }
        })
      }
      found.used = true
      if (exact === undefined) changed.push(findDifference(found, { system, tools, messages }))
      else same++
      const { text, calls, usage, isCutOff } = found.response
      return Effect.succeed({
        model: found.model,
        text,
        calls,
        usage: { ...usage, costUsd: usage.costUsd },
        isCutOff,
        native: undefined,
        fallbacks: []
      })
    })
  return { gateway: { call }, recorded: entries.length, compareRequests: () => ({ same, changed, unanswered }) }
})

const toolNames = (tools: string): string => {
  const list: unknown = JSON.parse(tools === "" ? "[]" : tools)
  return Array.isArray(list) ? list.map((tool: unknown) => (isNamed(tool) ? tool.name : "")).join(" ") : ""
}
const isNamed = (value: unknown): value is { readonly name: string } =>
  typeof value === "object" && value !== null && "name" in value && typeof value.name === "string"

const equal = (a: ReadonlyArray<string>, b: ReadonlyArray<string>): boolean =>
  a.length === b.length && a.every((text, index) => text === b[index])

/** Returns the entry at the same step whose conversation shares the longest suffix of messages; the earliest of equals. */
const nearest = (entries: ReadonlyArray<Entry>, messages: ReadonlyArray<string>): Entry | undefined => {
  let best: { readonly entry: Entry; readonly common: number } | undefined
  for (const entry of entries) {
    if (entry.messages.length !== messages.length) continue
    const common = entry.messages.filter((text, index) => text === messages[index]).length
    if (best === undefined || common > best.common) best = { entry, common }
  }
  return best?.entry
}

const findDifference = (
  entry: Entry,
  { messages, system, tools }: Pick<Entry, "messages" | "system" | "tools">
): ChangedQuestion => {
  if (entry.system !== system) return { part: "system prompt", ...firstDifference(entry.system, system) }
  if (entry.tools !== tools) return { part: "tools", ...firstDifference(indented(entry.tools), indented(tools)) }
  const at = messages.findIndex((text, index) => text !== entry.messages[index])
  const before = (entry.messages[at] ?? "").replaceAll("\\n", "\n")
  const after = (messages[at] ?? "").replaceAll("\\n", "\n")
  return { part: at === 0 ? "prompt" : "conversation", ...firstDifference(before, after) }
}

/** One line per field, so that the difference is short. */
const indented = (json: string): string => JSON.stringify(JSON.parse(json === "" ? "[]" : json), undefined, 1)

const firstDifference = (before: string, after: string): { readonly before: string; readonly after: string } => {
  const old = before.split("\n")
  const now = after.split("\n")
  const at = old.findIndex((line, index) => line !== now[index])
  const index = at < 0 ? old.length : at
  return { before: (old[index] ?? "").slice(0, shown), after: (now[index] ?? "").slice(0, shown) }
}
