/** The inbound half of a host without a server: checks the signature of a delivery and parses it. */
import { Redacted } from "effect"
import { DeliveryBody } from "../../src/forge/DeliveryBody.ts"
import type { ForgeWebhook, Headers, Parsed } from "../../src/forge/Forge.ts"

/** Runs work on a body to its end, as a server without other requests does. */
export const atOnce = <A>(work: Generator<void, A, void>): A => {
  for (;;) {
    const step = work.next()
    if (step.done === true) return step.value
  }
}

/** Bytes of their own: those of a form are decoded in place. */
const bodyOf = (headers: Headers, body: string | Uint8Array): DeliveryBody =>
  new DeliveryBody(headers, [Uint8Array.from(Buffer.from(body))])

export const isSignedBy = (
  webhook: ForgeWebhook,
  secret: string,
  headers: Headers,
  body: string | Uint8Array,
  now = 0
): boolean => atOnce(bodyOf(headers, body).signedBy(webhook, [Redacted.make(secret)], now)).has(secret)

export const parseBody = (webhook: ForgeWebhook, headers: Headers, body: string | Uint8Array): Parsed =>
  webhook.parse(headers, atOnce(bodyOf(headers, body).json()))
