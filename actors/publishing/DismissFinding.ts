/**
 * Dismisses a finding for a person who pressed a button in chat, which takes effect immediately (RuleFinding.ts). The publisher of the target does it,
 * so that all writes to the target are serial. May be repeated.
 */
import { Effect, Schema } from "effect"
import { ConfigStore } from "../../src/config/ConfigStore.ts"
import { ChatPrincipal } from "../../src/domain/ChatRequest.ts"
import { newId } from "../../src/domain/Ids.ts"
import { Outputs } from "../../src/outputs/Outputs.ts"
import { Runs } from "../../src/store/Runs.ts"
import { ruleFinding } from "./RuleFinding.ts"
import type { TargetHold } from "./TargetHold.ts"
import { missingToken } from "../review/MissingToken.ts"

export const DismissalRequest = Schema.Struct({
  runId: Schema.String,
  fp: Schema.String,
  connection: Schema.String,
  person: ChatPrincipal
})
export type DismissalRequest = typeof DismissalRequest.Type

/** `unavailable`: try again later. `failed`: the host refused it, or the configuration no longer contains what is needed. */
export const DismissalOutcome = Schema.Literals([
  "dismissed",
  "not_permitted",
  "no_account",
  "own_change",
  "not_published",
  "unavailable",
  "failed"
])
export type DismissalOutcome = typeof DismissalOutcome.Type

export const dismissFinding = Effect.fnUntraced(function* (
  hold: TargetHold,
  { connection: connectionId, fp, person, runId }: DismissalRequest
) {
  const run = yield* (yield* Runs).get(runId)
  const snapshot = (yield* ConfigStore).current()
  const workspace = run === undefined ? undefined : snapshot.workspaces.get(run.workspace)
  const { connections } = snapshot.document.im
  const connection = Object.hasOwn(connections, connectionId) ? connections[connectionId] : undefined
  if (run === undefined || workspace === undefined || connection === undefined) return "failed"
  if ((yield* missingToken(snapshot, run.change.trigger)) !== undefined) return "unavailable"
  const { change, head, targetKey } = run
  const dismissed = (yield* Outputs).dismiss(workspace, change, { fp, head, person, connection, connectionId })
  const outcome = yield* Effect.catch(dismissed, (error) => {
    const isTransient =
      error._tag === "ForgeError" && ["unavailable", "rate_limited", "unknown_outcome"].includes(error.reason)
    return Effect.logWarning("finding not dismissed", { run_id: runId, fingerprint: fp, error: error.message }).pipe(
      Effect.as(isTransient ? ("unavailable" as const) : ("failed" as const))
    )
  })
  if (outcome !== "dismissed") return outcome
  const ruled = yield* ruleFinding(hold, targetKey, {
    fp,
    counts: false,
    // The author of the change may not.
    person: { username: undefined },
    head: undefined,
    cause: newId()
  })
  return ruled === "lost" ? "unavailable" : outcome
})
