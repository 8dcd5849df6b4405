/** Implements `aicr why`: prints what happened to a pull request or issue, or after one delivery, in the order of time. */
import { Console, Effect } from "effect"
import { Argument, Command } from "effect/cli"
import type { EventStoryRecord } from "../admin/api/EventGroup.ts"
import type { DeliveryRecord } from "../admin/api/EventRecords.ts"
import type { EntryRecord } from "../admin/api/QueueRecords.ts"
import { separateOwn } from "../domain/OwnDeliveries.ts"
import type { OwnDeliveries } from "../domain/OwnDeliveries.ts"
import { inEnglish } from "../text/en.ts"
import { request, urlFlag } from "./AdminCall.ts"
import type { OpenAdmin } from "./AdminCall.ts"
import { configFlag } from "./ConfigFlag.ts"
import { formatEvent, formatOccurrence, listConsequences } from "./DeliveryText.ts"
import { refused } from "./Exit.ts"
import { jsonFlag } from "./JsonFlag.ts"
import { formatUntil } from "./QueueText.ts"
import { count, oneLine, second } from "./Wording.ts"

type StoryRun = EventStoryRecord["runs"][number]

interface Paragraph {
  readonly at: string
  readonly lines: ReadonlyArray<string>
}

/** Statuses in which the story of a run leaves nothing open. */
const explained: ReadonlySet<string> = new Set(["succeeded", "skipped", "cancelled"])

/** Names the events that a run comes from: deliveries, and searches that found its change. */
const formatOrigin = (
  { event_ids: ids }: StoryRun,
  deliveries: ReadonlyMap<string, DeliveryRecord>
): ReadonlyArray<string> => {
  const events = new Set(ids.flatMap((id) => deliveries.get(id) ?? []).map(formatEvent))
  return events.size === 0 ? [] : [`origin: ${oneLine([...events].join("; "))}`]
}

const formatRun = (run: StoryRun, deliveries: ReadonlyMap<string, DeliveryRecord>): ReadonlyArray<string> => {
  const facts = [
    run.head === undefined ? undefined : `head ${run.head.slice(0, 12)}`,
    run.round === undefined ? undefined : `round ${run.round}`,
    run.findings === undefined ? undefined : count(run.findings, "finding"),
    run.credentials === undefined ? undefined : count(run.credentials, "leaked credential"),
    run.late === undefined || run.late === 0 ? undefined : `${count(run.late, "late finding")} not posted`,
    run.folded === undefined ? undefined : `${count(run.folded, "folded finding")} not posted`,
    run.private === undefined ? undefined : `${run.private} delivered to maintainers only`,
    run.duration_ms === undefined ? undefined : `${Math.round(run.duration_ms / 1000)} s`,
    run.cost_usd === null ? undefined : `$${run.cost_usd.toFixed(4)}`
  ].filter((fact) => fact !== undefined)
  return [
    `run ${run.id}: ${run.status}${run.partial ? ", partial" : ""}${facts.length === 0 ? "" : ` (${facts.join(", ")})`}`,
    ...(run.event_ids.length === 0 ? [] : [`deliveries: ${run.event_ids.join(", ")}`]),
    ...formatOrigin(run, deliveries),
    ...(run.reason === undefined ? [] : [`reason: ${oneLine(inEnglish(run.reason))}`]),
    ...(run.carried ?? []).map(
      ({ files, models, run_id: reader }) =>
        `${count(files, "file")} read by run ${reader} (${oneLine(models.join(", ")) || "no model"}), unchanged since`
    ),
    ...(run.members ?? []).map(({ number, run: reader, state }) =>
      reader === undefined ? `#${number}: read with this group` : `#${number}: ${state ?? "reviewed"} (run ${reader})`
    ),
    ...(run.notices ?? []).map((notice) => `notice: ${oneLine(inEnglish(notice))}`),
    ...run.publications.map(({ channel, comments, error, operation, status, url }) => {
      const problem = error === undefined ? "" : `: ${oneLine(inEnglish(error))}`
      const written = comments === undefined ? "" : ` with ${count(comments, "comment")}`
      return `${channel} ${operation}${written}: ${status.replaceAll("_", " ")}${url === undefined ? "" : ` ${oneLine(url)}`}${problem}`
    }),
    ...(run.conclusion === undefined ? [] : [`conclusion: ${oneLine(inEnglish(run.conclusion))}`]),
    ...(isClean(run) ? ["nothing to post: no problem was found (review.skip_lgtm)"] : []),
    ...(explained.has(run.status) ? [] : [`aicr log ${run.id} prints its log`])
  ]
}

/** Whether a review without problems posted at most its commit status and its statement. */
const isClean = ({ conclusion, findings, publications, status }: StoryRun): boolean =>
  status === "succeeded" &&
  conclusion === undefined &&
  findings === 0 &&
  publications.every(
    ({ operation, status: outcome }) =>
      operation === "Status" || operation === "Statement" || outcome === "nothing_to_do"
  )

const formatStoryEntry = (entry: EntryRecord): ReadonlyArray<string> => {
  const { attempts, id, status, why } = entry
  return [
    `queue entry ${id}: ${oneLine(inEnglish(why))}${formatUntil(entry)}${attempts === 0 ? "" : `, ${count(attempts, "attempt")}`}`,
    ...(status === "dead" ? [`aicr queue retry ${id} repeats the review`] : [])
  ]
}

