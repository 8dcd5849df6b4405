/** Handles requests to erase a person from the records and from the queue. The name is in no log line and in no record of the request. */
import { createHash } from "node:crypto"
import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { EntryStatus, isTerminal } from "../../domain/Entry.ts"
import type { Entry } from "../../domain/Entry.ts"
import { eraseEntry, isOwnChange, readPerson } from "../../domain/PersonErasure.ts"
import type { ErasedPerson } from "../../domain/PersonErasure.ts"
import type { Reason } from "../../domain/Reason.ts"
import { QueueControl } from "../../queue/operator/QueueControl.ts"
import { PersonRecords } from "../../store/PersonRecords.ts"
import type { PersonFound } from "../../store/PersonRecords.ts"
import { AdminHttpApi } from "../api/AdminHttpApi.ts"
import { personKinds } from "../api/PersonGroup.ts"
import type { PersonErasure, PersonKind } from "../api/PersonGroup.ts"
import { conflict, invalid } from "../api/Problems.ts"
import { CurrentUser } from "../api/Rules.ts"
import { orUnavailable } from "./Available.ts"

const whatOf = {
  prompts: "PersonPrompts",
  agent_passes: "PersonPasses",
  log_lines: "PersonLogLines",
  payloads: "PersonPayloads",
  publications: "PersonPublications",
  findings: "PersonFindings",
  lessons: "PersonLessons",
  pauses: "PersonPauses",
  batches: "PersonBatches",
  chat_requests: "PersonChatRequests",
  opt_outs: "PersonOptOuts",
  notices: "PersonNotices",
  sessions: "PersonSessions",
  views: "PersonViews",
  tokens: "PersonTokens",
  projects: "PersonProjects",
  audit: "PersonAudit",
  budgets: "PersonBudgets",
  reviews: "PersonReviews",
  deliveries: "PersonDeliveries",
  entries: "PersonEntries"
} as const satisfies Record<PersonKind, Reason["_tag"]>

const staying = [
  "PersonHostStays",
  "PersonNamesStay",
  "PersonStatementsStay",
  "PersonConfigurationStays",
  "PersonLogsStay"
] as const satisfies ReadonlyArray<Reason["_tag"]>

/** Entries that are read, or replaced, at a time. */
const stepEntries = 200

const endedStatuses = EntryStatus.literals.filter(isTerminal)
const activeStatuses = EntryStatus.literals.filter((status) => !isTerminal(status))

/** Calls `use` with all entries of these statuses, some at a time. */
const eachEntries = Effect.fnUntraced(function* <E, R>(
  statuses: ReadonlyArray<EntryStatus>,
  use: (entries: ReadonlyArray<Entry>) => Effect.Effect<void, E, R>
) {
  const control = yield* QueueControl
  let after: string | undefined
  do {
    const page = yield* control.list({ statuses, after, limit: stepEntries })
    yield* use(page.entries)
    after = page.next
  } while (after !== undefined)
})

/** Finds the entries of a person in the queue; `erases`: also replaces those that have ended. */
const scanQueue = Effect.fnUntraced(function* (person: ErasedPerson, erases: boolean) {
  const control = yield* QueueControl
  let [count, unfinished] = [0, 0]
  yield* eachEntries(endedStatuses, (entries) =>
    Effect.gen(function* () {
      const erased = entries.flatMap((entry) => eraseEntry(person, entry) ?? [])
      count += erases && erased.length > 0 ? yield* control.replaceEnded(erased) : erased.length
    })
  )
  yield* eachEntries(activeStatuses, (entries) =>
    Effect.sync(() => {
      unfinished += entries.filter(({ change }) => isOwnChange(person, change)).length
    })
  )
  if (erases) yield* control.compact
  return { count, unfinished }
})

const digestOf = (person: ErasedPerson, counts: Readonly<Record<PersonKind, number>>): string =>
  createHash("sha256")
    .update(JSON.stringify([person.qualified, ...personKinds.map((kind) => counts[kind])]))
    .digest("hex")

const toRemains = (unfinished: number, comments: PersonFound["comments"]): ReadonlyArray<Reason> => [
  ...(unfinished === 0 ? [] : [{ _tag: "PersonWorkRuns", count: unfinished } as const]),
  ...(comments.count === 0 ? [] : [{ _tag: "PersonCommentsStay", count: comments.count } as const]),
  ...staying.map((_tag) => ({ _tag }))
]

const scan = Effect.fnUntraced(function* (person: ErasedPerson, erases: boolean) {
  const entries = yield* scanQueue(person, erases)
  const { comments, counts: stored, unfinished: working } = yield* (yield* PersonRecords).scan(person, erases)
  const counts = { ...stored, entries: entries.count }
  const unfinished = working + entries.unfinished
  return {
    digest: digestOf(person, counts),
    found: personKinds.flatMap((kind) =>
      counts[kind] === 0 ? [] : [{ kind, count: counts[kind], what: { _tag: whatOf[kind], count: counts[kind] } }]
    ),
    unfinished,
    comments: comments.urls,
    remains: toRemains(unfinished, comments)
  } satisfies PersonErasure
})

const read = (qualified: string) => {
  const person = readPerson(qualified)
  return person === undefined ? Effect.fail(invalid("person", { _tag: "PersonExpected" })) : Effect.succeed(person)
}

const preview = Effect.fnUntraced(function* (qualified: string) {
  return yield* scan(yield* read(qualified), false)
})

const erase = Effect.fnUntraced(function* (qualified: string, digest: string) {
  const person = yield* read(qualified)
  if ((yield* scan(person, false)).digest !== digest)
    return yield* conflict("preview_changed", { _tag: "PreviewChanged" })
  const { username } = yield* CurrentUser
  const erased = yield* scan(person, true)
  const count = erased.found.reduce((sum, one) => sum + one.count, 0)
  yield* Effect.logInfo("person erased from records", { username, records: count, unfinished: erased.unfinished })
  return erased
})

export const layer = HttpApiBuilder.group(AdminHttpApi, "people", (handlers) =>
  handlers.handleAll({
    preview: ({ payload }) => orUnavailable(preview(payload.person)),
    erase: ({ payload }) => orUnavailable(erase(payload.person, payload.digest))
  })
)
