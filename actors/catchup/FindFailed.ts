/**
 * Makes a host repeat deliveries that failed, where it logs them: those of a GitHub App. Each is repeated at most once, and only if it would
 * start something that neither a later delivery nor this search has reported.
 */
import { Duration, Effect } from "effect"
import { targetKey } from "../../src/domain/Change.ts"
import type { Change } from "../../src/domain/Change.ts"
import type { HostEvent } from "../../src/domain/HostEvent.ts"
import { newId } from "../../src/domain/Ids.ts"
import { commandKey, deliveryKey } from "../../src/domain/Keys.ts"
import type { HostDeliveries, LoggedDelivery } from "../../src/forge/Forge.ts"
import { CatchUps } from "../../src/store/CatchUps.ts"
import type { CatchUpMark } from "../../src/store/CatchUps.ts"
import { Receipts } from "../../src/store/Receipts.ts"
import type { EventRecord } from "../../src/store/Receipts.ts"
import { continueWithout } from "./FindPulls.ts"
import { admitFound, clockMillis, countFound, overlapMillis, requireRoom } from "./HostSearch.ts"
import type { HostSearch } from "./HostSearch.ts"
import { scopeOfDeliveries } from "./Sources.ts"

/** Attempts that are read of the log. */
const maxListed = 5000

/** Returns the failed deliveries that may start work, the oldest first. Those beyond `max_changes` of a repository are counted. */
const selectFailed = ({ limits, memory, tally }: HostSearch, deliveries: ReadonlyArray<LoggedDelivery>) => {
  const done = new Set(deliveries.flatMap(({ guid, isReceived, isRepeated }) => (isReceived || isRepeated ? guid : [])))
  const counts = new Map<number | undefined, number>()
  const failed: Array<LoggedDelivery> = []
  for (const guid of done) memory.repeated.delete(guid)
  for (const delivery of deliveries) {
    const { guid, mayStart, repositoryId } = delivery
    if (!mayStart || done.has(guid) || memory.repeated.has(guid)) continue
    const count = (counts.get(repositoryId) ?? 0) + 1
    counts.set(repositoryId, count)
    if (count > limits.max_changes) tally.skipped += 1
    else failed.push(delivery)
  }
  return failed.toReversed()
}

/** Returns the key of the record that a delivery was requested again. */
const keyOf = ({ name }: HostSearch["trigger"], guid: string) => deliveryKey("catch-up", `sent-again:${name}:${guid}`)

/** Returns whether a record shows that its work is known: of the same head or comment, or of a later head, or that it was requested again. */
const isCovered = Effect.fnUntraced(function* (
  { kind, trigger }: HostSearch,
  event: HostEvent,
  change: Change,
  { at, guid }: LoggedDelivery
) {
  const key = targetKey(change)
  const all = yield* (yield* Receipts).list({ trigger: trigger.name, targetKey: key, limit: 100 })
  if (all.some((one) => one.deliveryKey === keyOf(trigger, guid))) return true
  const records = all.filter(({ reason }) => reason !== "sent_again")
  if (event._tag === "Commanded") {
    const { comment } = event
    return comment !== undefined && records.some((one) => one.deliveryKey === commandKey(kind, key, comment.id))
  }
  if (event._tag === "PullRequestUpdated" && !event.isHeadOnly) return false
  return records.some(
    ({ facts, receivedAt }) => receivedAt > at || (change.head !== undefined && facts.head === change.head)
  )
})

const repeatFailed = Effect.fnUntraced(function* (
  search: HostSearch,
  { event: readEvent, repeat }: HostDeliveries,
  delivery: LoggedDelivery
) {
  const { memory, trigger } = search
  const { guid, id, repositoryId } = delivery
  if (repositoryId !== undefined && memory.unrouted.has(repositoryId)) return
  const event = yield* readEvent(id)
  if (event === undefined) return
  const admitted = yield* admitFound(search, event)
  if (!admitted.accepted) {
    if (admitted.reason === "repository_not_configured" && repositoryId !== undefined) memory.unrouted.add(repositoryId)
    return
  }
  const { change, workspace } = admitted
  if (yield* isCovered(search, event, change, delivery)) return
  yield* requireRoom(search, workspace.id)
  memory.repeated.add(guid)
  yield* repeat(id)
  countFound(search, workspace.id)
  yield* (yield* Receipts).store(toRecord(search, event, change, guid))
  yield* Effect.logInfo("failed delivery repeated by the host", {
    trigger: trigger.name,
    repository: change.repo.fullName,
    number: event.subject.number,
    guid
  })
})

/** Returns the record of the request, from which the story of its change names the origin of the delivery that follows. */
const toRecord = (
  { kind, now, occasion, trigger }: HostSearch,
  { subject }: HostEvent,
  change: Change,
  guid: string
): EventRecord => ({
  id: newId(),
  deliveryKey: keyOf(trigger, guid),
  provider: kind,
  event: "catch_up",
  action: occasion,
  trigger: trigger.name,
  workspace: change.workspace,
  targetKind: change.target.kind,
  targetKey: targetKey(change),
  repo: change.repo.fullName,
  facts: { number: subject.number, head: subject.head, branch: subject.branch, author: subject.author },
  decision: "ignored",
  reason: "sent_again",
  rule: { _tag: "SentAgain", delivery: guid },
  work: undefined,
  receivedAt: now
})

/** `known`: how far earlier searches have read the log. The first one starts with what follows. */
export const findFailed = Effect.fnUntraced(function* (search: HostSearch, known: CatchUpMark | undefined) {
  const { client, limits, now, tally, trigger } = search
  const { deliveries: log } = client.changes
  if (log === undefined) return
  const { mark } = yield* CatchUps
  const advance = (at: number) => mark({ trigger: trigger.name, scope: scopeOfDeliveries, mark: at })
  if (known === undefined) {
    const { deliveries } = yield* log.list(now - clockMillis, 1)
    return yield* advance(deliveries[0]?.at ?? now - clockMillis)
  }
  const oldest = now - Duration.toMillis(Duration.hours(limits.max_age_hours))
  const { deliveries, more } = yield* log.list(Math.max(known.mark - overlapMillis, oldest), maxListed)
  tally.skipped += more
  for (const delivery of selectFailed(search, deliveries))
    yield* repeatFailed(search, log, delivery).pipe(continueWithout(search, { delivery: delivery.guid }))
  const newest = Math.max(...deliveries.map(({ at }) => at))
  if (newest > known.mark) yield* advance(newest)
})
