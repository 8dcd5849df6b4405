/**
 * Collects what happened to one pull request or issue, or after one delivery: deliveries with their decisions, queue entries, runs with their
 * publications. Everything is read from the stores, so that the story is the same on every node and after a restart.
 */
import { Effect } from "effect"
import { readVerdicts } from "../../../actors/publishing/HeadStatus.ts"
import { ConfigStore } from "../../config/ConfigStore.ts"
import type { Snapshot } from "../../config/Snapshot.ts"
import { targetKey } from "../../domain/Change.ts"
import { worstVerdict } from "../../domain/HeadVerdict.ts"
import type { HeadVerdict } from "../../domain/HeadVerdict.ts"
import type { TargetKey } from "../../domain/Keys.ts"
import { isForgeKind, isMergeable } from "../../domain/Kinds.ts"
import { Operations } from "../../queue/operator/Operations.ts"
import type { EntryView } from "../../queue/operator/Operations.ts"
import { listReported } from "../../store/ListReported.ts"
import { Outcomes } from "../../store/Outcomes.ts"
import type { DatedOutcome } from "../../store/Outcomes.ts"
import { Outbox } from "../../store/Outbox.ts"
import type { DatedPublication } from "../../domain/Publication.ts"
import { Receipts } from "../../store/Receipts.ts"
import type { StoredEvent } from "../../store/Receipts.ts"
import { Runs } from "../../store/Runs.ts"
import type { Run } from "../../store/Runs.ts"
import { withEvents } from "./RunEvents.ts"
import { basisView, changeFindings, listedRunView, publicationView } from "./RunViews.ts"
import type { RunWithEvents } from "./RunViews.ts"
import { eventView } from "../api/EventRecords.ts"
import { entryView } from "./Views.ts"
import { withoutUndefined } from "./WithoutUndefined.ts"

/** Maximum number of deliveries, of entries per target and of runs per target. The newest are kept. */
const maxItems = 200

export interface Story {
  /** Oldest first, like all lists here. */
  readonly deliveries: ReadonlyArray<StoredEvent>
  readonly entries: ReadonlyArray<EntryView>
  readonly runs: ReadonlyArray<{ readonly run: RunWithEvents; readonly publications: ReadonlyArray<DatedPublication> }>
  readonly outcomes: ReadonlyArray<DatedOutcome>
  /** The verdict that the status of the newest head shows. */
  readonly status: (HeadVerdict & { readonly head: string }) | undefined
  /** True if there are more deliveries or runs than a story contains. */
  readonly isPartial: boolean
}

/** Returns the keys of a pull request and an issue at each trigger that serves the repository. */
const listTargets = (snapshot: Snapshot, fullName: string, number: number): ReadonlyArray<TargetKey> =>
  [...snapshot.triggers.values()].flatMap(({ kind, name }) => {
    if (!isForgeKind(kind)) return []
    const [workspace] = snapshot.route(name, { vcs: kind, repo_ref: fullName, any_branch: true })
    if (workspace === undefined) return []
    const at = { trigger: name, workspace: workspace.id, repo: { fullName } }
    return [
      targetKey({ ...at, target: { kind: "pull_request", number } }),
      targetKey({ ...at, target: { kind: "issue", number } })
    ]
  })

const byId = (one: { readonly id: string }, other: { readonly id: string }): number =>
  one.id < other.id ? -1 : Number(one.id > other.id)

/** Reads the entries and runs of targets. */
const readTargets = Effect.fnUntraced(function* (targets: Iterable<TargetKey>) {
  const operations = yield* Operations
  const runs = yield* Runs
  const entries: Array<EntryView> = []
  const found: Array<Run> = []
  for (const target of targets) {
    entries.push(...(yield* operations.list({ targetKey: target, limit: maxItems })).items)
    found.push(...(yield* runs.list({ targetKey: target, limit: maxItems + 1 })))
  }
  return { entries: entries.toSorted((one, other) => byId(one.entry, other.entry)), runs: found.toSorted(byId) }
})

