/**
 * Records the ends of shelved changelists, after which it is decided what became of their findings (actors/outcomes): their submits, and that
 * they were deleted without one. A hook reports the number that a changelist had before its submit; one that was not renumbered has the number
 * of its shelf. The search for missed changes finds deleted shelves, and submits, that no hook reported.
 */
import { createHash } from "node:crypto"
import { Clock, Duration, Effect, Result } from "effect"
import { ConfigStore } from "../../src/config/ConfigStore.ts"
import type { Snapshot, TriggerProfile } from "../../src/config/Snapshot.ts"
import type { StoreError } from "../../src/database/StoreError.ts"
import type { CatchUpOccasion } from "../../src/domain/CatchUpOccasion.ts"
import { numberOrBranch, readShelfName } from "../../src/domain/Change.ts"
import type { DepotChange } from "../../src/domain/DepotChange.ts"
import { newId } from "../../src/domain/Ids.ts"
import { deliveryKey } from "../../src/domain/Keys.ts"
import type { Reason } from "../../src/domain/Reason.ts"
import { logDecision } from "../../src/store/LogDecision.ts"
import { Receipts } from "../../src/store/Receipts.ts"
import type { EventRecord } from "../../src/store/Receipts.ts"
import { Settlements } from "../../src/store/Settlements.ts"
import type { OpenShelf } from "../../src/store/Settlements.ts"
import { CheckoutError } from "../../src/vcs/Checkout.ts"
import { toTriggerServer } from "../../src/vcs/ConfiguredServer.ts"
import { SubmittedChanges } from "../../src/vcs/SubmittedChanges.ts"
import type { ShelvesRequest } from "../../src/vcs/SubmittedChanges.ts"
import { settled, toFailed, toUnreadable, whyNot } from "./SelectTriggers.ts"
import type { Found, HookReport, RoutedEvent, TriggerReply } from "./SelectTriggers.ts"

/** Records of a number that are read: the newest deliveries about the shelf. */
const maxRecords = 200
/** Timeout of a search for shelves. */
const searchSeconds = 120

/** A shelf of a trigger. */
interface Shelf extends Pick<EventRecord, "targetKey" | "workspace" | "repo"> {
  readonly number: number
  readonly branch: string | undefined
  readonly author: string | undefined
}

/** The source of the end of a shelf. `id`: the same in repeated records of this end. */
interface Occasion extends Pick<EventRecord, "event" | "action" | "rule" | "receivedAt"> {
  readonly id: readonly [kind: "submitted" | "abandoned", value: string | number]
  readonly head: string | undefined
  readonly sender: string | undefined
}

const toEnd = (
  { name }: Pick<TriggerProfile, "name">,
  { author, branch, number, repo, targetKey, workspace }: Shelf,
  { action, event, head, id: [kind, value], receivedAt, rule, sender }: Occasion
): EventRecord => ({
  id: newId(),
  deliveryKey: deliveryKey(
    "perforce",
    `${kind}:${createHash("sha256")
      .update(JSON.stringify([targetKey, value]))
      .digest("hex")}`
  ),
  provider: "perforce",
  event,
  action,
  trigger: name,
  workspace,
  targetKind: "commit",
  targetKey,
  repo,
  facts: { number, head, branch, author, sender: sender ?? author },
  decision: "ignored",
  reason: "closed",
  rule,
  work: undefined,
  receivedAt
})

/** Stores the ends. May be repeated. */
const storeEnds = Effect.fnUntraced(function* (ends: ReadonlyArray<EventRecord>) {
  if (ends.length === 0) return
  const stored = yield* (yield* Receipts).storeAll(ends)
  for (const [at, end] of ends.entries())
    if (stored[at]?._tag === "Stored")
      yield* logDecision(end, { eventId: end.id, decision: "ignored", reason: "closed" }, sourceOf(end))
})

const sourceOf = ({ action, rule }: EventRecord): Readonly<Record<string, string>> =>
  rule?._tag === "ReportedBy" ? { reported_by: rule.event } : action === undefined ? {} : { occasion: action }

/** Returns undefined for a target that has no name of a shelf. */
const toShelf = (
  { name }: Pick<TriggerProfile, "name">,
  { decidedAt, repo, targetKey, workspace }: OpenShelf
): (Shelf & Pick<OpenShelf, "decidedAt">) | undefined => {
  const target = { kind: "commit" } as const
  const shelf = readShelfName(numberOrBranch(targetKey, { trigger: name, repo: { fullName: repo }, target }))
  return shelf && { targetKey, workspace, repo, decidedAt, author: undefined, ...shelf }
}

