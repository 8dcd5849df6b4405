/**
 * Determines who requested a review. Requests for the same review share an entry, which names the first person. One who may not request is
 * passed over: what the host reported and what other people requested is reviewed as if there had been no such request, at its own time.
 */
import { Clock, Effect } from "effect"
import { isTrustedRequester } from "../../src/domain/Change.ts"
import type { Repo } from "../../src/domain/Change.ts"
import type { Entry } from "../../src/domain/Entry.ts"
import type { Reason } from "../../src/domain/Reason.ts"
import type { ForgeClient } from "../../src/forge/Forge.ts"
import { Receipts } from "../../src/store/Receipts.ts"
import type { ForgeError } from "../../src/forge/ForgeError.ts"

type ReviewRequester =
  /** `person` is undefined if the review is automatic. */
  | { readonly _tag: "Permitted"; readonly person: string | undefined }
  | { readonly _tag: "Refused"; readonly reason: Reason }
  /** The automatic review is due later. */
  | { readonly _tag: "Later"; readonly reason: Reason; readonly until: number }

/** Returns why the person may not request a review; undefined if they may. What the host does not disclose is no permission. */
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

/** Reads the deliveries that the entry combines: those of each person, and when the earliest automatic one is due. */
const readRequests = Effect.fnUntraced(function* ({ events }: Entry) {
  const receipts = yield* Receipts
  const people = new Map<string, Array<string>>()
  let due: number | undefined
  for (const id of events) {
    const work = (yield* receipts.get(id))?.work
    const person = work?.change.requestedBy
    if (person !== undefined) people.set(person, [...(people.get(person) ?? []), id])
    else if (work !== undefined) due = Math.min(due ?? work.dueAt, work.dueAt)
  }
  return { people, due }
})

export const findRequester = Effect.fnUntraced(function* (entry: Entry, client: ForgeClient) {
  const { change, targetKey } = entry
  const first = change.requestedBy
  if (first === undefined) return { _tag: "Permitted", person: undefined } as const satisfies ReviewRequester
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
  if (refusal === undefined) return { _tag: "Permitted", person: first } as const satisfies ReviewRequester
  const { due, people } = yield* readRequests(entry)
  const passed: Array<readonly [reason: Reason, events: ReadonlyArray<string>]> = [[refusal, people.get(first) ?? []]]
  people.delete(first)
  let permitted: string | undefined
  for (const [person, events] of people) {
    const reason = yield* refuse(person)
    if (reason !== undefined) passed.push([reason, events])
    else permitted ??= person
  }
  if (permitted === undefined && due === undefined)
    return { _tag: "Refused", reason: refusal } as const satisfies ReviewRequester
  const now = yield* Clock.currentTimeMillis
  const receipts = yield* Receipts
  for (const [reason, events] of passed) yield* receipts.settle(events, { outcome: "skipped", reason }, now)
  return permitted === undefined && due !== undefined && due > now
    ? ({ _tag: "Later", reason: refusal, until: due } as const satisfies ReviewRequester)
    : ({ _tag: "Permitted", person: permitted } as const satisfies ReviewRequester)
})
