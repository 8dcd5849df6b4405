/**
 * Limits guessing of passwords, over all nodes. After five failures in five minutes a client address is locked until one of them is older.
 * A user name is never locked, because that would let any client lock the administrator out: after five failures from any addresses its
 * attempts are delayed, longer with each. A user name is counted by its digest, because people type passwords there.
 */
import { createHash } from "node:crypto"
import { Clock, Effect } from "effect"
import { backoffMillis, doubling } from "../../domain/Backoff.ts"
import { LoginAttempts } from "../../store/LoginAttempts.ts"
import type { CredentialMatch } from "../AdminCredentials.ts"

const limits = { perClient: 5, windowMillis: 5 * 60_000, total: 20_000 }
const undelayedFailures = 4
const delays = doubling(500, 8000)

/** Returns the delay of an attempt for a user name with this number of failures. */
export const delayMillis = (failures: number): number =>
  failures <= undelayedFailures ? 0 : backoffMillis(delays, failures - undelayedFailures, 0)

/** Runs `check` unless there were too many failures. `Held`: it was not run, and may be in this number of seconds. */
export const throttled = Effect.fnUntraced(function* <E, R>(
  client: string,
  username: string,
  check: Effect.Effect<CredentialMatch, E, R>
) {
  const attempts = yield* LoginAttempts
  const now = yield* Clock.currentTimeMillis
  const user = createHash("sha256").update(username).digest("hex")
  const attempt = yield* attempts.begin({ client: `address:${client}`, user: `user:${user}` }, limits, now)
  if (attempt._tag === "Held") {
    return { _tag: "Held", seconds: Math.max(1, Math.ceil((attempt.until - now) / 1000)) } as const
  }
  yield* Effect.sleep(delayMillis(attempt.userFailures))
  const { isKnownName, isRight } = yield* check
  if (!isRight) return { _tag: "Wrong", isKnownName } as const
  yield* attempts.succeeded(attempt.id)
  return { _tag: "Right" } as const
})
