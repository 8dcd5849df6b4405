/** Implements `aicr replay`: repeats a stored review from its evidence, and compares its findings with the earlier ones. */
import { Console, Effect, Option } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import { formatUsd } from "../domain/Money.ts"
import type { Finding } from "../domain/Problem.ts"
import type { Replay } from "../engine/ReplayRun.ts"
import type { RecordedResponses } from "../llm/RecordedGateway.ts"
import type { Run } from "../store/Runs.ts"
import type { ExitWith } from "./Exit.ts"
import { formatLocation, formatTitle } from "./local/Report.ts"
import { configFlagAbout, fileOnlyFlag } from "./ConfigFlag.ts"
import { jsonFlag } from "./JsonFlag.ts"
import type { StoredRevisions } from "./ReadSnapshot.ts"
import { count } from "./Wording.ts"

export interface ReplayOptions {
  readonly run: string
  readonly config: string
  /** Model as `provider/model` to call instead of using the recorded responses. */
  readonly model: string | undefined
  /** Applies the configuration of today in place of that of the run. */
  readonly current: boolean
  /** Ignores the database of the configuration. */
  readonly fileOnly: boolean
}

export interface ReplayReport {
  readonly run: Run
  readonly replay: Replay
  /** Undefined if a model was called. */
  readonly responses: (ReturnType<RecordedResponses["compareRequests"]> & { readonly recorded: number }) | undefined
  /** True if the configuration of the replay is not that of the run. */
  readonly otherConfiguration: boolean
}

/** Builds the command. `recent` returns the newest runs of the service. */
export const replayCommand = (
  runs: Effect.Effect<{
    readonly replay: (options: ReplayOptions) => Effect.Effect<ReplayReport, ExitWith, StoredRevisions>
    readonly recent: (config: string) => Effect.Effect<ReadonlyArray<Run>, ExitWith>
  }>
) =>
  Command.make(
    "replay",
    {
      run: Argument.String("RUN").pipe(
        Argument.withDescription("Id of the run; without it the newest runs are listed"),
        Argument.optional
      ),
      config: configFlagAbout(" of the service that made the run"),
      fileOnly: fileOnlyFlag,
      current: Flag.Boolean("current").pipe(
        Flag.withDefault(false),
        Flag.withDescription("Apply the configuration of today. Default: that of the run")
      ),
      model: Flag.String("model").pipe(
        Flag.withMetavar("PROVIDER/MODEL"),
        Flag.withDescription("Call this model, at its price, instead of using the recorded responses"),
        Flag.optional
      ),
      json: jsonFlag
    },
    Effect.fnUntraced(function* ({ run, config, current, fileOnly, model, json }) {
      const { recent, replay } = yield* runs
      if (Option.isNone(run)) return yield* list(yield* recent(config), json)
      const report = yield* replay({ run: run.value, config, current, fileOnly, model: Option.getOrUndefined(model) })
      yield* Console.log(json ? JSON.stringify(asJson(report), undefined, 2) : linesOf(report).join("\n"))
    })
  ).pipe(
    Command.withDescription(
      "Repeat a review with its configuration and its recorded model responses, without host or model, and show how its findings and its statement differ"
    ),
    Command.withExamples([
      { command: "aicr replay", description: "List the newest runs" },
      {
        command: "aicr replay 0199b2c4-7c1e-7a51-8f60-2f1d3c5b7a90",
        description: "Whether the run gives the same findings and the same statement again"
      },
      {
        command: "aicr replay 0199b2c4-7c1e-7a51-8f60-2f1d3c5b7a90 --current",
        description: "Apply the configuration of today to the recorded responses"
      },
      {
        command: "aicr replay 0199b2c4-7c1e-7a51-8f60-2f1d3c5b7a90 --model local/qwen3 --json",
        description: "Compare with another model of llm.providers"
      }
    ])
  )

