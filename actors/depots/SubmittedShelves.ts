/**
 * Records that shelved changelists were submitted: the end of their changes, after which it is decided what became of their findings
 * (actors/outcomes). A hook reports the number that a changelist had before its submit; one that was not renumbered has the number of its shelf.
 */
import { createHash } from "node:crypto"
import { Effect } from "effect"
import { newId } from "../../src/domain/Ids.ts"
import { deliveryKey } from "../../src/domain/Keys.ts"
import { logDecision } from "../../src/store/LogDecision.ts"
import { Receipts } from "../../src/store/Receipts.ts"
import type { EventRecord, StoredEvent } from "../../src/store/Receipts.ts"
import type { Found, HookReport } from "./SelectTriggers.ts"

/** Records of a number that are read: the newest deliveries about the shelf. */
const maxRecords = 200

/** Repeated reports of a submit have the same key. */
const toEnd = (
  { event, routing: { revision, user } }: HookReport,
  {
    facts,
    number,
    provider,
    repo,
    targetKey,
    targetKind,
    trigger,
    workspace
  }: StoredEvent & { readonly number: number }
): EventRecord => ({
  id: newId(),
  deliveryKey: deliveryKey(
    provider,
    `submitted:${createHash("sha256")
      .update(JSON.stringify([targetKey, revision]))
      .digest("hex")}`
  ),
  provider,
  event: event.event,
  action: undefined,
  trigger,
  workspace,
  targetKind,
  targetKey,
  repo,
  facts: {
    number,
    head: revision,
    branch: facts.branch?.replace(/@=\d+$/, ""),
    author: facts.author,
    sender: user ?? facts.author
  },
  decision: "ignored",
  reason: "closed",
  rule: { _tag: "ReportedBy", event: event.id },
  work: undefined,
  receivedAt: event.receivedAt
})

/** Returns one record per shelf that had this number, in each branch and workspace. */
const findShelves = Effect.fnUntraced(function* (trigger: string, number: number) {
  const records = yield* (yield* Receipts).list({ trigger, number, limit: maxRecords })
  const shelves = records.filter(({ reason, targetKind, targetKey }) => {
    return targetKind === "commit" && targetKey !== undefined && reason !== "closed"
  })
  return [...new Map(shelves.map((record) => [record.targetKey, record])).values()]
})

/** Stores the ends of the shelves that these reports are the submits of. May be repeated. */
export const recordSubmits = Effect.fnUntraced(function* (
  reports: ReadonlyArray<HookReport & { readonly matching: ReadonlyArray<Found> }>
) {
  const receipts = yield* Receipts
  for (const report of reports) {
    const { base, revision, vcs } = report.routing
    if (vcs !== "perforce") continue
    const number = Number(base ?? revision)
    for (const { submitted, trigger } of report.matching) {
      if (submitted.state !== "submitted") continue
      const ends = (yield* findShelves(trigger.name, number)).map((shelf) => toEnd(report, { ...shelf, number }))
      if (ends.length === 0) continue
      const stored = yield* receipts.storeAll(ends)
      for (const [at, end] of ends.entries())
        if (stored[at]?._tag === "Stored")
          yield* logDecision(
            end,
            { eventId: end.id, decision: "ignored", reason: "closed" },
            { reported_by: report.event.id }
          )
    }
  }
})
