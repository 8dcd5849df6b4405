/**
 * Applies a decision about a finding immediately: a person dismissed or reopened it, or an objection withdrew it. The newest review of the
 * change gets the decision, and its verdict, its summary and the end of a request for changes are published again. The next review reads the
 * decision from the records, and from the comment of the finding at the host.
 *
 * Records and publications are stored in one transaction, so that a repetition after a crash changes nothing. A review of another head is
 * changed without being published: the review of the newest head has the decision. So is one after which others of its branch were reviewed, where
 * each push has a review with findings of its own.
 */
import { Clock, Effect } from "effect"
import { withRouteAnalysis } from "../../src/admission/RouteAnalysis.ts"
import { ConfigStore } from "../../src/config/ConfigStore.ts"
import type { ReviewConfig } from "../../src/config/schema/Review.ts"
import { allFindings, withDismissed } from "../../src/domain/Analysis.ts"
import type { Analysis } from "../../src/domain/Analysis.ts"
import { repositoryKey } from "../../src/domain/Change.ts"
import { relationToChange } from "../../src/domain/DecidedBy.ts"
import type { TargetKey } from "../../src/domain/Keys.ts"
import { privateDigest } from "../../src/domain/PrivateDigest.ts"
import type { Finding } from "../../src/domain/Problem.ts"
import type { Publication } from "../../src/domain/Publication.ts"
import { runUrl } from "../../src/domain/RunLink.ts"
import { Outputs } from "../../src/outputs/Outputs.ts"
import { planVerdict } from "../../src/outputs/PlannedVerdict.ts"
import { statementRows } from "../../src/outputs/StatementRow.ts"
import { hasStatus } from "../../src/outputs/StatusEnd.ts"
import { withSettings } from "../../src/domain/RepositorySettings.ts"
import { lessonBounds, reflectionMode } from "../../src/review/Reflection.ts"
import { Lessons } from "../../src/store/Lessons.ts"
import { summaryLink } from "../../src/outputs/ReviewLinks.ts"
import { Outbox } from "../../src/store/Outbox.ts"
import { Runs } from "../../src/store/Runs.ts"
import type { Run } from "../../src/store/Runs.ts"
import { toLesson } from "../review/Reflect.ts"
import type { TargetHold } from "./TargetHold.ts"

interface FindingRuling {
  readonly fp: string
  /** Whether the finding counts from now on. */
  readonly counts: boolean
  /** Account at the host of the person who dismisses it, if it has one; absent for an objection. */
  readonly person?: { readonly username: string | undefined }
  /** Newest head of the change; undefined if it was not read. */
  readonly head: string | undefined
  /** Id of the review that has the finding; without it the newest one of the target has it, or none. */
  readonly run?: string | undefined
  /** Id of the command or publication that decides, part of the ids of what is published again. */
  readonly cause: string
}

/** Positions after those of the review itself, whose rows are sent first. */
const firstPosition = 10_000

const withRuling = (analysis: Analysis, { counts, fp }: FindingRuling): Analysis | undefined => {
  const { dismissed = [] } = analysis
  if (dismissed.includes(fp) !== counts) return undefined
  return withDismissed(analysis, counts ? dismissed.filter((one) => one !== fp) : [...dismissed, fp])
}

const findRuled = (run: Run | undefined, { fp }: FindingRuling): Finding | undefined =>
  run?.analysis && allFindings(run.analysis).find(({ fingerprint }) => fingerprint === fp)

const findPrivate = ({ private: delivered = [] }: Analysis, { fp }: FindingRuling) =>
  delivered.find(({ finding }) => finding.fingerprint === fp)

/** Seconds from the start of a review to its analysis, which its summary names: the status that it began with has an earlier row. */
const readSeconds = Effect.fnUntraced(function* ({ createdAt, id, startedAt }: Run) {
  const first = (yield* (yield* Outbox).history(id)).find(({ operation }) => operation._tag === "Summary")
  return first === undefined ? undefined : Math.max(0, Math.round((first.createdAt - (startedAt ?? createdAt)) / 1000))
})