const withPublications = Effect.fnUntraced(function* (runs: ReadonlyArray<Run>) {
  const outbox = yield* Outbox
  return yield* Effect.forEach(yield* withEvents(runs), (run) =>
    Effect.map(outbox.history(run.id), (publications) => ({ run, publications }))
  )
})

/** Reads the status of the head of the newest run. */
const readStatus = Effect.fnUntraced(function* (runs: ReadonlyArray<Run>) {
  const run = runs.at(-1)
  if (run === undefined || !isMergeable(run.change.target.kind) || run.head === "") return undefined
  const worst = worstVerdict(yield* readVerdicts(run, (yield* ConfigStore).current()))
  return worst && { ...worst, head: run.head }
})

/** Reads the findings of the targets of runs. */
const readOutcomes = Effect.fnUntraced(function* (runs: ReadonlyArray<Run>) {
  const outcomes = yield* Outcomes
  const targets = new Set(runs.filter(({ analysis }) => analysis !== undefined).map(({ targetKey: key }) => key))
  return (yield* Effect.forEach(targets, (key) => outcomes.ofTarget(key))).flat()
})

/** Reads the story of a pull request or issue. */
export const readStory = Effect.fnUntraced(function* (repo: string, number: number) {
  const deliveries = yield* (yield* Receipts).list({ repo, number, limit: maxItems + 1 })
  const configured = listTargets((yield* ConfigStore).current(), repo, number)
  const { entries, runs } = yield* readTargets(
    new Set([...deliveries.flatMap((event) => event.targetKey ?? []), ...configured])
  )
  const story: Story = {
    deliveries: deliveries.slice(0, maxItems).toReversed(),
    entries,
    runs: yield* withPublications(runs.slice(-maxItems)),
    outcomes: yield* readOutcomes(runs),
    status: yield* readStatus(runs),
    isPartial: deliveries.length > maxItems || runs.length > maxItems
  }
  return story
})

/** Reads the story of one delivery of any kind. */
export const readEventStory = Effect.fnUntraced(function* (event: StoredEvent) {
  const deliveries = [event, ...(yield* listReported(event, maxItems))]
  const ids = new Set(deliveries.map(({ id }) => id))
  const found = yield* readTargets(new Set(deliveries.flatMap(({ targetKey: key }) => key ?? [])))
  const entries = found.entries.filter(({ entry }) => entry.events.some((id) => ids.has(id)))
  const entryIds = new Set(entries.map(({ entry }) => entry.id))
  const runIds = new Set(deliveries.map(({ runId }) => runId))
  const runs = found.runs.filter(({ entryId, id }) => entryIds.has(entryId) || runIds.has(id))
  const story: Story = {
    deliveries,
    entries,
    runs: yield* withPublications(runs),
    outcomes: [],
    status: yield* readStatus(runs),
    isPartial: false
  }
  return story
})

const statusView = ({ baseRef, head, number, runId, verdict }: NonNullable<Story["status"]>) =>
  withoutUndefined({
    head,
    state: verdict.state,
    description: verdict.description,
    number,
    branch: baseRef,
    run_id: runId
  })

export const storyParts = ({ deliveries, entries, isPartial, outcomes, runs, status }: Story) => ({
  findings: changeFindings(
    outcomes,
    runs.flatMap(({ publications }) => publications)
  ),
  ...(status === undefined ? {} : { status: statusView(status) }),
  partial: isPartial,
  deliveries: deliveries.map(eventView),
  entries: entries.map(entryView),
  runs: runs.map(({ publications, run }) => ({
    ...listedRunView(run),
    ...basisView(run),
    entry_id: run.entryId,
    notices: run.analysis?.notices ?? [],
    ...withoutUndefined({ conclusion: run.analysis?.conclusion }),
    publications: publications.map(publicationView)
  }))
})