/** Formats the deliveries that texts of the service caused. */
const formatOwn = ({ deliveries: { 0: first, length }, events, last }: OwnDeliveries<DeliveryRecord>): string => {
  const by = first.sender === undefined ? "" : ` by ${first.sender}`
  const what = oneLine(`${length} deliveries${by} (${events.join(", ")})`)
  return `${what}: ignored (own_event), the latest at ${second(last.received_at)}`
}

/** Names what became of the findings of a change that ended. */
const formatOutcomes = (findings: EventStoryRecord["findings"]): ReadonlyArray<string> => {
  const settled = findings.filter((finding) => finding.settled !== undefined)
  const [first] = settled
  if (first === undefined) return []
  const states = Map.groupBy(settled, ({ outcome }) => outcome)
  const counts = [...states].map(([state, { length }]) => `${length} ${state.replaceAll("_", " ")}`)
  return [`findings of the ${first.settled} change: ${counts.join(", ")}`]
}

/** Names the review whose verdict the status of the newest head shows. */
const formatStatus = ({
  branch,
  description,
  head,
  number,
  run_id: run,
  state
}: NonNullable<EventStoryRecord["status"]>) => {
  const change = number === undefined ? "" : ` of #${number}`
  const base = branch === undefined ? "" : ` into ${oneLine(branch)}`
  return `status of ${head.slice(0, 12)}: ${state}, ${oneLine(inEnglish(description))} (run ${run}${change}${base})`
}

/** Returns the lines of a story, in the order of time; empty if nothing is recorded. The first line of each part has the time. */
export const formatStory = ({
  deliveries,
  entries,
  findings,
  partial,
  runs,
  status
}: EventStoryRecord): ReadonlyArray<string> => {
  const { own, single } = separateOwn(deliveries)
  const byId = new Map(deliveries.map((item) => [item.id, item]))
  const parts: ReadonlyArray<Paragraph> = [
    ...single.map((item) => ({
      at: item.received_at,
      lines: [`delivery ${item.id}: ${formatOccurrence(item)}`, ...listConsequences(item)]
    })),
    ...own.map((group) => ({ at: group.deliveries[0].received_at, lines: [formatOwn(group)] })),
    ...entries.map((entry) => ({ at: entry.admitted_at, lines: formatStoryEntry(entry) })),
    ...runs.map((run) => ({ at: run.created_at, lines: formatRun(run, byId) }))
  ]
  const blank = " ".repeat("2026-03-04T12:00:00Z".length)
  return [
    ...(partial ? ["Only the latest deliveries and runs are shown."] : []),
    ...parts
      .toSorted((one, other) => (one.at < other.at ? -1 : Number(one.at > other.at)))
      .flatMap(({ at, lines }) => lines.map((line, index) => `${index === 0 ? second(at) : `${blank}  `}  ${line}`)),
    ...formatOutcomes(findings),
    ...(status === undefined ? [] : [formatStatus(status)])
  ]
}

/** Names the next steps for a delivery that never arrived, was rejected, or is too old. */
const unrecorded = (target: string): ReadonlyArray<string> => [
  `Nothing is recorded about ${target}: no delivery about it was accepted, or it is older than storage.retention allows`,
  "aicr doctor checks the webhook, aicr events --rejected-signatures counts deliveries with a wrong secret, and the webhook's page at the host lists what it sent"
]

/** Parses `OWNER/REPO#N`; GitLab's groups may have several parts, and `!N` names a merge request. */
export const parseTarget = (target: string): { readonly repo: string; readonly number: number } | undefined => {
  const [, repo, number] = /^([^#!\s/]+\/[^#!\s]+)[#!]([1-9]\d{0,9})$/.exec(target) ?? []
  return repo === undefined ? undefined : { repo, number: Number(number) }
}

/** Returns whether a text has the form of the id of an event. */
const isEventId = (text: string): boolean =>
  /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i.test(text)

export const whyCommand = (runs: Effect.Effect<{ readonly openAdmin: OpenAdmin }>) =>
  Command.make(
    "why",
    {
      config: configFlag,
      url: urlFlag,
      json: jsonFlag,
      target: Argument.String("OWNER/REPO#N").pipe(
        Argument.withDescription(
          "Pull request, merge request or issue; or the id of an event, as the log and `aicr events` print it"
        )
      )
    },
    Effect.fnUntraced(function* ({ config, json, target, url }) {
      const query = parseTarget(target)
      if (query === undefined && !isEventId(target)) {
        return yield* refused(
          `${JSON.stringify(target)}: expected OWNER/REPO#NUMBER, such as team/app#5, or the id of an event, see aicr events`
        )
      }
      const { openAdmin } = yield* runs
      const story: EventStoryRecord = yield* openAdmin({ config, url, use: "records" }, ({ events }) =>
        query === undefined
          ? request(
              Effect.catchTag(events.eventStory({ params: { id: target.toLowerCase() } }), "NotFound", () =>
                refused(`no event has the id ${target}; see aicr events`)
              )
            )
          : request(events.story({ query }))
      )
      if (json) return yield* Console.log(JSON.stringify(story, null, 2))
      const lines = formatStory(story)
      for (const line of lines.length === 0 ? unrecorded(target) : lines) yield* Console.log(line)
    })
  ).pipe(
    Command.withDescription("Print what happened to a pull request: deliveries, decisions, reviews, comments, errors"),
    Command.withExamples([
      { command: "aicr why team/app#5", description: "From the running service, or from its stores" },
      {
        command: "aicr why 0199b2c4-7c1e-7a51-8f60-2f1d3c5b7a90",
        description: "What followed one delivery: a push, a schedule, a call, a revision, a request from chat"
      }
    ])
  )
