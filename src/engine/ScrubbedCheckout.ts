/** A checkout as a model may read it: files without the secrets in them. */
import { Effect } from "effect"
import { scrubText } from "../review/ScrubText.ts"
import type { Checkout } from "../vcs/Checkout.ts"
import { runInTurns } from "./Turns.ts"

export const scrubbedCheckout = (checkout: Checkout): Checkout => ({
  ...checkout,
  file: (path, at, maxBytes) =>
    Effect.flatMap(checkout.file(path, at, maxBytes), (text) =>
      text === undefined ? Effect.undefined : runInTurns(scrubText(text))
    )
})
