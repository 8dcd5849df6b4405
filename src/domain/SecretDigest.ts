/** Digest of a secret that the service wrote at a host, to notice that another one is configured. Slow, so that it does not help to guess. */
import { scryptSync } from "node:crypto"
import { Redacted } from "effect"

/** `purpose` separates equal secrets. */
export const digestSecret = (secret: Redacted.Redacted, purpose: string): string =>
  scryptSync(Redacted.value(secret), `aicr ${purpose}`, 16).toString("hex")
