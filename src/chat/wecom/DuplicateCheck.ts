/** Keys of messages of a WeCom application, which has none of its own. Pure. */
import { createHash } from "node:crypto"

/** Equal requests within this time are one message (`enable_duplicate_check`). */
export const keySeconds = 1800

/**
 * Returns the fields that make a repeated request one message. The platform compares whole requests: the interval differs by key, so that
 * equal texts with different keys are two messages.
 */
export const duplicateCheck = (key: string) => ({
  enable_duplicate_check: 1,
  duplicate_check_interval: keySeconds + (createHash("sha256").update(key).digest().readUInt16BE(0) % 7200)
})
