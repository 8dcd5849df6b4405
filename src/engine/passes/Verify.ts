/**
 * Verification: the findings of a pass that will be published are shown to a model once more, in one call, with their
 * code, to be refuted. A refuted finding is not published, and its record keeps the reason. Of those that it does not decide about, high and
 * critical ones are kept. A finding whose verification failed is kept.
 */
import { Effect } from "effect"
import { Agent } from "../../agent/Agent.ts"
import type { AgentError, Brief } from "../../agent/Agent.ts"
import type { Workspace } from "../../config/Snapshot.ts"
import { addUsage, noUsage } from "../../domain/Analysis.ts"
import type { RefutedFinding, Usage } from "../../domain/Analysis.ts"
import { isSevere } from "../../domain/Kinds.ts"
import type { Finding } from "../../domain/Problem.ts"
import { showName } from "../../domain/Text.ts"
import { scrubSecrets } from "../../review/Secrets.ts"
import { lowered, readVerdicts, verdictsTool, verifyPrompt } from "../../review/VerifyPrompt.ts"
import type { FindingCode, Verdict } from "../../review/VerifyPrompt.ts"
import type { Checkout } from "../../vcs/Checkout.ts"
import { scrub } from "../read/ScrubbedCheckout.ts"
import { withReferences } from "../references/ShowReferences.ts"
import type { AnalysisError } from "../AnalysisError.ts"
import type { ChangeThread } from "../ChangeThreads.ts"
import type { ModelRun } from "../../llm/ModelRun.ts"

export interface VerifyContext {
  readonly change: ChangeThread
  readonly checkout: Checkout
  readonly fence: string
  /** Whether the code is shown without what it has for readers. Default: false. */
  readonly isBlind?: boolean
}

/** A verdict and the model that gave it, as `provider/model`. */
interface GivenVerdict {
  readonly verdict: Verdict
  readonly model: string
  /** The model had read what the author writes, and another one could not decide without. */
  readonly isExplained?: boolean
}

/** Verdicts on the findings of one pass. */
export interface Verified {
  /** Keyed by fingerprint. */
  readonly verdicts: ReadonlyMap<string, GivenVerdict>
  readonly models: ReadonlyArray<string>
  readonly usage: Usage
  /** Number of findings whose verification failed. */
  readonly failed: number
  /** Failures of calls. */
  readonly errors: ReadonlyArray<AgentError>
}

export const noVerdicts: Verified = { verdicts: new Map(), models: [], usage: noUsage, failed: 0, errors: [] }

/** Findings per call. */
const maxFindings = 20
const maxFileBytes = 4_194_304
/** Characters of the diff around a finding, and of the lines of all files. */
const diffCharacters = 5_000
const fileCharacters = 24_000

/** Returns whether a finding is verified. `doubtful` ones are verified at any severity, unless verification is off. */
export const isVerified =
  ({ review: { verification } }: Workspace, doubtful: (finding: Finding) => boolean) =>
  (finding: Finding): boolean =>
    verification === "always" || (verification === "auto" && (isSevere(finding.problem.severity) || doubtful(finding)))

/** Verifies the findings of a pass, which `brief` shows. */
export const verifyFindings = Effect.fn("verifyFindings")(function* (
  context: VerifyContext,
  brief: Brief,
  findings: ReadonlyArray<Finding>
): Effect.fn.Return<Verified, AnalysisError, Agent | ModelRun> {
  const groups = Array.from({ length: Math.ceil(findings.length / maxFindings) }, (_, at) =>
    findings.slice(at * maxFindings, (at + 1) * maxFindings)
  )
  return joinVerified(yield* Effect.forEach(groups, (group) => verifyGroup(context, brief, group), { concurrency: 2 }))
})

/** Joins verdicts. Of two on a finding, the later one holds. */
export const joinVerified = (all: ReadonlyArray<Verified>): Verified => ({
  verdicts: new Map(all.flatMap(({ verdicts }) => [...verdicts])),
  models: [...new Set(all.flatMap(({ models }) => models))],
  usage: all.map(({ usage }) => usage).reduce(addUsage, noUsage),
  failed: all.reduce((sum, { failed }) => sum + failed, 0),
  errors: all.flatMap(({ errors }) => errors)
})

const verifyGroup = Effect.fnUntraced(function* (
  context: VerifyContext,
  brief: Brief,
  findings: ReadonlyArray<Finding>
): Effect.fn.Return<Verified, AnalysisError, Agent | ModelRun> {
  const { change, fence, isBlind = false } = context
  const { code, showsPrompt } = yield* codeOf(context, brief, findings)
  const prompt = verifyPrompt({ findings, code, fence, isBlind })
  const paths = [...new Set(findings.map(({ anchor, problem }) => anchor?.path ?? problem.file))]
  const text = yield* scrub(change, showsPrompt ? prompt : yield* withReferences(change, fence, paths, isBlind)(prompt))
  const { models, outcome, usage } = yield* (yield* Agent).query(brief, {
    text,
    showsPrompt,
    role: "heavy",
    tool: verdictsTool.name,
    mayRead: true,
    read: readVerdicts
  })
  if (outcome._tag === "Failed") {
    yield* Effect.logWarning("verification of findings failed", {
      findings: findings.length,
      reason: outcome.error.why
    })
    return { verdicts: new Map(), models, usage, failed: findings.length, errors: [outcome.error] }
  }
  const given = findings.map(({ fingerprint }, at) => {
    const verdict = outcome.value.get(at + 1) ?? noVerdict
    return [fingerprint, { verdict, model: outcome.model }] as const
  })
  return { verdicts: new Map(given), models, usage, failed: 0, errors: [] }
})