/** Plans what people read about the review after the decision. */
const planAgain = Effect.fnUntraced(function* (run: Run, analysis: Analysis, ruling: string) {
  const snapshot = yield* (yield* ConfigStore).pinned(run.configHash)
  const configured = snapshot.workspaces.get(run.workspace)
  if (configured === undefined) return undefined
  const { change, head, id: runId, targetKey } = run
  const workspace = withSettings(withRouteAnalysis(configured, change), analysis.settings)
  const seconds = yield* readSeconds(run)
  const outputs = yield* Outputs
  const input = {
    runId,
    targetKey,
    change,
    head,
    workspace,
    ruling,
    seconds,
    runUrl: runUrl(snapshot.document.server, runId),
    sharedUrl: summaryLink(snapshot, runId, yield* Clock.currentTimeMillis)
  }
  const plan = outputs.plan({ ...input, analysis })
  const verdict = planVerdict(workspace, change, analysis, plan)
  const rows: ReadonlyArray<Publication> = [
    ...plan.filter(({ operation }) => operation._tag === "Summary" || operation._tag === "Verdict"),
    ...statementRows({ ...input, analysis }, run, 0, yield* Clock.currentTimeMillis),
    ...outputs.status(input, verdict.state, verdict.description, { analysis, plan })
  ]
  const placed = rows.map((row, index) => ({ ...row, position: firstPosition + index }))
  return { verdict, rows: placed, review: workspace.review }
})

/** Makes a withdrawn finding a lesson, also if no later review of the change reads its comment. The decision holds without it. */
const learnWithdrawn = Effect.fnUntraced(
  function* ({ change }: Run, finding: Finding, reflection: ReviewConfig["reflection"]) {
    if (reflectionMode(reflection) === "off") return
    const now = yield* Clock.currentTimeMillis
    const lessons = [toLesson(finding, "dismissed")]
    yield* (yield* Lessons).learn(repositoryKey(change), lessons, lessonBounds(reflection), now)
  },
  (effect) =>
    Effect.catch(effect, ({ message }) =>
      Effect.logWarning("withdrawn finding not remembered for later reviews", { error: message })
    )
)

/**
 * `published`: the newest review was changed and is published again. `known`: it had the decision before. `unknown`: it does not have the
 * finding. `lost`: another node publishes to the target.
 */
type Ruled = "known" | "lost" | "published" | "unknown"

export const ruleFinding = Effect.fnUntraced(function* (hold: TargetHold, targetKey: TargetKey, ruling: FindingRuling) {
  const runs = yield* Runs
  const newest = yield* runs.latestAnalysis(targetKey)
  const run = findRuled(newest, ruling) === undefined && ruling.run !== undefined ? yield* runs.get(ruling.run) : newest
  if (run?.analysis === undefined || (run.status !== "publishing" && run.status !== "succeeded"))
    return "unknown" satisfies Ruled
  const found = findRuled(run, ruling)
  const analysis = withRuling(run.analysis, ruling)
  if (analysis === undefined) return (found === undefined ? "unknown" : "known") satisfies Ruled
  const again = yield* planAgain(run, analysis, ruling.cause)
  const isNewest = run.id === newest?.id && (ruling.head === undefined || ruling.head === run.head)
  const { person } = ruling
  const delivered = findPrivate(analysis, ruling)
  const outcome = ruling.counts ? "open" : person === undefined ? "withdrawn" : "dismissed"
  const by =
    ruling.counts || again === undefined || person === undefined
      ? undefined
      : relationToChange(
          delivered === undefined ? again.review.dismissal : "maintainers",
          run.change.author,
          person.username
        )
  const change = {
    analysis,
    verdict: hasStatus(run.change) && run.verdict !== undefined ? again?.verdict : undefined,
    fingerprint: ruling.fp,
    outcome,
    dismissedBy: by,
    publications: isNewest ? (again?.rows ?? []) : []
  } as const
  const now = yield* Clock.currentTimeMillis
  if (!(yield* hold.withToken((token) => runs.rule(run.id, token, change, now)))) return "lost" satisfies Ruled
  if (outcome === "withdrawn" && found !== undefined && again !== undefined)
    yield* learnWithdrawn(run, found, again.review.reflection)
  yield* Effect.logInfo("decision about a finding recorded", {
    run_id: run.id,
    // The log names a finding that only maintainers get as its statement does.
    fingerprint: delivered === undefined ? ruling.fp : privateDigest(delivered),
    outcome
  })
  return "published" satisfies Ruled
})
