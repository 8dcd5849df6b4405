/** Builds the JSON of runs for the administration. */
import { countedSeverities, usageJson } from "../../domain/Analysis.ts"
import type { Usage } from "../../domain/Analysis.ts"
import type { Coverage } from "../../domain/Coverage.ts"
import type { Finding } from "../../domain/Problem.ts"
import type { DatedPublication, Publication } from "../../domain/Publication.ts"
import type { RepositorySettings } from "../../domain/RepositorySettings.ts"
import type { DatedOutcome } from "../../store/Outcomes.ts"
import type { StoredEvent } from "../../store/Receipts.ts"
import type { Run } from "../../store/Runs.ts"
import {
  anchor,
  appliedRule,
  coverage,
  findingRound,
  outcome,
  problem,
  publication,
  refuted,
  skippedFile,
  storedRun
} from "../api/RunRecords.ts"
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
  operation: row.operation._tag
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

export const findingView = ({ anchor: at, fingerprint, probe, problem: reported, round }: Finding) =>
  withoutUndefined({
    fingerprint,
    ...problem.view(reported),
    round: round && findingRound.view(round),
    probe,
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

/** Findings with what became of them; those of a review that was not published have no outcome. */
const followedFindings = (findings: ReadonlyArray<Finding>, outcomes: ReadonlyArray<DatedOutcome>) => {
  const byFingerprint = new Map(outcomes.map((one) => [one.fingerprint, one]))
  return findings.map((finding) => {
    const found = byFingerprint.get(finding.fingerprint)
    return withoutUndefined({
      ...findingView(finding),
      outcome: found === undefined ? undefined : outcomeView(found)
    })
  })
}

/** Usage by model, in order of first use. */
const modelsUsed = ({ byModel = {} }: Usage) =>
  Object.entries(byModel).map(([model, usage]) => ({
    model,
    ...usageJson(usage),
    reasoning_tokens: usage.reasoningTokens
  }))

interface Moment {
  readonly at: number
  readonly what: string
  readonly id?: string
}

const timeline = (
  run: Run,
  deliveries: ReadonlyArray<StoredEvent>,
  publications: ReadonlyArray<DatedPublication>
): ReadonlyArray<Moment> => {
  const states: ReadonlyArray<Moment> = [
    { at: run.createdAt, what: "created" },
    ...(run.startedAt === undefined ? [] : [{ at: run.startedAt, what: "started" }]),
    ...publications.flatMap(({ id, status, updatedAt }) =>
      status === "sent"
        ? [{ at: updatedAt, what: "published", id }]
        : status === "failed"
          ? [{ at: updatedAt, what: "not_published", id }]
          : []
    ),
    ...(run.finishedAt === undefined ? [] : [{ at: run.finishedAt, what: run.status }])
  ]
  const delivered = deliveries.map(({ id, receivedAt }): Moment => ({ at: receivedAt, what: "delivered", id }))
  // Stable: what happened in the same millisecond stays in the order of the states.
  return [...delivered, ...states].toSorted((one, other) => one.at - other.at)
}

/** Records of other stores about a run. */
interface RunParts {
  readonly publications: ReadonlyArray<DatedPublication>
  readonly outcomes: ReadonlyArray<DatedOutcome>
  readonly deliveries: ReadonlyArray<StoredEvent>
  /** The run that it is compared with unless another is named. */
  readonly previous: Run | undefined
}

export const runDetails = (run: RunWithEvents, { deliveries, outcomes, previous, publications }: RunParts) =>
  withoutUndefined({
    ...listedRunView(run),
    config_hash: run.configHash,
    entry_id: run.entryId,
    previous: previous?.id,
    timeline: timeline(run, deliveries, publications).map(({ at, ...moment }) => ({ at: toTime(at), ...moment })),
    summary: run.analysis?.summary,
    conclusion: run.analysis?.conclusion,
    skipped: run.analysis?.skipped,
    findings: followedFindings(run.analysis?.findings ?? [], outcomes),
    refuted: (run.analysis?.refuted ?? []).map((one) => ({
      finding: findingView(one.finding),
      ...refuted.view(one)
    })),
    late_findings: (run.analysis?.late ?? []).map(findingView),
    folded_findings: (run.analysis?.folded ?? []).map(({ finding, why }) => ({ finding: findingView(finding), why })),
    coverage: run.analysis === undefined ? undefined : coverageView(run.analysis.coverage),
    rules: (run.analysis?.rules ?? []).map(appliedRule.view),
    settings: run.analysis?.settings && settingsView(run.analysis.settings),
    notices: run.analysis?.notices ?? [],
    models: run.analysis?.models ?? [],
    models_used: run.analysis === undefined ? [] : modelsUsed(run.analysis.usage),
    usage: run.analysis === undefined ? undefined : usageJson(run.analysis.usage),
    publications: publications.map(publicationView),
    withheld: withheldView(run, publications),
    /** Problems dismissed by people without permission (`review.dismissal`): they stay open. */
    ignored_dismissals: ignoredDismissals(publications)
  })
