/**
 * Spaces messages to one recipient of a chat platform, for all nodes: platforms count them per recipient, and WeCom drops what exceeds its
 * limits without an error.
 */
import { createHash } from "node:crypto"
import { Duration, Effect } from "effect"
import type { ForgeError } from "../../forge/ForgeError.ts"
import { HostTraffic } from "../../forge/HostTraffic.ts"
import { pacedWrite, WriteGap } from "../../forge/Pacing.ts"

/** `recipient`: texts that name it, which may be secret. */
export const pacedChat = Effect.fnUntraced(function* <A>(
  recipient: ReadonlyArray<string>,
  gap: Duration.Duration,
  operation: string,
  request: Effect.Effect<A, ForgeError>
) {
  const key = `chat ${createHash("sha256").update(JSON.stringify(recipient)).digest("hex")}`
  const general = yield* WriteGap
  // Zero only in tests.
  const own = Duration.isZero(general) ? general : Duration.max(general, gap)
  return yield* Effect.provideService(pacedWrite((yield* HostTraffic).paces, key, operation, request), WriteGap, own)
})
