/**
 * Reads the account of each credential from its host once, so that admission recognises events of the service itself. Runs in the
 * background: the request to an unavailable host is retried, and nothing waits for it. Until the account is known, the markers in
 * comments prevent the service from reacting to itself.
 */
import { Effect, Layer, Stream } from "effect"
import { ConfigStore } from "../../config/ConfigStore.ts"
import type { Snapshot, TriggerProfile } from "../../config/Snapshot.ts"
import { growingPauses } from "../../domain/Backoff.ts"
import { isForgeKind } from "../../domain/Kinds.ts"
import type { ForgeError } from "../ForgeError.ts"
import { Forges } from "../Forges.ts"
import { OwnAccounts } from "../OwnAccounts.ts"
import { hasCredential } from "../http/Profile.ts"

const retrySchedule = growingPauses("5 seconds", "10 minutes")

const isTransient = ({ reason }: ForgeError): boolean => reason === "unavailable" || reason === "rate_limited"

const advise = (error: ForgeError): string =>
  isTransient(error)
    ? "none if the host is available again soon: the account is read again. Otherwise run aicr doctor"
    : "correct the credential of this trigger and restart; aicr doctor tests it. Until then the service recognises only its marked comments"

/** Logs a failure of a trigger once, over attempts and configurations, until its reason changes or the account is known. */
class ReportedFailures {
  readonly #reasons = new Map<string, ForgeError["reason"]>()

  failed(trigger: string, error: ForgeError): Effect.Effect<void> {
    return Effect.suspend(() => {
      if (this.#reasons.get(trigger) === error.reason) return Effect.void
      this.#reasons.set(trigger, error.reason)
      return Effect.logWarning("own account of a trigger unknown", {
        trigger,
        error: error.message,
        advice: advise(error)
      })
    })
  }

  succeeded(trigger: string): Effect.Effect<void> {
    return Effect.suspend(() =>
      this.#reasons.delete(trigger) ? Effect.logInfo("own account of a trigger known", { trigger }) : Effect.void
    )
  }
}

const learnAccount = Effect.fnUntraced(function* (profile: TriggerProfile, failures: ReportedFailures) {
  const { self } = (yield* Forges).client(profile)
  const { username } = yield* self.pipe(
    Effect.tapError((error) => failures.failed(profile.name, error)),
    Effect.retry({ schedule: retrySchedule, while: isTransient })
  )
  const accounts = yield* OwnAccounts
  accounts.learn(profile.name, username)
  yield* failures.succeeded(profile.name)
})

const learn = (snapshot: Snapshot, failures: ReportedFailures) =>
  Effect.forEach(
    [...snapshot.triggers.values()].filter(
      (profile) =>
        isForgeKind(profile.kind) && profile.enabled && profile.apiUrl !== undefined && hasCredential(profile)
    ),
    (profile) => Effect.ignore(learnAccount(profile, failures)),
    { concurrency: 4, discard: true }
  )

export const layer = Layer.effectDiscard(
  Effect.gen(function* () {
    const config = yield* ConfigStore
    const failures = new ReportedFailures()
    yield* Stream.make(config.current()).pipe(
      Stream.concat(config.changes),
      Stream.switchMap((snapshot) => Stream.fromEffect(learn(snapshot, failures))),
      Stream.runDrain,
      Effect.forkScoped
    )
  })
)
