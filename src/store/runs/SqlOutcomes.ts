/** Stores outcomes of findings in the table `finding_outcomes`. */
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import type { Statement } from "effect/sql"
import { isShelf, readShelfName, repositoryKey } from "../../domain/Change.ts"
import { decideOutcomes, OutcomeCounts, OutcomeRecord, settleOutcome } from "../../domain/FindingOutcome.ts"
import { Publication } from "../../domain/Publication.ts"
import * as Field from "../../domain/Field.ts"
import { record } from "../../domain/Record.ts"
import { countOutcome } from "../../domain/RunCounts.ts"
import type { RunCounts } from "../../domain/RunCounts.ts"
import { deleteInSteps } from "../../database/sql/DeleteInSteps.ts"
import { lockNames } from "../../database/RowLocks.ts"
import { selectAs, unavailable } from "../../database/sql/StoreFailure.ts"
import { authors, groups } from "./FindingGroups.ts"
import { forgetJudged, judged, judgedEverywhere } from "./SqlJudged.ts"
import { DatedOutcome, ListedOutcome, Outcomes, RuledOutcome } from "../Outcomes.ts"
import type { Run, SettledBy } from "../Runs.ts"
import type { ClaimedEnd } from "../Settlements.ts"

/** The outcome before a review, with what the statistics counted it for. */
const KnownOutcome = record({
  ...OutcomeRecord.fields,
  model: Field.text,
  foundAt: Field.time,
  project: Field.text,
  team: Field.optional(Field.text)
})
const WithReactions = record({ reactions: Publication.fields.reactions })

/** Reads the reactions that the newest row of the run read; undefined if none read them. */
const reactionsOf = Effect.fnUntraced(function* (sql: SqlClient.SqlClient, runId: string) {
  const [row] = yield* selectAs(
    WithReactions,
    "outcomes.reactions",
    sql`
      SELECT reactions FROM publications WHERE run_id = ${runId} AND reactions IS NOT NULL
      ORDER BY updated_at DESC, seq DESC LIMIT 1`
  )
  return row?.reactions
})

const unknownModel = "unknown"
const modelOf = ({ analysis }: Run): string => analysis?.models[0] ?? unknownModel

/** Counts that the outcome of a finding adds, at the time, project and model of its discovery. */
export interface OutcomeCounted {
  readonly foundAt: number
  readonly project: string
  /** Undefined if it has none. */
  readonly team: string | undefined
  /** Undefined if it is unknown. */
  readonly model: string | undefined
  readonly counts: RunCounts
}

/** Project, team, model and time that a finding counts for. */
type CountedSubject = Omit<OutcomeCounted, "counts" | "model"> & { readonly model: string }

const countedFor = ({ foundAt, model, project, team }: CountedSubject, counts: RunCounts): OutcomeCounted => ({
  foundAt,
  project,
  team,
  model: model === unknownModel ? undefined : model,
  counts
})

const rowOf = (outcome: OutcomeRecord, run: Run, by: SettledBy | undefined, project: string, now: number) => ({
  target_key: run.targetKey,
  ...OutcomeRecord.toRow(outcome),
  repository: repositoryKey(run.change),
  shelf: (isShelf(run.change) ? readShelfName(run.change.target.branch ?? "") : undefined)?.number ?? null,
  agent: by?.agent ?? "unknown",
  model: modelOf(run),
  restricted: run.analysis?.restricted === true ? 1 : 0,
  project,
  team: run.team ?? null,
  found_in: run.id,
  found_at: now,
  decided_in: run.id,
  decided_at: now
})

/** Returns whether the change was submitted to a server before its review, so that its end is known. */
const isSubmitted = ({ provider, target }: Run["change"]): boolean =>
  target.kind === "push" && (provider === "perforce" || provider === "subversion")

/** Records the findings of a submitted change, each once: they are in what was submitted. Returns what the statistics gain. */
const recordSubmitted = Effect.fnUntraced(function* (
  sql: SqlClient.SqlClient,
  run: Run,
  by: SettledBy | undefined,
  project: string,
  now: number
) {
  const counted: Array<OutcomeCounted> = []
  const { analysis, change, head } = run
  if (analysis === undefined) return counted
  const end = { end: "merged", head, baseRef: change.headRef ?? "", mergedBy: "author" } as const
  const review = { head, analysis, maxProblems: undefined, reactions: undefined }
  for (const found of decideOutcomes([], review)) {
    const next = settleOutcome(found, found.outcome, end, now)
    const added = yield* sql`
      INSERT INTO finding_outcomes ${sql.insert(rowOf(next, run, by, project, now))}
      ON CONFLICT (target_key, fingerprint) DO NOTHING RETURNING fingerprint`
    const subject = { project, team: run.team, model: modelOf(run), foundAt: now }
    if (added.length > 0) counted.push(countedFor(subject, countOutcome(undefined, next)))
  }
  return counted
})