const list = Effect.fnUntraced(function* (runs: ReadonlyArray<Run>, json: boolean) {
  if (json) {
    const shown = runs.map(({ id, status, workspace, targetKey, head, createdAt, analysis }) => ({
      run: id,
      status,
      workspace,
      target: targetKey,
      head,
      created_at: new Date(createdAt).toISOString(),
      findings: analysis?.findings.length
    }))
    return yield* Console.log(JSON.stringify(shown, undefined, 2))
  }
  for (const { id, status, workspace, targetKey, head, analysis } of runs) {
    const found = analysis === undefined ? "" : `  ${count(analysis.findings.length, "finding")}`
    yield* Console.log(`${id}  ${status.padEnd(10)} ${workspace}  ${targetKey} at ${head.slice(0, 12)}${found}`)
  }
  if (runs.length === 0) yield* Console.log("There are no runs yet.")
})

const findingLine = (mark: string, finding: Finding): string =>
  `${mark} ${finding.problem.severity.padEnd(8)} ${formatLocation(finding)}  ${formatTitle(finding)}`

const linesOf = ({ run, replay, responses, otherConfiguration }: ReplayReport): ReadonlyArray<string> => {
  const { difference, analysis, missing, cut } = replay
  const { same, changed, gone, added } = difference
  const lines = [`Run ${run.id}: ${run.workspace}, ${run.targetKey} at ${run.head.slice(0, 12)}`]
  if (otherConfiguration) lines.push("The configuration is not the one that the run was made with.")
  if (responses === undefined) {
    const { requests, costUsd } = analysis.usage
    const cost = costUsd === undefined ? "unknown cost" : `$${formatUsd(costUsd, 4)}`
    lines.push(`${analysis.models.join(", ") || "no model"}: ${count(requests, "request")}, ${cost}`)
  } else {
    lines.push(
      `${responses.recorded} recorded responses: ${responses.same} to the same requests, ${responses.changed.length} to changed ones; ${responses.unanswered} requests had none`
    )
    for (const { part, before, after } of responses.changed.slice(0, 5)) {
      lines.push(`  the ${part} differs:`, `    - ${before}`, `    + ${after}`)
    }
  }
  if (cut) lines.push("The record is cut: the review read more than is kept, so differences may come from that.")
  if (missing.length > 0) lines.push(`Not in the record, so not readable now: ${missing.slice(0, 10).join(", ")}`)
  if (replay.statement !== undefined) lines.push(statementLine(replay.statement))
  lines.push(
    changed.length + gone.length + added.length === 0
      ? `No difference: ${count(same.length, "finding")}, as then.`
      : `${same.length} findings as then, ${changed.length} changed, ${gone.length} gone, ${added.length} new:`,
    ...gone.map((finding) => findingLine("-", finding)),
    ...added.map((finding) => findingLine("+", finding)),
    ...changed.flatMap(({ before, after, what }) => [
      findingLine("~", after),
      ...what.map((part) =>
        part === "severity"
          ? `    severity: ${before.problem.severity} -> ${after.problem.severity}`
          : part === "place"
            ? `    place: ${formatLocation(before)} -> ${formatLocation(after)}`
            : `    another ${part}`
      )
    ])
  )
  return lines
}

const statementLine = ({ differences, isSigned }: NonNullable<Replay["statement"]>): string => {
  const recorded = isSigned ? "signed statement" : "statement of its record"
  return differences.length === 0
    ? `The statement is the ${recorded}, byte by byte.`
    : `The statement is not the ${recorded}: ${differences.slice(0, 10).join(", ")} differ.`
}

const jsonOf = (finding: Finding) => ({
  fingerprint: finding.fingerprint,
  place: formatLocation(finding),
  ...finding.problem
})

const asJson = ({ run, replay, responses, otherConfiguration }: ReplayReport) => ({
  run: run.id,
  workspace: run.workspace,
  target: run.targetKey,
  head: run.head,
  configuration: otherConfiguration ? "changed" : "same",
  answers: responses === undefined ? { models: replay.analysis.models, usage: replay.analysis.usage } : responses,
  missing: replay.missing,
  cut: replay.cut,
  statement: replay.statement && {
    same: replay.statement.differences.length === 0,
    signed: replay.statement.isSigned,
    differences: replay.statement.differences,
    text: replay.statement.text
  },
  findings: {
    same: replay.difference.same.map(jsonOf),
    changed: replay.difference.changed.map(({ before, after, what }) => ({
      what,
      before: jsonOf(before),
      after: jsonOf(after)
    })),
    gone: replay.difference.gone.map(jsonOf),
    added: replay.difference.added.map(jsonOf)
  }
})
