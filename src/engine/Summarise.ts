/**
 * Summaries of the hunks that compression cut, by the model of `compression.summarize_model_role`: in a few calls, the riskiest files
 * first. They are a help for the reviewer, so a call that fails costs its summaries and a notice, not the review.
 */
import { randomBytes } from "node:crypto"
import { Effect, Schema } from "effect"
import type { Snapshot, Workspace } from "../config/Snapshot.ts"
import { addUsage, noUsage } from "../domain/Analysis.ts"
import type { Usage } from "../domain/Analysis.ts"
import { Gateway, toUsage } from "../llm/Gateway.ts"
import { Summaries, summariesTool, summarisePrompt, summariseSystem, summaryLines } from "../review/SummarisePrompt.ts"
import type { AnalysisError } from "./threads/AnalysisError.ts"
import type { ChangeThread } from "./threads/ChangeThreads.ts"
import type { ModelRun } from "../llm/ModelRun.ts"

export interface Summarised {
  /** Lines for the prompt. */
  readonly lines: ReadonlyArray<string>
  readonly models: ReadonlyArray<string>
  readonly usage: Usage
  readonly notices: ReadonlyArray<string>
}

export const noSummaries: Summarised = { lines: [], models: [], usage: noUsage, notices: [] }

const callMillis = 180_000

const decode = Schema.decodeUnknownOption(Summaries)

/** Summarises the parts of a change that are not shown, within `room` tokens. */
export const summarise = Effect.fn("summarise")(function* (
  change: ChangeThread,
  snapshot: Snapshot,
  workspace: Workspace,
  room: number
): Effect.fn.Return<Summarised, AnalysisError, Gateway | ModelRun> {
  const group = workspace.modelChain
  if (group === undefined) return noSummaries
  const gateway = yield* Gateway
  const calls = yield* change.run("portions")
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
    return read._tag === "None" ? [] : summaryLines(read.value.files, new Set(calls[index]?.paths))
  })
  const failed = given.filter((lines) => lines.length === 0).length
  let left = room
  const summaries = given.flat()
  const tokens = yield* change.run("countTokens", summaries)
  const lines = summaries.filter((_, index) => (left -= (tokens[index] ?? 0) + 1) >= 0)
  return {
    lines,
    models: [...new Set(answers.map(({ model }) => model))],
    usage: answers.map(toUsage).reduce(addUsage, noUsage),
    notices: failed === 0 ? [] : [`${failed} of ${calls.length} summaries of what was cut could not be made.`]
  }
})
