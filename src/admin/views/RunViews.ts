/** Builds the JSON of runs for the administration. */
import { countedSeverities, listFacts, usageJson } from "../../domain/Analysis.ts"
import type { Analysis, Usage } from "../../domain/Analysis.ts"
import type { Coverage } from "../../domain/Coverage.ts"
import { privateDigest } from "../../domain/PrivateDigest.ts"
import type { Finding } from "../../domain/Problem.ts"
import type { DatedPublication, Publication } from "../../domain/Publication.ts"
import type { RepositorySettings } from "../../domain/RepositorySettings.ts"
import type { RunSpan } from "../../domain/RunSpan.ts"
import type { DatedOutcome } from "../../store/Outcomes.ts"
import type { StoredEvent } from "../../store/Receipts.ts"
import type { Run } from "../../store/Runs.ts"
import {
  anchor,
  appliedRule,
  changeFindingView,
  coverage,
  findingRound,
  outcome,
  problem,
  publication,
  refuted,
  skippedFile,
  storedRun
} from "../api/RunRecords.ts"
import type { ChangeFinding, ExchangeRecord } from "../api/RunRecords.ts"
import { changeView, toTime } from "./Views.ts"
import { withheldView } from "./WithheldTexts.ts"
import { withoutUndefined } from "./WithoutUndefined.ts"

const durationOf = ({ finishedAt, startedAt }: Run): number | undefined =>
  startedAt === undefined || finishedAt === undefined ? undefined : finishedAt - startedAt

/** A run with the ids of its deliveries. */
export type RunWithEvents = Run & { readonly eventIds: ReadonlyArray<string> }

export const runView = (run: Run) => ({
  ...storedRun.view(run),
  ...changeView(run.change),
  head: run.head,
  ...withoutUndefined({
    duration_ms: durationOf(run),
    findings: run.analysis === undefined ? undefined : countedSeverities(run.analysis).length,
    round: run.analysis?.round?.number,
    late: run.analysis?.round === undefined ? undefined : (run.analysis.late?.length ?? 0),
    credentials: (run.analysis && listFacts(run.analysis).length) || undefined,
    folded: run.analysis?.folded?.length,
    private: run.analysis?.private?.length
  }),
  cost_usd: run.analysis?.usage.costUsd ?? null
})

export const listedRunView = (run: RunWithEvents) => ({ ...runView(run), event_ids: run.eventIds })

/** A change with its newest run. */
export const reviewedChangeView = (run: RunWithEvents) => ({
  target_key: run.targetKey,
  workspace: run.workspace,
  ...changeView(run.change),
  head: run.head,
  run: listedRunView(run)
})

export const publicationView = (row: DatedPublication) => ({
  ...publication.view(row),
  operation: row.operation._tag,
  ...(row.posted === undefined ? {} : { comments: row.posted.length })
})

/** Collected over all rows of the run, because each row reads the host separately. */
const ignoredDismissals = (publications: ReadonlyArray<Publication>) => {
  const all = publications.flatMap((row) => row.ignoredDismissals ?? [])
  return [...new Map(all.map((one) => [`${one.fp} ${one.file}`, one])).values()].map(({ fp, file, by }) => ({
    fingerprint: fp,
    file,
    by
  }))
}

export const findingView = ({ anchor: at, fact, fingerprint, probe, problem: reported, round }: Finding) =>
  withoutUndefined({
    fingerprint,
    ...problem.view(reported),
    round: round && findingRound.view(round),
    probe,
    fact,
    anchor: at === undefined ? null : anchor.view(at)
  })

const coverageView = (found: Coverage) => ({
  ...coverage.view(found),
  skipped: found.skipped.map(skippedFile.view)
})

const settingsView = ({ applied, found, notAllowed }: RepositorySettings) => ({
  found,
  applied,
  not_allowed: notAllowed
})

const outcomeView = (found: DatedOutcome) => ({ status: found.outcome, ...outcome.view(found) })

/** Returns the numbers and addresses of findings in the newest of these rows that lists them. */
const listedFindings = (rows: ReadonlyArray<Publication>) => {
  const listed = rows.findLast((row) => row.listed !== undefined)?.listed ?? []
  return new Map(listed.map(({ fp, number, url }) => [fp, withoutUndefined({ number, url })]))
}

/** The findings of a change over all of its reviews, as `publications` of the newest one list them, the newest first. */
export const changeFindings = (
  outcomes: ReadonlyArray<DatedOutcome>,
  publications: ReadonlyArray<Publication>
): ReadonlyArray<typeof ChangeFinding.Type> => {
  const places = listedFindings(publications)
  return outcomes
    .toSorted((one, other) => other.foundAt - one.foundAt)
    .map((one) => ({ ...changeFindingView(one), ...places.get(one.fingerprint) }))
}

/** Returns the conversation about each finding, oldest first. Replies come with the newest first. */
const exchangesByFinding = (replies: ReadonlyArray<Run>) => {
  const found = new Map<string, ReadonlyArray<ExchangeRecord>>()
  for (const { analysis, change, createdAt, id } of replies) {
    const { reply } = analysis ?? {}
    if (reply?.fingerprint === undefined) continue
    const { evidence, fingerprint, outcome: status, question, text } = reply
    const exchange = withoutUndefined({
      run_id: id,
      at: toTime(createdAt),
      author: change.requestedBy ?? change.author?.username,
      question,
      outcome: status,
      reply: text,
      evidence
    })
    found.set(fingerprint, [exchange, ...(found.get(fingerprint) ?? [])])
  }
  return found
}

