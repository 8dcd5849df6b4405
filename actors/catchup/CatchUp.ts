/**
 * Finds changes whose deliveries never arrived, one in the cluster: hosts do not repeat a delivery that failed. Each trigger is looked at on
 * request (when a node begins to receive deliveries, after refused ones, by an operator) and at a slow beat. What is found goes through the
 * same admission as a delivery, with a key of its own, so that a look may be repeated at any step.
 */
import { Clock, Duration, Effect } from "effect"
import { Singleton } from "effect/cluster"
import { ConfigStore } from "../../src/config/ConfigStore.ts"
import type { TriggerProfile } from "../../src/config/Snapshot.ts"
import type { Reason } from "../../src/domain/Reason.ts"
import { limitWarning } from "../../src/observability/LimitedWarnings.ts"
import { CatchUps } from "../../src/store/CatchUps.ts"
import type { CatchUp, CatchUpOccasion } from "../../src/store/CatchUps.ts"
import { countStart } from "../ActorStarts.ts"
import type { ShardGroup } from "../Placement.ts"
import { LookMemory, toForgeKind } from "./HostLook.ts"
import { lookAtHost } from "./LookAtHost.ts"

/** Interval in which requests and due beats are noticed. */
const scanInterval = Duration.seconds(5)
/** Time from a look that did not see everything to the next one. */
const retryMillis = Duration.toMillis("1 minute")
/** Shortest time between two looks at a trigger, and after one for refused deliveries, which a sender may repeat as often as it likes. */
const minPauseMillis = Duration.toMillis("10 seconds")
const refusedPauseMillis = Duration.toMillis("1 minute")

/** Returns why a trigger is to be looked at now; undefined: it is not. A clock that was set back does not delay a beat. */
export const dueOccasion = (
  { catch_up: { every_seconds } }: Pick<TriggerProfile["settings"], "catch_up">,
  state: CatchUp | undefined,
  now: number
): CatchUpOccasion | undefined => {
  const since = state?.lookedAt === undefined ? Number.POSITIVE_INFINITY : Math.abs(now - state.lookedAt)
  if (since < minPauseMillis) return undefined
  const requested = state?.requestedFor
  if (requested !== undefined && (requested !== "refused" || since >= refusedPauseMillis)) return requested
  if (state?.failure !== undefined && since >= retryMillis) return state.occasion ?? "beat"
  return every_seconds > 0 && since >= every_seconds * 1000 ? "beat" : undefined
}

/** State of each trigger in this process. */
class Looks {
  readonly running = new Set<string>()
  readonly #memories = new Map<string, LookMemory>()

  memoryOf(trigger: string): LookMemory {
    const memory = this.#memories.get(trigger) ?? new LookMemory()
    this.#memories.set(trigger, memory)
    return memory
  }
}

const look = Effect.fnUntraced(function* (trigger: TriggerProfile, occasion: CatchUpOccasion, memory: LookMemory) {
  const kind = toForgeKind(trigger.kind)
  if (kind === undefined) return
  const startedAt = yield* Clock.currentTimeMillis
  const tally = { found: 0, skipped: 0 }
  const failure: Reason | undefined = yield* lookAtHost(trigger, kind, memory, tally).pipe(
    Effect.catch(({ why }) => Effect.succeed(why))
  )
  const at = yield* Clock.currentTimeMillis
  yield* (yield* CatchUps).looked(trigger.name, { occasion, startedAt, at, failure, ...tally })
  if (failure !== undefined)
    yield* limitWarning(
      "catch-up",
      (suppressed) =>
        Effect.logWarning("missed changes of a trigger not all found, retry scheduled", {
          trigger: trigger.name,
          occasion,
          reason: failure,
          suppressed
        }),
      trigger.name
    )
  if (tally.found > 0 || tally.skipped > 0)
    yield* Effect.logWarning("changes were found that no delivery reported", {
      trigger: trigger.name,
      occasion,
      ...tally
    })
})

/** Starts the looks that are due. */
const scan = Effect.fnUntraced(function* (looks: Looks) {
  const now = yield* Clock.currentTimeMillis
  const states = new Map((yield* (yield* CatchUps).list).map((state) => [state.trigger, state]))
  for (const trigger of (yield* ConfigStore).current().triggers.values()) {
    const { name } = trigger
    if (!trigger.enabled || toForgeKind(trigger.kind) === undefined || looks.running.has(name)) continue
    const occasion = dueOccasion(trigger.settings, states.get(name), now)
    if (occasion === undefined) continue
    looks.running.add(name)
    yield* look(trigger, occasion, looks.memoryOf(name)).pipe(
      Effect.catch(logFailure),
      Effect.ensuring(Effect.sync(() => looks.running.delete(name))),
      Effect.forkScoped
    )
  }
})

const logFailure = ({ message }: { readonly message: string }) =>
  limitWarning("catch-up", (suppressed) =>
    Effect.logError("missed changes not looked for, retry scheduled", { error: message, suppressed })
  )

const shardGroup: ShardGroup = "actors"

export const layer = Singleton.make(
  "CatchUp",
  Effect.gen(function* () {
    yield* countStart("CatchUp")
    const looks = new Looks()
    while (true) {
      yield* Effect.catch(scan(looks), logFailure)
      yield* Effect.sleep(scanInterval)
    }
  }).pipe(Effect.scoped),
  { shardGroup }
)
