/** Builds the statement of a verdict from the record of its review: equal records give equal statements, byte by byte. Pure. */
import { createHash } from "node:crypto"
import { openFindings, openPrivate } from "./Analysis.ts"
import type { Analysis, CarriedReview } from "./Analysis.ts"
import { hostTrigger } from "./Change.ts"
import type { Change } from "./Change.ts"
import type { Coverage } from "./Coverage.ts"
import { privateDigest, toDigests } from "./PrivateDigest.ts"
import type { Finding } from "./Problem.ts"
import { isMergeable } from "./Kinds.ts"
import { decideVerdict } from "./Verdict.ts"
import { predicateType, statementType } from "./VerdictStatement.ts"
import type { StatedFinding, StatedReader, VerdictStatement } from "./VerdictStatement.ts"

/** The review that a statement is about. */
interface StatedReview {
  readonly runId: string
  readonly change: Change
  readonly head: string
  readonly base: string | undefined
  readonly configHash: string
  readonly analysis: Analysis
  /** True if the review is not published. */
  readonly shadow?: boolean
  /** Settings of its verdict. */
  readonly review: Parameters<typeof decideVerdict>[1]
}

const sha256 = (value: unknown) => ({ sha256: createHash("sha256").update(JSON.stringify(value)).digest("hex") })

const stateFinding = ({ anchor, fingerprint, problem }: Finding): StatedFinding => ({
  id: fingerprint,
  severity: problem.severity,
  category: problem.category,
  file: anchor?.path ?? problem.file,
  ...(anchor === undefined ? {} : { line: anchor.line }),
  ...(anchor?.start === undefined ? {} : { start: anchor.start }),
  ...(anchor === undefined ? {} : { side: anchor.side })
})

const withTitle = (finding: Finding): StatedFinding => {
  const { title } = finding.problem
  return title === undefined ? stateFinding(finding) : { ...stateFinding(finding), title }
}

const stateCoverage = ({ blind, changed, framed, lines, reviewed, skipped, unnamed, unusable }: Coverage) => ({
  lines,
  changed: changed ?? lines,
  reviewed,
  skipped,
  ...(blind === undefined ? {} : { blind }),
  ...(framed === undefined ? {} : { notBlind: framed }),
  ...(unusable === undefined ? {} : { unusable }),
  ...(unnamed === undefined
    ? {}
    : {
        unnamed: {
          reviewed: unnamed.reviewed,
          skipped: Object.values(unnamed.skipped).reduce((sum, count) => sum + count, 0),
          unread: unnamed.unread
        }
      })
})

const stateModels = (names: ReadonlyArray<string>) => ({ ...sha256(names), names })

const stateReader = ({ configuration, files, head, models, run, statement }: CarriedReview): StatedReader => ({
  run,
  head,
  configuration: { sha256: configuration },
  models: stateModels(models),
  ...(statement === undefined ? {} : { statement: { sha256: statement } }),
  files
})

const commit = /^[0-9a-f]{40}(?:[0-9a-f]{24})?$/

/** Returns the statement as JSON. Undefined for a run that is not a review, such as a reply. `time` is in ISO 8601. */
export const buildStatement = (stated: StatedReview, time: string): string | undefined => {
  const { analysis, base, change, configHash, head, review, runId, shadow } = stated
  const { carried, findings, inputs, members, models } = analysis
  const { folded = [], private: delivered = [], privateRefuted, refuted = [] } = analysis
  if (inputs === undefined || analysis.reply !== undefined || analysis.triage !== undefined) return undefined
  const { baseRef, target } = change
  const { branch, kind, number } = target
  const open = openFindings(analysis)
  const counted = openPrivate(analysis)
  const withdrawn = delivered.filter((one) => !counted.includes(one))
  const statement: VerdictStatement = {
    _type: statementType,
    subject: [{ name: change.repo.fullName, digest: { [commit.test(head) ? "gitCommit" : "revision"]: head } }],
    predicateType,
    predicate: {
      time,
      run: runId,
      workspace: change.workspace,
      trigger: hostTrigger(change),
      repository: change.repo.fullName,
      target: { kind, ...(number === undefined ? {} : { number }), ...(branch === undefined ? {} : { branch }) },
      head,
      ...(base === undefined ? {} : { base }),
      ...(baseRef === undefined || !isMergeable(kind) ? {} : { baseRef }),
      mergeBase: inputs.mergeBase,
      outcome: decideVerdict(analysis, review),
      ...(shadow === true ? { shadow } : {}),
      inputs: {
        configuration: { sha256: configHash },
        prompts: { sha256: inputs.prompts },
        models: stateModels(models.toSorted()),
        rules: { ...sha256(inputs.rules), files: inputs.rules }
      },
      ...(carried === undefined ? {} : { carried: carried.map(stateReader) }),
      ...(members === undefined
        ? {}
        : { members: members.map(({ state, ...member }) => ({ ...member, outcome: state ?? "unreviewed" })) }),
      coverage: stateCoverage(analysis.coverage),
      findings: open.map(withTitle),
      ...(folded.length === 0 ? {} : { folded: folded.map(({ finding }) => stateFinding(finding)) }),
      ...(counted.length === 0 ? {} : { private: toDigests(counted.map(privateDigest)) }),
      ...(withdrawn.length === 0 ? {} : { privateWithdrawn: toDigests(withdrawn.map(privateDigest)) }),
      ...(privateRefuted === undefined ? {} : { privateRefuted }),
      refuted: refuted.map(({ finding }) => stateFinding(finding)),
      withdrawn: findings.filter((finding) => !open.includes(finding)).map(stateFinding)
    }
  }
  return JSON.stringify(statement)
}
