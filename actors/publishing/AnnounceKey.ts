/** Records the public key of the signing key of statements when a publisher starts, and when a configuration replaces it. */
import { Clock, Effect, Layer, Schedule, Stream } from "effect"
import { ConfigStore } from "../../src/config/ConfigStore.ts"
import type { Snapshot } from "../../src/config/Snapshot.ts"
import { exportKey } from "../../src/domain/SignedStatement.ts"
import { signingKey, signsVerdicts } from "../../src/outputs/SigningKeys.ts"
import { keepKey } from "../../src/store/Statements.ts"

const announce = Effect.fnUntraced(function* (snapshot: Snapshot) {
  if (!signsVerdicts(snapshot)) return
  const key = signingKey(snapshot)
  if ("_tag" in key) {
    yield* Effect.logError("statements of verdicts cannot be signed", { reason: key })
    return
  }
  const now = yield* Clock.currentTimeMillis
  const isNew = yield* keepKey({ keyid: key.keyid, public_key: exportKey(key) }, now).pipe(
    Effect.tapError(({ message }) =>
      Effect.logWarning("public key of statements not stored yet, retry scheduled", { error: message })
    ),
    Effect.retry(Schedule.spaced("30 seconds"))
  )
  if (isNew) yield* Effect.logInfo("new key of statements", { keyid: key.keyid })
})

export const layer = Layer.effectDiscard(
  Effect.gen(function* () {
    const config = yield* ConfigStore
    yield* Stream.concat(Stream.sync(config.current), config.changes).pipe(
      Stream.runForEach(announce),
      Effect.forkScoped({ startImmediately: true })
    )
  })
)
