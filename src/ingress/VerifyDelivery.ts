/** Verifies a delivery with the secrets of its host's triggers, and decodes what is verified. */
import { Redacted } from "effect"
import type { TriggerProfile } from "../config/Snapshot.ts"
import type { DeliveryBody } from "../forge/DeliveryBody.ts"
import type { ForgeWebhook } from "../forge/Forge.ts"

interface VerifiedDelivery {
  /** Triggers that the delivery may belong to: those whose secret signed it, and those without a secret. */
  readonly verified: ReadonlyArray<TriggerProfile>
  /** Undefined if no trigger verified the delivery, or the form has no payload. */
  readonly payload: Uint8Array | undefined
}

export const listSecrets = (profiles: ReadonlyArray<TriggerProfile>): ReadonlyArray<Redacted.Redacted> =>
  profiles.flatMap(({ webhookSecret }) => webhookSecret ?? [])

/** Returns the triggers and the payload of a delivery. A generator, because both take time with a large body. */
export function* verifyDelivery(
  profiles: ReadonlyArray<TriggerProfile>,
  webhook: ForgeWebhook,
  delivery: DeliveryBody,
  now: number
): Generator<void, VerifiedDelivery, void> {
  const matching = yield* delivery.signedBy(webhook, listSecrets(profiles), now)
  const verified = profiles.filter(
    ({ webhookSecret }) => webhookSecret === undefined || matching.has(Redacted.value(webhookSecret))
  )
  return { verified, payload: verified.length === 0 ? undefined : yield* delivery.json() }
}
