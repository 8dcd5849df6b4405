/** Names findings that only maintainers get in a statement, without any text of them. Pure. */
import { createHash } from "node:crypto"
import type { PrivateFinding } from "./Analysis.ts"

/** Returns the digest by which a statement names a finding that only maintainers get, in hex. The message to them has its salt. */
export const privateDigest = ({ finding, salt }: PrivateFinding): string =>
  createHash("sha256").update(`${salt}:${finding.fingerprint}`).digest("hex")

/** Returns digests as a statement has them, in an order that does not depend on the findings. */
export const toDigests = (digests: ReadonlyArray<string>) => digests.toSorted().map((sha256) => ({ sha256 }))
