/**
 * Records the ends of shelved changelists, after which it is decided what became of their findings (actors/outcomes): their submits, and that
 * they were deleted without one. A hook reports the number that a changelist had before its submit; one that was not renumbered has the number
 * of its shelf. No hook reports a deleted shelf: the search for missed changes finds it, and submits that no hook reported.
 */
import { createHash } from "node:crypto"
import { Clock, Duration, Effect, Result } from "effect"
import { ConfigStore } from "../../src/config/ConfigStore.ts"
import type { TriggerProfile } from "../../src/config/Snapshot.ts"
import type { StoreError } from "../../src/database/StoreError.ts"
import type { CatchUpOccasion } from "../../src/domain/CatchUpOccasion.ts"
import { numberOrBranch, readShelfName } from "../../src/domain/Change.ts"
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
import type { EndedShelf, ShelvesRequest } from "../../src/vcs/SubmittedChanges.ts"
import type { Found, HookReport } from "./SelectTriggers.ts"

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
const storeEnds = Effect.fnUntraced(function* (
  ends: ReadonlyArray<EventRecord>,
  fields: Readonly<Record<string, string>>
) {
  if (ends.length === 0) return
  const stored = yield* (yield* Receipts).storeAll(ends)
  for (const [at, end] of ends.entries())
    if (stored[at]?._tag === "Stored")
      yield* logDecision(end, { eventId: end.id, decision: "ignored", reason: "closed" }, fields)
})

/** Returns undefined for a target that has no name of a shelf. */
const toShelf = (
  { name }: Pick<TriggerProfile, "name">,
  { decidedAt, repo, targetKey, workspace }: OpenShelf
): (Shelf & Pick<OpenShelf, "decidedAt">) | undefined => {
  const target = { kind: "commit" } as const
  const shelf = readShelfName(numberOrBranch(targetKey, { trigger: name, repo: { fullName: repo }, target }))
  return shelf && { targetKey, workspace, repo, decidedAt, author: undefined, ...shelf }
}

/** Returns the shelves of this number, in each branch and workspace: those with findings, and those whose review may not have ended. */
const findShelves = Effect.fnUntraced(function* (trigger: TriggerProfile, number: number) {
  const open = (yield* (yield* Settlements).openShelves(trigger.name)).flatMap((one) => toShelf(trigger, one) ?? [])
  const records = yield* (yield* Receipts).list({ trigger: trigger.name, number, limit: maxRecords })
  const reported = records.flatMap(
    ({ facts, reason, repo, targetKey, targetKind, workspace }): ReadonlyArray<Shelf> => {
      const { author, branch } = facts
      if (targetKind !== "commit" || targetKey === undefined || reason === "closed") return []
      return [{ targetKey, workspace, repo, number, branch: readShelfName(branch ?? "")?.branch ?? branch, author }]
    }
  )
  const shelves = [...open.filter((shelf) => shelf.number === number), ...reported]
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
      yield* storeEnds(ends, { reported_by: event.id })
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
  const open = yield* (yield* Settlements).openShelves(trigger.name)
  if (server === undefined || "_tag" in server || open.length === 0) return undefined
  const shelves = open.flatMap((one) => toShelf(trigger, one) ?? [])
  const read = yield* Effect.result(readEnds(server, shelves))
  if (Result.isFailure(read)) {
    const { reason: failure, why } = read.failure
    return { _tag: "ServerFailed", failure, trigger: trigger.name, reason: why }
  }
  const receivedAt = yield* Clock.currentTimeMillis
  const toOccasion = ({ submittedAs }: EndedShelf, decidedAt: number): Occasion => ({
    // A shelf that is made again may be deleted again: its outcomes are newer then.
    id: submittedAs === undefined ? ["abandoned", decidedAt] : ["submitted", submittedAs],
    event: "catch_up",
    action: occasion,
    rule: { _tag: "FoundWithoutReport", trigger: trigger.name },
    receivedAt,
    head: submittedAs,
    sender: undefined
  })
  const ended = new Map(read.success.map((end) => [Number(end.changelist), end]))
  const ends = shelves.flatMap((shelf) => {
    const end = ended.get(shelf.number)
    return end === undefined ? [] : [toEnd(trigger, shelf, toOccasion(end, shelf.decidedAt))]
  })
  yield* storeEnds(ends, { occasion })
  return undefined
})