/**
 * Updates the outcomes of a pull request, a shelf, or a submitted change with a published run, and returns what the statistics gain. Called in the
 * transaction that settles the run, which happens once. A run of another kind of target compares nothing with an earlier one and has no
 * outcomes.
 */
export const recordOutcomes = Effect.fnUntraced(function* (
  sql: SqlClient.SqlClient,
  run: Run,
  by: SettledBy | undefined,
  project: string,
  now: number
) {
  const counted: Array<OutcomeCounted> = []
  const { analysis, targetKey, change, head, id } = run
  if (isSubmitted(change)) return yield* recordSubmitted(sql, run, by, project, now)
  if (analysis === undefined || (change.target.kind !== "pull_request" && !isShelf(change))) return counted
  yield* lockNames(sql, [`outcomes:${targetKey}`])
  const before = yield* selectAs(
    KnownOutcome,
    "outcomes.read",
    sql`SELECT * FROM finding_outcomes WHERE target_key = ${targetKey}`
  )
  const reactions = yield* reactionsOf(sql, id)
  const known = new Map(before.map((one) => [one.fingerprint, one]))
  for (const next of decideOutcomes(before, { head, analysis, maxProblems: by?.maxProblems, reactions })) {
    yield* sql`
      INSERT INTO finding_outcomes ${sql.insert(rowOf(next, run, by, project, now))}
      ON CONFLICT (target_key, fingerprint) DO UPDATE SET
        head = excluded.head, outcome = excluded.outcome, replied = excluded.replied, path = excluded.path,
        category = excluded.category, title = excluded.title, rule = excluded.rule, private = excluded.private,
        anchor = excluded.anchor, code = excluded.code, evidence = excluded.evidence, dismissed_by = excluded.dismissed_by, settled = NULL, settled_at = NULL,
        merged_by = NULL, settled_head = NULL, base_ref = NULL, later = NULL, decided_in = excluded.decided_in, decided_at = excluded.decided_at`
    const earlier = known.get(next.fingerprint)
    const subject = earlier ?? { project, team: run.team, model: modelOf(run), foundAt: now }
    counted.push(countedFor({ ...subject, team: subject.team }, countOutcome(earlier, next)))
  }
  return counted
})

/** Changes the outcome of a finding that is on record, and returns what the statistics gain. */
export const changeOutcome = Effect.fnUntraced(function* (
  sql: SqlClient.SqlClient,
  { id, targetKey }: Run,
  { dismissedBy, fingerprint, outcome }: Pick<OutcomeRecord, "dismissedBy" | "fingerprint" | "outcome">,
  now: number
) {
  yield* lockNames(sql, [`outcomes:${targetKey}`])
  const before = yield* selectAs(
    KnownOutcome,
    "outcomes.read",
    sql`
      SELECT * FROM finding_outcomes
      WHERE target_key = ${targetKey} AND fingerprint = ${fingerprint} AND outcome <> ${outcome}`
  )
  yield* sql`
    UPDATE finding_outcomes SET outcome = ${outcome}, dismissed_by = ${dismissedBy ?? null}, decided_in = ${id}, decided_at = ${now}
    WHERE target_key = ${targetKey} AND fingerprint = ${fingerprint} AND outcome <> ${outcome}`
  return before.map((earlier) =>
    countedFor({ ...earlier, team: earlier.team }, countOutcome(earlier, { ...earlier, outcome }))
  )
})

/** Outcomes that no end has decided, and those of an end without a merge that was before this one. */
export const isUndecided = (sql: SqlClient.SqlClient, receivedAt: Statement.Fragment) =>
  sql`(settled IS NULL OR (settled = 'closed' AND settled_at < ${receivedAt}))`

/** Stores outcomes at the end of a change, of findings that have none yet, and returns what the statistics gain. */
export const storeSettled = Effect.fnUntraced(function* (
  sql: SqlClient.SqlClient,
  { receivedAt, targetKey }: Pick<ClaimedEnd, "receivedAt" | "targetKey">,
  records: ReadonlyArray<OutcomeRecord>
) {
  const canStore = isUndecided(sql, sql`${receivedAt}`)
  yield* lockNames(sql, [`outcomes:${targetKey}`])
  const before = yield* selectAs(
    KnownOutcome,
    "outcomes.read",
    sql`SELECT * FROM finding_outcomes WHERE target_key = ${targetKey} AND ${canStore}`
  )
  const known = new Map(before.map((one) => [one.fingerprint, one]))
  const counted: Array<OutcomeCounted> = []
  for (const next of records) {
    const earlier = known.get(next.fingerprint)
    if (earlier === undefined) continue
    const { base_ref, dismissed_by, merged_by, outcome, replied, settled, settled_at, settled_head } =
      OutcomeRecord.toRow(next)
    yield* sql`
      UPDATE finding_outcomes SET ${sql.update({ base_ref, dismissed_by, merged_by, outcome, replied, settled, settled_at, settled_head, decided_at: settled_at })}
      WHERE target_key = ${targetKey} AND fingerprint = ${next.fingerprint} AND ${canStore}`
    counted.push(countedFor({ ...earlier, team: earlier.team }, countOutcome(earlier, next)))
  }
  return counted
})