/** Returns the shelves of a trigger whose findings have no outcome, of these numbers if there are any. */
const readOpen = (trigger: TriggerProfile, numbers?: ReadonlyArray<number>) =>
  Effect.map(
    Effect.flatMap(Settlements, (settlements) => settlements.openShelves(trigger.name, numbers)),
    (open) => open.flatMap((one) => toShelf(trigger, one) ?? [])
  )

/** Returns the shelves of this number, in each branch and workspace: those with findings, and those whose review may not have ended. */
const findShelves = Effect.fnUntraced(function* (trigger: TriggerProfile, number: number) {
  const open = yield* readOpen(trigger, [number])
  const records = yield* (yield* Receipts).list({ trigger: trigger.name, number, limit: maxRecords })
  const reported = records.flatMap(
    ({ facts, reason, repo, targetKey, targetKind, workspace }): ReadonlyArray<Shelf> => {
      const { author, branch } = facts
      if (targetKind !== "commit" || targetKey === undefined || reason === "closed") return []
      return [{ targetKey, workspace, repo, number, branch: readShelfName(branch ?? "")?.branch ?? branch, author }]
    }
  )
  const shelves = [...open, ...reported]
  return [...new Map(shelves.map((shelf) => [shelf.targetKey, shelf])).values()]
})

/** Stores the ends of the shelves that these reports are the submits of. */
export const recordSubmits = Effect.fnUntraced(function* (
  reports: ReadonlyArray<HookReport & { readonly matching: ReadonlyArray<Found> }>
) {
  for (const { event, matching, routing } of reports) {
    const { base, revision, user, vcs } = routing
    if (vcs !== "perforce") continue
    const occasion: Occasion = {
      id: ["submitted", revision],
      event: event.event,
      action: undefined,
      rule: { _tag: "ReportedBy", event: event.id },
      receivedAt: event.receivedAt,
      head: revision,
      sender: user
    }
    for (const { submitted, trigger } of matching) {
      if (submitted.state !== "submitted") continue
      const shelves = yield* findShelves(trigger, Number(base ?? revision))
      const ends = shelves.map((shelf) => toEnd(trigger, shelf, occasion))
      yield* storeEnds(ends)
    }
  }
})

const readEnds = Effect.fnUntraced(function* (server: ShelvesRequest["server"], shelves: ReadonlyArray<Shelf>) {
  const timeout = new CheckoutError({ reason: "unreachable", why: { _tag: "ServerSlow", seconds: searchSeconds } })
  const branches = new Set(shelves.flatMap(({ branch }) => branch ?? []))
  return yield* (yield* SubmittedChanges)
    .endedShelves({
      server,
      branches: [...branches],
      changelists: [...new Set(shelves.map(({ number }) => String(number)))]
    })
    .pipe(Effect.timeoutOrElse({ duration: Duration.seconds(searchSeconds), orElse: () => timeout }))
})

/** A shelf that may have ended, and what its end would be recorded with. */
interface EndingShelf extends Shelf, Pick<OpenShelf, "decidedAt"> {
  readonly occasion: Omit<Occasion, "id" | "head">
}

/** Returns the ends of those shelves that no longer exist. */
const findEnds = (trigger: TriggerProfile, server: ShelvesRequest["server"], shelves: ReadonlyArray<EndingShelf>) =>
  Effect.map(readEnds(server, shelves), (read) => {
    const ended = new Map(read.map((end) => [Number(end.changelist), end]))
    return shelves.flatMap((shelf) => {
      const end = ended.get(shelf.number)
      if (end === undefined) return []
      const { submittedAs: head } = end
      // A shelf that is made again may be deleted again: its outcomes are newer then.
      const id: Occasion["id"] = head === undefined ? ["abandoned", shelf.decidedAt] : ["submitted", head]
      return [toEnd(trigger, shelf, { ...shelf.occasion, id, head })]
    })
  })

const toOccasion = ({ event, routing }: HookReport): EndingShelf["occasion"] => ({
  event: event.event,
  action: undefined,
  rule: { _tag: "ReportedBy", event: event.id },
  receivedAt: event.receivedAt,
  sender: routing.user
})

/** Numbers of the reported shelves that a trigger has, one for each shelf. */
interface ReportedShelves {
  readonly found: ReadonlyArray<number>
  /** The ones that no longer exist. */
  readonly ended: ReadonlyArray<number>
  /** The reason why that is not known. */
  readonly failure?: TriggerReply
}

