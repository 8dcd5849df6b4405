/**
 * Requests a decision about an objection of a program to a finding, which goes the way of an objection of a person in a comment, without one. There
 * is one per finding and head: on two nodes and after any crash it is decided once.
 */
import { Effect } from "effect"
import { targetKey, toWordsAbout } from "../../domain/Change.ts"
import type { Change, Dispute } from "../../domain/Change.ts"
import { deliveryKey } from "../../domain/Keys.ts"
import { tokenHolder } from "../../domain/ServiceToken.ts"
import type { TokenRights } from "../../domain/ServiceToken.ts"
import { isConfigured, requestWork } from "./RequestWork.ts"
import type { Requested } from "./RequestWork.ts"

/** Returns the change whose target is the objection. */
export const toDisputed = (reviewed: Change, head: string, token: Pick<TokenRights, "name">, source: Dispute): Change =>
  toWordsAbout(reviewed, head, { author: tokenHolder(token), id: `dispute-${source.fingerprint}-${head}`, source })

export const disputeFinding = Effect.fnUntraced(function* (change: Change, token: Pick<TokenRights, "name">) {
  if (!(yield* isConfigured(change))) return { _tag: "Gone" } satisfies Requested
  const key = deliveryKey(change.provider, `dispute:${targetKey(change)}`)
  return yield* requestWork({ change, event: "dispute", key: () => key, name: tokenHolder(token) })
})
