/** A checkout as a model may read it: files without the secrets in them. */
import { Effect } from "effect"
import { CheckoutError } from "../vcs/Checkout.ts"
import type { Checkout } from "../vcs/Checkout.ts"
import type { ChangeThread } from "./threads/ChangeThreads.ts"

export const scrubbedCheckout = (change: ChangeThread, checkout: Checkout): Checkout => ({
  ...checkout,
  file: (path, at, maxBytes) =>
    Effect.flatMap(checkout.file(path, at, maxBytes), (text) =>
      text === undefined
        ? Effect.undefined
        : Effect.mapError(
            change.run("scrubText", text),
            ({ message }) => new CheckoutError({ reason: "failed", message })
          )
    )
})
