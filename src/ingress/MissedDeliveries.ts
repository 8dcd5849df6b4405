/**
 * Requests searches for changes whose deliveries were missed (actors/catchup/CatchUp.ts): when this node begins to receive deliveries, and
 * after it refused some for load, or because the records took none.
 */
import { Clock, Duration, Effect } from "effect"
import { ConfigStore } from "../config/ConfigStore.ts"
import { isCalledByHosts } from "../domain/Kinds.ts"
import type { TriggerKind } from "../domain/Kinds.ts"
import { limitWarning } from "../observability/LimitedWarnings.ts"
import { CatchUps } from "../store/CatchUps.ts"
import type { CatchUpOccasion } from "../store/CatchUps.ts"

/** Interval in which refusals are noticed, and in which a request that could not be stored is repeated. */
const interval = Duration.seconds(5)

export class MissedDeliveries {
  readonly #refused = new Set<TriggerKind>()

  /** Called for each refused delivery. */
  refused(kind: TriggerKind): void {
    this.#refused.add(kind)
  }

  #request(kinds: ReadonlySet<TriggerKind> | undefined, occasion: CatchUpOccasion) {
    return Effect.gen(function* () {
      const triggers = [...(yield* ConfigStore).current().triggers.values()].filter(
        ({ enabled, kind }) => enabled && isCalledByHosts(kind) && (kinds === undefined || kinds.has(kind))
      )
      const names = triggers.map(({ name }) => name)
      yield* (yield* CatchUps).request(names, occasion, yield* Clock.currentTimeMillis)
    })
  }

  /** Requests searches until it is interrupted. */
  readonly run = Effect.suspend(() => this.#run())

  #run() {
    const refused = this.#refused
    const request = this.#request.bind(this)
    return Effect.gen(function* () {
      let isStarted = false
      while (true) {
        const kinds = new Set(refused)
        if (!isStarted || kinds.size > 0) {
          const stored = yield* request(isStarted ? kinds : undefined, isStarted ? "refused" : "start").pipe(
            Effect.as(true),
            Effect.catch(({ message }) =>
              limitWarning("missed deliveries", (suppressed) =>
                Effect.logWarning("search for missed changes not requested, retry scheduled", {
                  error: message,
                  suppressed
                })
              ).pipe(Effect.as(false))
            )
          )
          if (stored) {
            isStarted = true
            for (const kind of kinds) refused.delete(kind)
          }
        }
        yield* Effect.sleep(interval)
      }
    })
  }
}
