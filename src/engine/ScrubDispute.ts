/** Removes secrets from an objection of a program before it is stored: the program copies code, and may copy what is not meant for records. */
import type { Dispute } from "../domain/Change.ts"
import { scrubSecrets } from "../review/Secrets.ts"

export const scrubDispute = ({ fingerprint, path, quote, reason }: Dispute): Dispute => ({
  fingerprint,
  path,
  quote: scrubSecrets(quote),
  reason: scrubSecrets(reason)
})