/** Removes outcomes that no review has changed since then. */
export const pruneOutcomes = (sql: SqlClient.SqlClient, before: number) =>
  deleteInSteps(
    (step) => sql`
      DELETE FROM finding_outcomes WHERE (target_key, fingerprint) IN (
        SELECT target_key, fingerprint FROM finding_outcomes WHERE decided_at < ${before} LIMIT ${step})
      RETURNING fingerprint`
  )

/** Columns of an outcome for people: of a finding that only maintainers get, its digest and no path. */
const shownId = "COALESCE(private, fingerprint)"
const shownPlace = `${shownId} AS fingerprint, CASE WHEN private IS NULL THEN path ELSE '' END AS path`

/** Lists outcomes by change and the id that people see. */
const list =
  (sql: SqlClient.SqlClient): Outcomes["Service"]["list"] =>
  ({ after, limit, since }) =>
    selectAs(
      ListedOutcome,
      "outcomes.list",
      sql`
        SELECT ${sql.literal(shownPlace)}, private, target_key, category, severity, title, rule, head, outcome, replied, dismissed_by, settled, settled_at,
          merged_by, settled_head, base_ref, later, repository, agent, model, found_in, found_at, decided_at
        FROM finding_outcomes
        WHERE found_at >= ${since}
          ${after === undefined ? sql.literal("") : sql`AND target_key >= ${after.targetKey} AND (target_key > ${after.targetKey} OR ${sql.literal(shownId)} > ${after.fingerprint})`}
        ORDER BY target_key, ${sql.literal(shownId)} LIMIT ${limit}`
    ).pipe(unavailable("outcomes.list"))

const ofTarget =
  (sql: SqlClient.SqlClient): Outcomes["Service"]["ofTarget"] =>
  (targetKey, fingerprints) =>
    selectAs(
      DatedOutcome,
      "outcomes.ofTarget",
      sql`
        SELECT ${sql.literal(shownPlace)}, private, category, severity, title, head, outcome, replied, dismissed_by, settled, settled_at, merged_by, found_in, found_at, decided_in,
          decided_at
        FROM finding_outcomes
        WHERE target_key = ${targetKey}
          AND ${fingerprints === undefined ? sql`1 = 1` : sql`(private IS NOT NULL OR ${sql.in("fingerprint", fingerprints)})`}`
    ).pipe(unavailable("outcomes.ofTarget"))

const rulings =
  (sql: SqlClient.SqlClient): Outcomes["Service"]["rulings"] =>
  (targetKey) =>
    selectAs(
      RuledOutcome,
      "outcomes.rulings",
      sql`SELECT fingerprint, outcome, private FROM finding_outcomes WHERE target_key = ${targetKey}`
    ).pipe(unavailable("outcomes.rulings"))

const counts =
  (sql: SqlClient.SqlClient): Outcomes["Service"]["counts"] =>
  (since) =>
    selectAs(
      OutcomeCounts,
      "outcomes.counts",
      sql`
      SELECT repository, agent, model, COUNT(*) AS findings,
        SUM(CASE WHEN outcome = 'fixed' THEN 1 ELSE 0 END) AS fixed,
        SUM(CASE WHEN outcome = 'dismissed' THEN 1 ELSE 0 END) AS dismissed,
        SUM(CASE WHEN outcome = 'partly' THEN 1 ELSE 0 END) AS partly,
        SUM(CASE WHEN outcome = 'withdrawn' THEN 1 ELSE 0 END) AS withdrawn,
        SUM(CASE WHEN outcome = 'moved_away' THEN 1 ELSE 0 END) AS moved_away,
        SUM(CASE WHEN outcome = 'open_at_merge' THEN 1 ELSE 0 END) AS open_at_merge,
        SUM(CASE WHEN outcome = 'open' THEN 1 ELSE 0 END) AS open,
        SUM(replied) AS replied,
        SUM(CASE WHEN later = 'changed' THEN 1 ELSE 0 END) AS changed_later
      FROM finding_outcomes WHERE found_at >= ${since}
      GROUP BY repository, agent, model ORDER BY repository, agent, model`
    ).pipe(unavailable("outcomes.counts"))

export const layer: Layer.Layer<Outcomes, never, SqlClient.SqlClient> = Layer.effect(
  Outcomes,
  Effect.map(SqlClient.SqlClient, (sql) =>
    Outcomes.of({
      ofTarget: ofTarget(sql),
      rulings: rulings(sql),
      counts: counts(sql),
      list: list(sql),
      groups: groups(sql),
      authors: authors(sql),
      judged: judged(sql),
      judgedEverywhere: judgedEverywhere(sql),
      forgetJudged: forgetJudged(sql)
    })
  )
)
