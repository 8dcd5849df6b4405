/** Limits how many heads of a change coding agents work on per day (`review.conversation.limits.agent_rounds`). */
import { Clock, Effect } from "effect"
import { ConfigStore } from "../../config/ConfigStore.ts"
import { discussedKey } from "../../domain/Change.ts"
import { ReservationId } from "../../domain/Keys.ts"
import { Ledger } from "../../store/Ledger.ts"
import type { Run } from "../../store/Runs.ts"
import { AgentRefusal } from "./AgentRefusal.ts"

/**
 * Counts a reviewed head towards the rounds of its change and day, once. An agent that works until a review is clean ends at this limit: it
 * gets no findings of further heads.
 */
export const countRound = Effect.fnUntraced(function* ({ change, head, workspace }: Run) {
  const snapshot = (yield* ConfigStore).current()
  const configured = snapshot.workspaces.get(workspace)
  if (configured === undefined) return yield* new AgentRefusal({ why: { _tag: "TargetGone" } })
  const max = configured.review.conversation.limits.agent_rounds
  const now = yield* Clock.currentTimeMillis
  const subject = discussedKey(change)
  const counted = (yield* Ledger).count(
    {
      id: ReservationId.make(`agent-round:${subject}:${head}`),
      subject: `agent_rounds:${subject}`,
      period: new Date(now).toISOString().slice(0, "2026-01-31".length),
      max
    },
    now
  )
  if (max === 0 || !(yield* counted)) return yield* new AgentRefusal({ why: { _tag: "AgentRoundsUsed", count: max } })
})
