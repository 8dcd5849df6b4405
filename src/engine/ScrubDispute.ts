/** Removes secrets from an objection of a program before it is stored: the program copies code, and may copy what is not meant for records. */
import type { Dispute } from "../domain/Change.ts"
import { scrubSecrets } from "../review/Secrets.ts"

export const scrubDispute = ({ quote, reason, ...about }: Dispute): Dispute => ({
  ...about,
  quote: scrubSecrets(quote),
  reason: scrubSecrets(reason)
})