/** Reads the reported shelves of a trigger by one statement and at most one call of its server, and stores the ends of those that are deleted. */
const endReported = Effect.fnUntraced(function* (
  trigger: TriggerProfile,
  reports: ReadonlyArray<HookReport>,
  snapshot: Snapshot
): Effect.fn.Return<ReportedShelves, StoreError, Receipts | Settlements | SubmittedChanges> {
  // The first report of a shelf is the source of its end.
  const byNumber = new Map(reports.toReversed().map((report) => [Number(report.routing.revision), report]))
  const shelves = (yield* readOpen(trigger, [...byNumber.keys()])).flatMap((shelf): ReadonlyArray<EndingShelf> => {
    const report = byNumber.get(shelf.number)
    return report === undefined ? [] : [{ ...shelf, occasion: toOccasion(report) }]
  })
  const found = shelves.map(({ number }) => number)
  if (shelves.length === 0) return { found, ended: [] }
  const server = toTriggerServer(trigger, snapshot)
  if (server === undefined || "_tag" in server) return { found, ended: [], failure: toUnreadable(trigger, server) }
  const ends = yield* Effect.result(findEnds(trigger, server, shelves))
  if (Result.isFailure(ends)) return { found, ended: [], failure: toFailed(trigger, ends.failure) }
  yield* storeEnds(ends.success)
  return { found, ended: ends.success.flatMap(({ facts }) => facts.number ?? []) }
})

/**
 * Routes reports that shelves are deleted, together: any number of them costs a statement and a call of the server for each trigger. The server
 * decides whether a shelf is deleted: its trigger may run before that, and files of a shelf may be deleted while others remain.
 */
export const routeDeleted = Effect.fnUntraced(function* (
  reports: ReadonlyArray<HookReport>,
  snapshot: Snapshot
): Effect.fn.Return<ReadonlyMap<string, RoutedEvent>, StoreError, Receipts | Settlements | SubmittedChanges> {
  const triggers = [...new Set(reports.flatMap((report) => report.triggers))]
  const reported = yield* Effect.forEach(triggers, (trigger) =>
    endReported(
      trigger,
      reports.filter((report) => report.triggers.includes(trigger)),
      snapshot
    )
  )
  return new Map(reports.map(({ event, routing }) => [event.id, decideDeleted(routing, reported)]))
})

const decideDeleted = (routing: DepotChange, reported: ReadonlyArray<ReportedShelves>): RoutedEvent => {
  const { revision } = routing
  const number = Number(revision)
  const own = reported.filter(({ found }) => found.includes(number))
  if (own.length === 0) return settled("skipped", { _tag: "ShelfWithoutFindings", revision })
  const failures = own.flatMap(({ failure }) => failure ?? [])
  if (failures.length > 0) return whyNot(failures, routing)
  const count = (list: "ended" | "found") => own.flatMap((one) => one[list]).filter((one) => one === number).length
  return count("ended") < count("found")
    ? { _tag: "Waiting", reason: { _tag: "ShelfExists", revision }, isOutage: false }
    : settled("executed", { _tag: "ShelfEnded", revision })
}

/** Stores the ends of shelves that no longer exist. Returns why it could not search for them. */
export const searchShelves = Effect.fnUntraced(function* ({
  occasion,
  trigger
}: {
  readonly occasion: CatchUpOccasion
  readonly trigger: TriggerProfile
}): Effect.fn.Return<Reason | undefined, StoreError, ConfigStore | Receipts | Settlements | SubmittedChanges> {
  if (trigger.kind !== "perforce") return undefined
  const server = toTriggerServer(trigger, (yield* ConfigStore).current())
  const shelves = yield* readOpen(trigger)
  if (server === undefined || "_tag" in server || shelves.length === 0) return undefined
  const rule = { _tag: "FoundWithoutReport", trigger: trigger.name } as const
  const receivedAt = yield* Clock.currentTimeMillis
  const own = { event: "catch_up", action: occasion, rule, receivedAt, sender: undefined }
  const ends = yield* Effect.result(
    findEnds(
      trigger,
      server,
      shelves.map((shelf) => ({ ...shelf, occasion: own }))
    )
  )
  if (Result.isFailure(ends)) return toFailed(trigger, ends.failure).reason
  yield* storeEnds(ends.success)
  return undefined
})
