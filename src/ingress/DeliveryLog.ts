/** Logs each verified delivery and call of a trigger with its decision, and deliveries whose signature is not valid within limits. */
import { Effect } from "effect"
import type { ForgeKind, TriggerKind } from "../domain/Kinds.ts"
import { logDecision } from "../store/LogDecision.ts"
import type { LoggedDecision } from "../store/LogDecision.ts"
import type { EventRecord } from "../store/Receipts.ts"
import { RepeatedWarnings } from "../domain/RepeatedWarnings.ts"
import type { SignatureCounts } from "./SignatureCounts.ts"

export interface DeliveryLog {
  readonly decided: (record: EventRecord, decided: LoggedDecision) => void
  /** A delivery or call that got 503: nothing was stored. Logged within limits. */
  readonly refused: (provider: TriggerKind, reason: string, eventId: string, now: number) => void
  /** A delivery or call that has no trigger, or no valid API key. Logged within limits. */
  readonly unwanted: (provider: TriggerKind, reason: "trigger_not_configured" | "unauthorized", now: number) => void
  /** An event of a host on a path that is none of the service: the URL of the webhook is wrong. Logged within limits. */
  readonly misdirected: (kind: ForgeKind, path: string, now: number) => void
  /** Counts each of them, and logs within limits. */
  readonly rejectedSignature: (kind: ForgeKind, triggers: ReadonlyArray<string>, client: string, now: number) => void
}

const maxPath = 200

const advice = {
  trigger_not_configured: "configure a trigger of this kind, or correct the URL at the sender",
  unauthorized: "send the key of server.auth.api_key_env, or of auth.api_key_env of the workspace, as X-API-Key"
} as const

export const makeDeliveryLog = (
  run: (effect: Effect.Effect<void>) => void,
  counts: Pick<SignatureCounts, "count">
): DeliveryLog => {
  /** Limits per provider, so that a flood at one does not hide the warnings about another. */
  const rejected = new Map<ForgeKind, RepeatedWarnings>()
  const refused = new RepeatedWarnings()
  const unwanted = new RepeatedWarnings()
  return {
    misdirected: (provider, path, now) => {
      const suppressed = unwanted.admit(`${provider} misdirected`, now)
      if (suppressed === undefined) return
      run(
        Effect.logWarning("event of a host on an unknown path refused", {
          provider,
          path: path.slice(0, maxPath),
          suppressed,
          advice: `set the URL of the webhook at the host to the path /webhooks/${provider}, below server.path_prefix`
        })
      )
    },
    unwanted: (provider, reason, now) => {
      const suppressed = unwanted.admit(`${provider} ${reason}`, now)
      if (suppressed === undefined) return
      run(
        Effect.logWarning("delivery refused, it has no trigger or no valid key", {
          provider,
          reason,
          suppressed,
          advice: advice[reason]
        })
      )
    },
    refused: (provider, reason, eventId, now) => {
      const suppressed = refused.admit(`${provider} ${reason}`, now)
      if (suppressed === undefined) return
      run(
        Effect.logWarning("delivery refused, its sender has to repeat it", {
          event_id: eventId,
          provider,
          reason,
          suppressed
        })
      )
    },
    decided: (record, decided) => run(logDecision(record, decided)),
    rejectedSignature: (provider, triggers, client, now) => {
      counts.count(provider, triggers, client, now)
      const warnings = rejected.get(provider) ?? new RepeatedWarnings()
      rejected.set(provider, warnings)
      const suppressed = warnings.admit(client, now)
      if (suppressed === undefined) return
      run(
        Effect.logWarning("signature of a delivery rejected", {
          provider,
          triggers,
          client,
          suppressed,
          advice: "compare the secret of the webhook at the host with the variable that webhook_secret_env names"
        })
      )
    }
  }
}