/** Verdict on a finding that the model omitted, or about which it contradicted itself. */
const noVerdict: Verdict = { verdict: "undecided", reason: "" }

/** Cached input costs at most this share of other input. */
const cachedPrice = 1 / 4

/**
 * Returns the code of the findings. The part of the change that the pass showed is repeated where extracts would cost more: it was
 * just read, so providers take it from their cache.
 */
const codeOf = Effect.fnUntraced(function* (
  { change, checkout, isBlind = false }: VerifyContext,
  brief: Brief,
  findings: ReadonlyArray<Finding>
): Effect.fn.Return<{ readonly code: FindingCode; readonly showsPrompt: boolean }, AnalysisError> {
  const files = yield* linesOf(change, checkout, findings)
  const extracts = new Set<string>()
  for (const { anchor, problem } of findings) {
    extracts.add(yield* change.run("diffAround", anchor?.path ?? problem.file, anchor, diffCharacters, isBlind))
  }
  const diff = [...extracts].join("\n")
  const showsPrompt = brief.prompt !== "" && diff.length > brief.prompt.length * cachedPrice
  return { code: { diff: showsPrompt ? "" : diff, files }, showsPrompt }
})

/** Lines of the files around the findings that the diff does not show. */
const linesOf = Effect.fnUntraced(function* (
  change: ChangeThread,
  checkout: Checkout,
  findings: ReadonlyArray<Finding>
): Effect.fn.Return<string, AnalysisError> {
  const anchors = findings.flatMap(({ anchor }) => (anchor === undefined ? [] : [anchor]))
  const byFile = Map.groupBy(anchors, ({ path, side }) => `${side}:${path}`)
  const parts: Array<string> = []
  let room = fileCharacters
  for (const group of byFile.values()) {
    const [first] = group
    if (first === undefined || room <= 0) continue
    const { oldPath, path, side } = first
    const [name, at] = side === "new" ? ([path, "head"] as const) : ([oldPath ?? path, "from"] as const)
    const read = yield* Effect.result(checkout.file(name, at, maxFileBytes))
    if (read._tag === "Failure" || read.success === undefined) continue
    const places = group.flatMap(({ line, start = line }) => [start, line])
    const lines = yield* change.run("linesAround", { path, side, text: read.success, lines: places }, room)
    if (lines === "") continue
    room -= lines.length
    parts.push(`=== ${showName(name)}, ${side === "new" ? "at the head" : "before the change"}\n${lines}`)
  }
  return parts.join("\n")
})

interface JudgedFindings {
  readonly findings: ReadonlyArray<Finding>
  readonly refuted: ReadonlyArray<RefutedFinding>
  /** Number of findings that are kept although nothing was decided about them. */
  readonly undecided: number
}

/** Applies verdicts to findings, whichever pass reported them. */
export const applyVerdicts = (
  findings: ReadonlyArray<Finding>,
  verdicts: ReadonlyMap<string, GivenVerdict>
): JudgedFindings => {
  const kept: Array<Finding> = []
  const refuted = new Map<string, RefutedFinding>()
  const undecided = new Set<string>()
  for (const finding of findings) {
    const given = verdicts.get(finding.fingerprint)
    const judged = given === undefined ? finding : judge(finding, given)
    if ("finding" in judged) refuted.set(finding.fingerprint, refuted.get(finding.fingerprint) ?? judged)
    else kept.push(judged)
    if (given?.verdict.verdict === "undecided" && !("finding" in judged)) undecided.add(finding.fingerprint)
  }
  return { findings: kept, refuted: [...refuted.values()], undecided: undecided.size }
}

/** Returns the finding, or why it is not published. What the author writes about a finding neither refutes nor lowers it. */
const judge = (finding: Finding, { isExplained = false, model, verdict }: GivenVerdict): Finding | RefutedFinding => {
  const reason = scrubSecrets(verdict.reason)
  switch (verdict.verdict) {
    case "confirm":
      return { ...finding, verified: reason }
    case "downgrade":
      return isExplained ? { ...finding, explained: true } : lowered(finding, verdict.severity)
    case "refute":
      return isExplained ? { ...finding, explained: true } : { finding, reason, model }
    case "undecided":
      return isSevere(finding.problem.severity) ? finding : { finding, reason, model, undecided: true }
  }
}
