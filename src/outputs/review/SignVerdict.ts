/** Signs the statement of a verdict with the key of the current configuration, and stores it. */
import { Effect } from "effect"
import { errorReason } from "../../domain/Reason.ts"
import type { Operation, Publication } from "../../domain/Publication.ts"
import { signStatement } from "../../domain/SignedStatement.ts"
import type { Snapshot } from "../../config/Snapshot.ts"
import { ForgeError } from "../../forge/ForgeError.ts"
import { checkFence } from "../../forge/WriteOwner.ts"
import { hasStatement, keepStatement, statementKey } from "../../store/Statements.ts"
import type { StoreError } from "../../database/StoreError.ts"
import { unwritten } from "../channels/Channel.ts"
import { signingKey } from "../SigningKeys.ts"

type Statement = Extract<Operation, { readonly _tag: "Statement" }>

const failed = (error: StoreError) =>
  new ForgeError({ reason: "unavailable", operation: "statement", why: errorReason(error) })

const sent = (key: string) => ({ hostId: key, url: undefined, next: [] })

/** Stores the statement as an object. Without a usable key it fails, so that the operator repairs the configuration. */
export const signVerdict = Effect.fnUntraced(function* (
  { id, operationId }: Publication,
  { head, statement, time }: Statement,
  snapshot: Snapshot
) {
  const key = signingKey(snapshot)
  // The operator has removed the key since the verdict.
  if ("_tag" in key && key._tag === "SigningKeyMissing") return { ...unwritten(operationId, key), next: [] }
  if ("_tag" in key) return yield* new ForgeError({ reason: "invalid", operation: "statement", why: key })
  const name = statementKey(head, time, id)
  yield* checkFence
  yield* Effect.mapError(keepStatement(name, signStatement(statement, key)), failed)
  return sent(name)
})

/** Returns the stored statement of a publication whose outcome is unknown. */
export const findSignedVerdict = Effect.fnUntraced(function* ({ id }: Publication, { head, time }: Statement) {
  const name = statementKey(head, time, id)
  return (yield* Effect.mapError(hasStatement(name), failed)) ? sent(name) : undefined
})