/** Findings with what became of them; those of a review that was not published have no outcome. */
const followedFindings = (
  findings: ReadonlyArray<Finding>,
  { outcomes, publications, replies }: Pick<RunParts, "outcomes" | "publications" | "replies">
) => {
  const places = listedFindings(publications)
  const exchanges = exchangesByFinding(replies)
  const byFingerprint = new Map(outcomes.map((one) => [one.fingerprint, one]))
  return findings.map((finding) => {
    const found = byFingerprint.get(finding.fingerprint)
    return withoutUndefined({
      ...findingView(finding),
      ...places.get(finding.fingerprint),
      outcome: found === undefined ? undefined : outcomeView(found),
      conversation: exchanges.get(finding.fingerprint)
    })
  })
}

/** Findings that only maintainers got: their names, and what became of them. */
const privateFindings = ({ private: delivered = [] }: Analysis, outcomes: ReadonlyArray<DatedOutcome>) =>
  delivered.map((one) => {
    const digest = privateDigest(one)
    const found = outcomes.find((other) => other.private === digest)
    const { severity } = one.finding.problem
    return withoutUndefined({ digest, severity, outcome: found === undefined ? undefined : outcomeView(found) })
  })

/** Usage by model, in order of first use. */
const modelsUsed = ({ byModel = {} }: Usage) =>
  Object.entries(byModel).map(([model, usage]) => ({
    model,
    ...usageJson(usage),
    reasoning_tokens: usage.reasoningTokens
  }))

interface Step {
  readonly at: number
  readonly what: string
  readonly depth: number
  readonly id?: string
}

/** Maximum number of steps in a timeline. */
const maxSteps = 1000

const stepOf = ({ at, id: _id, kind, millis, parent: _parent, ...rest }: RunSpan, depth: number) => ({
  at,
  what: kind,
  depth,
  duration_ms: millis,
  ...rest
})

/** Returns the spans in the order of time, each followed by its parts. */
const spanSteps = (spans: ReadonlyArray<RunSpan>) => {
  const ids = new Set(spans.map(({ id }) => id))
  const parts = Map.groupBy(
    spans.toSorted((one, other) => one.at - other.at),
    ({ parent }) => (parent !== undefined && ids.has(parent) ? parent : undefined)
  )
  const list = (whole: string | undefined, depth: number): ReadonlyArray<ReturnType<typeof stepOf>> =>
    (parts.get(whole) ?? []).flatMap((span) => [stepOf(span, depth), ...list(span.id, depth + 1)])
  return list(undefined, 0)
}

const timeline = (run: Run, deliveries: ReadonlyArray<StoredEvent>, spans: ReadonlyArray<RunSpan>) => {
  const delivered = deliveries.map(({ id, receivedAt }): Step => ({ at: receivedAt, what: "delivered", id, depth: 0 }))
  const end: ReadonlyArray<Step> =
    run.finishedAt === undefined ? [] : [{ at: run.finishedAt, what: run.status, depth: 0 }]
  return [...delivered, ...spanSteps(spans).slice(0, maxSteps), ...end].map(({ at, ...step }) => ({
    at: toTime(at),
    ...step
  }))
}

/** Records of other stores about a run. */
interface RunParts {
  readonly publications: ReadonlyArray<DatedPublication>
  readonly outcomes: ReadonlyArray<DatedOutcome>
  readonly deliveries: ReadonlyArray<StoredEvent>
  readonly spans: ReadonlyArray<RunSpan>
  /** Runs that replied to comments below its change, the newest first. */
  readonly replies: ReadonlyArray<Run>
  /** The run that it is compared with unless another is named. */
  readonly previous: Run | undefined
}

/** Returns the reviews that the verdict of a review also rests on. */
export const basisView = ({ analysis }: Run) =>
  withoutUndefined({
    carried: analysis?.carried?.map(({ files, head, models, run }) => ({ run_id: run, head, models, files })),
    members: analysis?.members?.map((member) => withoutUndefined(member))
  })

export const runDetails = (run: RunWithEvents, { deliveries, previous, spans, ...parts }: RunParts) =>
  withoutUndefined({
    ...listedRunView(run),
    ...basisView(run),
    config_hash: run.configHash,
    entry_id: run.entryId,
    previous: previous?.id,
    timeline: timeline(run, deliveries, spans),
    summary: run.analysis?.summary,
    conclusion: run.analysis?.conclusion,
    skipped: run.analysis?.skipped,
    findings: followedFindings(run.analysis?.findings ?? [], parts),
    refuted: (run.analysis?.refuted ?? []).map((one) => ({
      finding: findingView(one.finding),
      ...refuted.view(one)
    })),
    late_findings: (run.analysis?.late ?? []).map(findingView),
    folded_findings: (run.analysis?.folded ?? []).map(({ finding, why }) => ({ finding: findingView(finding), why })),
    private_findings: run.analysis === undefined ? [] : privateFindings(run.analysis, parts.outcomes),
    coverage: run.analysis === undefined ? undefined : coverageView(run.analysis.coverage),
    rules: (run.analysis?.rules ?? []).map(appliedRule.view),
    settings: run.analysis?.settings && settingsView(run.analysis.settings),
    notices: run.analysis?.notices ?? [],
    models: run.analysis?.models ?? [],
    models_used: run.analysis === undefined ? [] : modelsUsed(run.analysis.usage),
    usage: run.analysis === undefined ? undefined : usageJson(run.analysis.usage),
    publications: parts.publications.map(publicationView),
    withheld: withheldView(run, parts.publications),
    /** Problems dismissed by people without permission (`review.dismissal`): they stay open. */
    ignored_dismissals: ignoredDismissals(parts.publications)
  })
