/**
 * Reads the account of each credential from its host once, so that admission recognises events of the service itself. Runs in the
 * background: the request to an unavailable host is retried, and nothing waits for it. Until the account is known, the markers in
 * comments prevent the service from reacting to itself.
 */
import { Effect, Layer, Schedule, Stream } from "effect"
import { ConfigStore } from "../config/ConfigStore.ts"
import type { Snapshot } from "../config/Snapshot.ts"
import { isForgeKind } from "../domain/Kinds.ts"
import { Forges } from "./Forges.ts"
import { OwnAccounts } from "./OwnAccounts.ts"
import { hasCredential } from "./Profile.ts"

const retrySchedule = Schedule.min([Schedule.exponential("5 seconds"), Schedule.spaced("10 minutes")])

const learn = Effect.fnUntraced(function* (snapshot: Snapshot) {
  const forges = yield* Forges
  const accounts = yield* OwnAccounts
  const profiles = [...snapshot.triggers.values()].filter(
    (profile) => isForgeKind(profile.kind) && profile.enabled && profile.apiUrl !== undefined && hasCredential(profile)
  )
  yield* Effect.forEach(
    profiles,
    (profile) =>
      forges.client(profile).self.pipe(
        Effect.tapError((error) =>
          Effect.logWarning("own account of a trigger unknown", { trigger: profile.name, error: error.message })
        ),
        Effect.retry({
          schedule: retrySchedule,
          while: (error) => error.reason === "unavailable" || error.reason === "rate_limited"
        }),
        Effect.map((person) => accounts.learn(profile.name, person.username)),
        Effect.ignore
      ),
    { concurrency: 4, discard: true }
  )
})

export const layer = Layer.effectDiscard(
  Effect.gen(function* () {
    const config = yield* ConfigStore
    yield* Stream.make(config.current()).pipe(
      Stream.concat(config.changes),
      Stream.switchMap((snapshot) => Stream.fromEffect(learn(snapshot))),
      Stream.runDrain,
      Effect.forkScoped
    )
  })
)
