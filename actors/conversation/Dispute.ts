/**
 * Decides about an objection to a finding that the model accepted. The model alone changes nothing:
 *
 * | the objection                                                              | the finding                          |
 * |----------------------------------------------------------------------------|--------------------------------------|
 * | is the second one on this head                                             | stays                                |
 * | quotes code that the head does not have                                    | stays                                |
 * | quotes code of the head; the finding is at most medium                     | is withdrawn                         |
 * | the same for a high or critical one, by a person who may dismiss it        | is withdrawn                         |
 * | by another person or a program, and a call without the words of the person confirms it  | is withdrawn                         |
 * | by another person otherwise                                                | stays until people decide            |
 */
import { Effect } from "effect"
import { AgentError } from "../../src/agent/Agent.ts"
import { noUsage } from "../../src/domain/Analysis.ts"
import type { Analysis } from "../../src/domain/Analysis.ts"
import type { Change } from "../../src/domain/Change.ts"
import type { CommentReply, ReplyRuling } from "../../src/domain/CommentReply.ts"
import { severityRank } from "../../src/domain/Kinds.ts"
import type { Finding } from "../../src/domain/Problem.ts"
import { confirmEvidence } from "../../src/engine/ConfirmEvidence.ts"
import { Outputs } from "../../src/outputs/Outputs.ts"
import { findQuotedLine, linesNear } from "../../src/review/ReplyEvidence.ts"
import type { HeadFile } from "../../src/review/ReplyEvidence.ts"
import { Runs } from "../../src/store/Runs.ts"
import type { Run } from "../../src/store/Runs.ts"
import type { ReviewWork } from "../review/ReviewWork.ts"

/** Newest runs of a pull request among which an earlier objection is searched. */
const earlierRuns = 100
const maxCode = 8000

interface Objection {
  readonly finding: Finding
  /** File of the quote at the head; undefined if the head does not have it. */
  readonly file: HeadFile | undefined
  /** File of the finding at the head. */
  readonly own: HeadFile | undefined
  readonly quote: string
  /** Person who objects; undefined for a program, which never counts as a person who may dismiss. */
  readonly person: string | undefined
  /** The pull request, with its author. */
  readonly pull: Change
  readonly group: string
}

interface Ruled {
  readonly outcome: "kept" | "needs_person" | "withdrawn"
  readonly ruling?: ReplyRuling
  readonly evidence?: CommentReply["evidence"]
}

type Spent = Pick<Analysis, "models" | "usage">

const stays = (ruling: ReplyRuling, outcome: Ruled["outcome"] = "kept"): Ruled => ({ outcome, ruling })

/** Returns whether an earlier comment objected to the finding on this head. */
const isRepeated = Effect.fnUntraced(function* ({ change, head, id }: Run, { fingerprint }: Finding) {
  const { repo, target, trigger } = change
  const runs = yield* (yield* Runs).list({ trigger, repo: repo.fullName, number: target.number, limit: earlierRuns })
  return runs.some(({ analysis, change: objected, head: other, id: run }) => {
    const reply = analysis?.reply
    const isObjection = reply?.outcome === "kept" || reply?.outcome === "needs_person" || reply?.outcome === "withdrawn"
    // An objection of a program takes no right from people.
    const counts = change.source !== undefined || objected.source === undefined
    return counts && run !== id && other === head && isObjection && reply.fingerprint === fingerprint
  })
})

/** Returns the decision, and what it used. Fails if the model does. */
export const ruleObjection = Effect.fnUntraced(function* (
  run: Run,
  { workspace }: Pick<ReviewWork, "workspace">,
  { file, finding, group, own, person, pull, quote }: Objection
) {
  const unused: Spent = { models: [], usage: noUsage }
  if (yield* isRepeated(run, finding)) return { ruled: stays("repeated"), spent: unused }
  const line = file && findQuotedLine(file, quote)
  if (file === undefined || line === undefined) return { ruled: stays("unproven"), spent: unused }
  const evidence = { path: file.path, line, quote }
  const withdrawn: Ruled = { outcome: "withdrawn", evidence }
  const isSerious = severityRank(finding.problem.severity) >= severityRank("high")
  if (!isSerious || (person !== undefined && (yield* (yield* Outputs).mayDismiss(workspace, pull, person))))
    return { ruled: withdrawn, spent: unused }
  const code = [
    linesNear(file, line, maxCode),
    ...(own === undefined || own.path === file.path ? [] : [linesNear(own, finding.anchor?.line ?? 1, maxCode)])
  ].join("\n\n")
  const { result, ...spent } = yield* confirmEvidence(workspace, group, finding, code)
  if (result instanceof AgentError) return yield* result
  return { ruled: result ? withdrawn : stays("unconfirmed", "needs_person"), spent }
})
