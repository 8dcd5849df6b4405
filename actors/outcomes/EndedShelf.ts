/** The end of a shelved changelist of Perforce: the files of its branch at the changelist as which it was submitted, or that it was deleted. */
import { Effect } from "effect"
import type { Snapshot } from "../../src/config/Snapshot.ts"
import type { OutcomeRecord } from "../../src/domain/FindingOutcome.ts"
import { settleChange } from "../../src/engine/SettleChange.ts"
import type { ClaimedEnd } from "../../src/store/Settlements.ts"
import { Vcs } from "../../src/vcs/Checkout.ts"
import { toTriggerServer } from "../../src/vcs/ConfiguredServer.ts"
import type { ReadEnd } from "./EndedPull.ts"

/**
 * Reads the end of a shelf, whose files are deleted by its submit. Undefined: its workspace or its server is no longer configured. Only its author
 * submits it. The findings of a shelf that was deleted are what its newest review found.
 */
export const readEndedShelf = Effect.fnUntraced(function* (
  { branch, head, trigger, workspace }: ClaimedEnd,
  snapshot: Snapshot,
  records: ReadonlyArray<OutcomeRecord>
) {
  const profile = snapshot.triggers.get(trigger)
  if (profile === undefined || !snapshot.workspaces.has(workspace)) return undefined
  const server = toTriggerServer(profile, snapshot)
  if (server === undefined || "_tag" in server || branch === undefined) return undefined
  if (head === undefined) {
    const change = { end: "closed", head: records[0]?.head ?? "", baseRef: branch, mergedBy: undefined } as const
    return { change, records, states: records.map(({ outcome }) => outcome) } satisfies ReadEnd
  }
  const base = String(Math.max(0, Number(head) - 1))
  const checkout = yield* (yield* Vcs).checkout({ vcs: server.vcs, server, branch, head, base })
  const states = yield* settleChange(checkout, records, "before")
  return { change: { end: "merged", head, baseRef: branch, mergedBy: "author" }, records, states } satisfies ReadEnd
}, Effect.scoped)
