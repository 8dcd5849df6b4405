/** Compares secrets and signatures in constant time: digests of equal length, so that neither content nor length shows in the duration. */
import { createHash, timingSafeEqual } from "node:crypto"

const digest = (text: string): Buffer => createHash("sha256").update(text).digest()

export const isSameText = (one: string, other: string): boolean => timingSafeEqual(digest(one), digest(other))
