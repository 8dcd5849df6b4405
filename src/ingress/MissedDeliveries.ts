/**
 * Requests searches for changes whose deliveries were missed (actors/catchup/CatchUp.ts): when this node begins to receive deliveries, and
 * after it refused some for load, or because the records took none.
 */
import { Clock, Duration, Effect, Latch } from "effect"
import { ConfigStore } from "../config/ConfigStore.ts"
import type { CatchUpOccasion } from "../domain/CatchUpOccasion.ts"
import { isCalledByHosts } from "../domain/Kinds.ts"
import type { TriggerKind } from "../domain/Kinds.ts"
import { logFailure } from "../observability/LimitedWarnings.ts"
import { CatchUps } from "../store/CatchUps.ts"

/** Time in which refusals share a request, and after which one that could not be stored is repeated. */
const interval = Duration.seconds(5)

/** Requests searches for the triggers that `covers` selects. Returns whether the request is stored. */
const request = (occasion: CatchUpOccasion, covers: (kind: TriggerKind) => boolean) =>
  Effect.gen(function* () {
    const triggers = [...(yield* ConfigStore).current().triggers.values()]
    const names = triggers.filter(({ enabled, kind }) => enabled && covers(kind)).map(({ name }) => name)
    yield* (yield* CatchUps).request(names, occasion, yield* Clock.currentTimeMillis)
    return true
  }).pipe(
    Effect.catch((error) =>
      Effect.as(logFailure("search for missed changes not requested, retry scheduled")(error), false)
    )
  )

const requestAll = Effect.fnUntraced(function* (refused: Set<TriggerKind>, some: Latch.Latch) {
  while (!(yield* request("start", isCalledByHosts))) yield* Effect.sleep(interval)
  while (true) {
    yield* Effect.andThen(some.await, Effect.sleep(interval))
    const kinds = new Set(refused)
    if (!(yield* request("refused", (kind) => kinds.has(kind)))) continue
    for (const kind of kinds) refused.delete(kind)
    if (refused.size === 0) some.closeUnsafe()
  }
})

/** Requests searches until the scope ends. `refused` is called for each refused delivery. */
export const requestSearches = Effect.gen(function* () {
  const refused = new Set<TriggerKind>()
  const some = Latch.makeUnsafe()
  yield* Effect.forkScoped(requestAll(refused, some))
  return {
    refused: (kind: TriggerKind): void => {
      refused.add(kind)
      some.openUnsafe()
    }
  }
})
