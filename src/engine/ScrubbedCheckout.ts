/** A checkout as a model may read it: files without the secrets in them. */
import { Effect } from "effect"
import { scrubSecrets } from "../review/Secrets.ts"
import type { Checkout } from "../vcs/Checkout.ts"

export const scrubbedCheckout = (checkout: Checkout): Checkout => ({
  ...checkout,
  file: (path, at, maxBytes) =>
    Effect.map(checkout.file(path, at, maxBytes), (text) => (text === undefined ? undefined : scrubSecrets(text)))
})
