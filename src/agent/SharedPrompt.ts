/**
 * Conversations that begin with the same prompt: the first one begins, and the others wait until its response does. From then on
 * providers take the common beginning from their cache; requests that are sent at the same moment all pay for it in full.
 */
import { Deferred, Effect } from "effect"

/** Maximum wait. A prompt is read within seconds; models that think in silence respond later than that. */
const maxWaitMillis = 2_500

export interface SharedPrompt {
  /** Runs when the first response begins, or cannot begin any more. */
  readonly begin: Effect.Effect<void>
  /** Waits until then. */
  readonly begun: Effect.Effect<void>
}

export const sharedPrompt = (): SharedPrompt => {
  const done = Deferred.makeUnsafe<void>()
  return {
    begin: Effect.asVoid(Deferred.succeed(done, undefined)),
    begun: Effect.raceFirst(Deferred.await(done), Effect.sleep(maxWaitMillis))
  }
}
