/** The key that signs statements of verdicts (`server.statements`). Only nodes with the role `publisher` read it. */
import { Redacted } from "effect"
import type { Snapshot } from "../config/Snapshot.ts"
import { readSigningKey } from "../domain/SignedStatement.ts"
import type { SigningKey } from "../domain/SignedStatement.ts"
import type { Reason } from "../domain/Reason.ts"

type Configured = Pick<Snapshot, "credential" | "document">

/** Returns whether verdicts get statements. Needs no access to the key. */
export const signsVerdicts = ({ document }: Pick<Snapshot, "document">): boolean => {
  const { private_key, private_key_env } = document.server.statements
  return private_key !== undefined || private_key_env !== undefined
}

/** Returns the key, or why there is none that can be used. */
export const signingKey = ({ credential, document }: Configured): SigningKey | Reason => {
  const secret = credential(document.server.statements, "private_key")
  if (secret === undefined) return { _tag: "SigningKeyMissing" }
  return readSigningKey(Redacted.value(secret)) ?? { _tag: "SigningKeyUnusable" }
}
