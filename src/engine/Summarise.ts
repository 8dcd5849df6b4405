/**
 * Summaries of the hunks that compression cut, by the model of `compression.summarize_model_role`: in a few calls, the riskiest files
 * first. They are a help for the reviewer, so a call that fails costs its summaries and a notice, not the review.
 */
import { randomBytes } from "node:crypto"
import { Effect, Schema } from "effect"
import type { Snapshot, Workspace } from "../config/Snapshot.ts"
import type { Usage } from "../domain/Analysis.ts"
import { Gateway } from "../llm/Gateway.ts"
import type { FileDiff, Hunk } from "../review/FileDiff.ts"
import { linesIn } from "../review/HunkText.ts"
import { renderFile } from "../review/RenderDiff.ts"
import { scrubLines } from "../review/ScrubText.ts"
import type { Steps } from "../review/Steps.ts"
import { Summaries, summariesTool, summarisePrompt, summariseSystem, summaryLines } from "../review/SummarisePrompt.ts"
import { countTokens, estimateTokens } from "../review/Tokens.ts"
import { addUsage, noUsage, usageOf } from "./AnalyseBatches.ts"
import { runInTurns } from "./Turns.ts"

export interface Summarised {
  /** Lines for the prompt. */
  readonly lines: ReadonlyArray<string>
  readonly models: ReadonlyArray<string>
  readonly usage: Usage
  readonly notices: ReadonlyArray<string>
}

export const noSummaries: Summarised = { lines: [], models: [], usage: noUsage, notices: [] }

const maxCalls = 6
const callTokens = 24_000
const callMillis = 180_000

const decode = Schema.decodeUnknownOption(Summaries)

/** At most `room` tokens of summaries. */
export const summarise = Effect.fn("summarise")(function* (
  snapshot: Snapshot,
  workspace: Workspace,
  cut: ReadonlyArray<FileDiff>,
  room: number
): Effect.fn.Return<Summarised, never, Gateway> {
  const group = workspace.modelChain
  if (group === undefined || cut.length === 0) return noSummaries
  const gateway = yield* Gateway
  const calls = yield* runInTurns(portions(cut))
  const results = yield* Effect.forEach(
    calls,
    ({ text }) =>
      Effect.result(
        gateway.call({
          snapshot,
          group,
          role: snapshot.document.compression.summarize_model_role,
          system: summariseSystem,
          messages: [{ role: "user", text: summarisePrompt(text, randomBytes(12).toString("hex")) }],
          tools: [summariesTool],
          deadlineMillis: callMillis
        })
      ),
    { concurrency: 3 }
  )
  const answers = results.flatMap((result) => (result._tag === "Success" ? [result.success] : []))
  const given = results.map((result, index) => {
    if (result._tag === "Failure") return []
    const call = result.success.calls.find(({ name }) => name === summariesTool.name)
    const read = decode(call?.input)
    return read._tag === "None" ? [] : summaryLines(read.value.files, calls[index]?.paths ?? new Set())
  })
  const failed = given.filter((lines) => lines.length === 0).length
  let left = room
  const lines = given.flat().filter((line) => (left -= countTokens(line) + 1) >= 0)
  return {
    lines,
    models: [...new Set(answers.map(({ model }) => model))],
    usage: answers.map(usageOf).reduce(addUsage, noUsage),
    notices: failed === 0 ? [] : [`${failed} of ${calls.length} summaries of what was cut could not be made.`]
  }
})

/** What goes into one call each, without secrets: whole files while they fit, the beginning of one that does not. */
function* portions(cut: ReadonlyArray<FileDiff>) {
  const found: Array<{ text: string; tokens: number; readonly paths: Set<string> }> = []
  for (const file of cut) {
    const text = yield* scrubLines((yield* renderFile(yield* beginning(file))).slice(0, callTokens * 3))
    const tokens = estimateTokens(text)
    const open = found.at(-1)
    if (open !== undefined && open.tokens + tokens <= callTokens) {
      open.text += text
      open.tokens += tokens
      open.paths.add(file.path)
    } else if (found.length < maxCalls) {
      found.push({ text, tokens, paths: new Set([file.path]) })
    } else break
    yield
  }
  return found
}

/** As many hunks as one call can hold, the first one cut where it is too long by itself. */
function* beginning(file: FileDiff): Steps<FileDiff> {
  let characters = 0
  const hunks: Array<Hunk> = []
  for (const hunk of file.hunks) {
    const lines = yield* linesIn(hunk)
    const end = lines.findIndex((line) => (characters += Math.min(line.length, 4000) + 16) > callTokens * 3)
    hunks.push(end < 0 ? hunk : { ...hunk, lines: lines.slice(0, end + 1) })
    if (end >= 0) break
    yield
  }
  return { ...file, hunks }
}
