/**
 * Five failures in five minutes, per client address and per user name, over all nodes: then nobody may try until one of them is
 * older. A user name is counted by its digest, because people type passwords there.
 */
import { createHash } from "node:crypto"
import { Clock, Effect } from "effect"
import { LoginAttempts } from "../store/LoginAttempts.ts"
import { clientKey } from "./ClientAddress.ts"

const limits = { most: 5, windowMillis: 5 * 60_000, mostOfAll: 20_000 }

/** Runs `check` unless there were too many failures. `Held`: it was not run, and may be in so many seconds. */
export const throttled = Effect.fnUntraced(function* <E, R>(
  address: string,
  username: string,
  check: Effect.Effect<boolean, E, R>
) {
  const attempts = yield* LoginAttempts
  const now = yield* Clock.currentTimeMillis
  const user = createHash("sha256").update(username).digest("hex")
  const attempt = yield* attempts.begin([`address:${clientKey(address)}`, `user:${user}`], limits, now)
  if (attempt._tag === "Held") {
    return { _tag: "Held", seconds: Math.max(1, Math.ceil((attempt.until - now) / 1000)) } as const
  }
  if (!(yield* check)) return { _tag: "Wrong" } as const
  yield* attempts.succeeded(attempt.id)
  return { _tag: "Right" } as const
})
