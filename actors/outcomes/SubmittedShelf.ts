/** The end of a shelved changelist of Perforce: the files of its branch at the changelist as which it was submitted. */
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
 * submits it.
 */
export const readSubmittedShelf = Effect.fnUntraced(function* (
  { branch, head, trigger, workspace }: ClaimedEnd,
  snapshot: Snapshot,
  records: ReadonlyArray<OutcomeRecord>
) {
  const profile = snapshot.triggers.get(trigger)
  if (profile === undefined || !snapshot.workspaces.has(workspace)) return undefined
  const server = toTriggerServer(profile, snapshot)
  if (server === undefined || "_tag" in server || branch === undefined || head === undefined) return undefined
  const base = String(Math.max(0, Number(head) - 1))
  const checkout = yield* (yield* Vcs).checkout({ vcs: server.vcs, server, branch, head, base })
  const states = yield* settleChange(checkout, records, "before")
  return { change: { end: "merged", head, baseRef: branch, mergedBy: "author" }, records, states } satisfies ReadEnd
}, Effect.scoped)
