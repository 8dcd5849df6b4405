/** Texts as a model may read them: without the secrets in them. */
import { Effect } from "effect"
import { CheckoutError } from "../../vcs/Checkout.ts"
import type { Checkout } from "../../vcs/Checkout.ts"
import type { AnalysisError } from "../AnalysisError.ts"
import type { ChangeThread } from "../ChangeThreads.ts"

/** Scrubs a text of any length in the thread of the change. */
export const scrub = (change: ChangeThread, text: string): Effect.Effect<string, AnalysisError> =>
  Effect.map(change.run("scrubText", text), (scrubbed) => scrubbed ?? text)

/** A checkout whose files have no secrets. */
export const scrubbedCheckout = (change: ChangeThread, checkout: Checkout): Checkout => ({
  ...checkout,
  blobs: undefined,
  file: (path, at, maxBytes) =>
    Effect.flatMap(checkout.file(path, at, maxBytes), (text) =>
      text === undefined
        ? Effect.undefined
        : Effect.mapError(scrub(change, text), ({ why }) => new CheckoutError({ reason: "failed", why }))
    )
})
