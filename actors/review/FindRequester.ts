/** Determines who requested a review, by the rights that people have at the host when it starts. */
import { Clock, Effect } from "effect"
import { isTrustedRequester, requesterRank } from "../../src/domain/Change.ts"
import type { Repo } from "../../src/domain/Change.ts"
import type { Entry } from "../../src/domain/Entry.ts"
import type { Reason } from "../../src/domain/Reason.ts"
import type { ForgeClient } from "../../src/forge/Forge.ts"
import type { ForgeError } from "../../src/forge/ForgeError.ts"
import { Receipts } from "../../src/store/Receipts.ts"

/** The automatic review is due later, with its own priority. */
export interface LaterReview {
  readonly _tag: "Later"
  readonly reason: Reason
  readonly dueAt: number
  readonly priority: number
}

type ReviewRequester =
  /** `person` is undefined if the review is automatic. `full`: a person who may request it wants everything read again. */
  | { readonly _tag: "Permitted"; readonly person: string | undefined; readonly full: true | undefined }
  | { readonly _tag: "Refused"; readonly reason: Reason }
  | LaterReview

/** Returns why the person may not request a review; undefined if they may. A right that the host does not disclose counts as missing. */
const refuseRequest = Effect.fnUntraced(function* (
  repo: Repo,
  person: string,
  client: ForgeClient
): Effect.fn.Return<Reason | undefined, ForgeError> {
  if (isTrustedRequester(person)) return undefined
  const may = yield* Effect.result(client.canWrite(repo, person))
  if (may._tag === "Success") return may.success ? undefined : { _tag: "NoWritePermission", person }
  return may.failure.reason === "forbidden" ? may.failure.why : yield* may.failure
})

interface PersonRequests {
  readonly events: ReadonlyArray<string>
  readonly full: boolean
}

interface CombinedRequests {
  readonly people: ReadonlyMap<string, PersonRequests>
  /** The time at which the earliest automatic review is due, and the highest priority of one. */
  readonly automatic: { readonly dueAt: number; readonly priority: number } | undefined
}

/** Reads the deliveries that the entry combines: those of each person, and of automatic reviews. */
const readRequests = Effect.fnUntraced(function* ({ events }: Entry) {
  const receipts = yield* Receipts
  const people = new Map<string, PersonRequests>()
  let automatic: CombinedRequests["automatic"]
  for (const id of events) {
    const work = (yield* receipts.get(id))?.work
    if (work === undefined) continue
    const { full, requestedBy: person } = work.change
    if (person === undefined) {
      automatic = {
        dueAt: Math.min(automatic?.dueAt ?? work.dueAt, work.dueAt),
        priority: Math.min(automatic?.priority ?? work.priority, work.priority)
      }
    } else {
      const earlier = people.get(person)
      people.set(person, { events: [...(earlier?.events ?? []), id], full: full === true || earlier?.full === true })
    }
  }
  return { people, automatic } satisfies CombinedRequests
})

/**
 * Determines who requested a review. Requests for the same review share an entry, which names one person: of those who may request it the one
 * of the highest rank counts, and a full review needs one of them. One who may not request is passed over: what the host reported and what
 * other people requested is reviewed as if there had been no such request, at its own time and with its own priority.
 */
export const findRequester = Effect.fnUntraced(function* (entry: Entry, client: ForgeClient) {
  const { change, events, targetKey } = entry
  const first = change.requestedBy
  if (first === undefined) return permitted(undefined, false)
  const refuse = Effect.fnUntraced(function* (person: string) {
    const reason = yield* refuseRequest(change.repo, person, client)
    if (reason !== undefined)
      yield* Effect.logWarning("audit: review request refused, its author has no known write permission", {
        username: person,
        target: targetKey,
        reason
      })
    return reason
  })
  const refusal = yield* refuse(first)
  if (refusal === undefined && events.length === 1) return permitted(first, change.full === true)
  const { automatic, people } = yield* readRequests(entry)
  const own = people.get(first)
  let person = refusal === undefined ? first : undefined
  let full = refusal === undefined && own?.full === true
  const passed = refusal === undefined ? [] : [{ reason: refusal, events: own?.events ?? [] }]
  const others = [...people].filter(([name]) => name !== first)
  for (const [name, requests] of others.toSorted(([one], [other]) => requesterRank(other) - requesterRank(one))) {
    if (person !== undefined && (full || !requests.full)) continue
    const reason = yield* refuse(name)
    if (reason !== undefined) passed.push({ reason, events: requests.events })
    else {
      person ??= name
      full ||= requests.full
    }
  }
  if (refusal !== undefined && person === undefined && automatic === undefined)
    return { _tag: "Refused", reason: refusal } as const satisfies ReviewRequester
  const now = yield* Clock.currentTimeMillis
  const receipts = yield* Receipts
  for (const one of passed) yield* receipts.settle(one.events, { outcome: "skipped", reason: one.reason }, now)
  if (refusal === undefined || person !== undefined || automatic === undefined || automatic.dueAt <= now)
    return permitted(person, full)
  const { dueAt, priority } = automatic
  return { _tag: "Later", reason: refusal, dueAt, priority } as const satisfies LaterReview
})

const permitted = (person: string | undefined, full: boolean) =>
  ({ _tag: "Permitted", person, full: full ? true : undefined }) as const satisfies ReviewRequester
