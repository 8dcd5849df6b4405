/** Implements `aicr why OWNER/REPO#N`: prints what happened to a pull request or issue, in the order of time. */
import { Console, Effect } from "effect"
import { Argument, Command } from "effect/cli"
import type { StoryRecord } from "../admin/api/EventGroup.ts"
import type { EntryRecord } from "../admin/api/QueueRecords.ts"
import { request, urlFlag } from "./AdminCall.ts"
import type { OpenAdmin } from "./AdminCall.ts"
import { configFlag } from "./ConfigFlag.ts"
import { formatOccurrence, listConsequences } from "./DeliveryText.ts"
import { refused } from "./Exit.ts"
import { jsonFlag } from "./JsonFlag.ts"
import { count, oneLine, second } from "./Wording.ts"

type StoryRun = StoryRecord["runs"][number]

interface Paragraph {
  readonly at: string
  readonly lines: ReadonlyArray<string>
}

const formatRun = (run: StoryRun): ReadonlyArray<string> => {
  const facts = [
    run.head === undefined ? undefined : `head ${run.head.slice(0, 12)}`,
    run.findings === undefined ? undefined : count(run.findings, "finding"),
    run.duration_ms === undefined ? undefined : `${Math.round(run.duration_ms / 1000)} s`,
    run.cost_usd === null ? undefined : `$${run.cost_usd.toFixed(4)}`
  ].filter((fact) => fact !== undefined)
  return [
    `run ${run.id}: ${run.status}${facts.length === 0 ? "" : ` (${facts.join(", ")})`}`,
    ...(run.event_ids.length === 0 ? [] : [`deliveries: ${run.event_ids.join(", ")}`]),
    ...(run.reason === undefined ? [] : [`reason: ${oneLine(run.reason)}`]),
    ...run.publications.map(({ channel, error, operation, status, url }) => {
      const problem = error === undefined ? "" : `: ${oneLine(error)}`
      return `${channel} ${operation}: ${status}${url === undefined ? "" : ` ${oneLine(url)}`}${problem}`
    })
  ]
}

const formatStoryEntry = ({ attempts, id, until, why }: EntryRecord): string =>
  `queue entry ${id}: ${oneLine(why)}${until === undefined ? "" : `, until ${second(until)}`}${attempts === 0 ? "" : `, ${count(attempts, "attempt")}`}`

/** Returns the lines of a story, in the order of time. The first line of each part has the time. */
export const formatStory = ({
  deliveries,
  entries,
  number,
  partial,
  repo,
  runs
}: StoryRecord): ReadonlyArray<string> => {
  const parts: ReadonlyArray<Paragraph> = [
    ...deliveries.map((item) => ({
      at: item.received_at,
      lines: [`delivery ${item.id}: ${formatOccurrence(item)}`, ...listConsequences(item)]
    })),
    ...entries.map((entry) => ({ at: entry.admitted_at, lines: [formatStoryEntry(entry)] })),
    ...runs.map((run) => ({ at: run.created_at, lines: formatRun(run) }))
  ]
  if (parts.length === 0) return [`Nothing is recorded about ${repo}#${number}.`]
  const blank = " ".repeat("2026-03-04T12:00:00Z".length)
  return [
    ...(partial ? ["Only the latest deliveries and runs are shown."] : []),
    ...parts
      .toSorted((one, other) => (one.at < other.at ? -1 : Number(one.at > other.at)))
      .flatMap(({ at, lines }) => lines.map((line, index) => `${index === 0 ? second(at) : `${blank}  `}  ${line}`))
  ]
}

/** Parses `OWNER/REPO#N`; GitLab's groups may have several parts, and `!N` names a merge request. */
export const parseTarget = (target: string): { readonly repo: string; readonly number: number } | undefined => {
  const [, repo, number] = /^([^#!\s/]+\/[^#!\s]+)[#!]([1-9]\d{0,9})$/.exec(target) ?? []
  return repo === undefined ? undefined : { repo, number: Number(number) }
}

export const whyCommand = (runs: Effect.Effect<{ readonly openAdmin: OpenAdmin }>) =>
  Command.make(
    "why",
    {
      config: configFlag,
      url: urlFlag,
      json: jsonFlag,
      target: Argument.String("OWNER/REPO#N").pipe(Argument.withDescription("Pull request, merge request or issue"))
    },
    Effect.fnUntraced(function* ({ config, json, target, url }) {
      const query = parseTarget(target)
      if (query === undefined) {
        return yield* refused(`${JSON.stringify(target)}: expected OWNER/REPO#NUMBER, such as team/app#5`)
      }
      const { openAdmin } = yield* runs
      const story = yield* openAdmin({ config, url, use: "records" }, ({ events }) => request(events.story({ query })))
      if (json) return yield* Console.log(JSON.stringify(story, null, 2))
      for (const line of formatStory(story)) yield* Console.log(line)
    })
  ).pipe(
    Command.withDescription("Print what happened to a pull request: deliveries, decisions, reviews, comments, errors"),
    Command.withExamples([
      { command: "aicr why team/app#5", description: "From the running service, or from its stores" }
    ])
  )
