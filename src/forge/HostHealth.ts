/**
 * Circuit breakers of hosts, by origin. All requests report to them.
 * Publishers also wait for them, so that the writes of a review become eligible together when the host responds again.
 */
import { Clock, Context, Deferred, Effect } from "effect"
import { backoffMillis, doubling } from "../domain/Backoff.ts"
import { ForgeError } from "./ForgeError.ts"

/**
 * Circuit breaker for the requests to one host. Pure.
 *
 * ```
 * closed ──several failures in a row──▶ open ──one probe per interval──▶ open, with a longer interval
 *    ▲                                                  │
 *    └──────────────any response of the host────────────┘
 * ```
 * A single request that the host cannot process does not open the circuit as long as the host responds to others.
 */
interface Circuit {
  /** Consecutive requests without a response, or with a response that reports an outage of the host. */
  readonly failures: number
  /** Undefined while the circuit is closed. */
  readonly probe: { readonly at: number; readonly interval: number } | undefined
}

export const closed: Circuit = { failures: 0, probe: undefined }

const failuresToOpen = 3
const firstInterval = 1000
/** Longest time from the end of an outage to the request that notices it. */
export const maxProbeInterval = 15_000

export const isOpen = ({ probe }: Circuit): boolean => probe !== undefined

export const afterFailure = ({ failures, probe }: Circuit, now: number): Circuit => ({
  failures: failures + 1,
  probe: probe ?? (failures + 1 < failuresToOpen ? undefined : { at: now + firstInterval, interval: firstInterval })
})

/** Returns whether a request may be sent, and the circuit after this decision. Granting a probe sets the time of the next one. */
export const admit = (circuit: Circuit, now: number): { readonly waitMillis: number; readonly circuit: Circuit } => {
  const { probe } = circuit
  if (probe === undefined) return { waitMillis: 0, circuit }
  if (probe.at > now) return { waitMillis: probe.at - now, circuit }
  const interval = Math.min(probe.interval * 2, maxProbeInterval)
  return { waitMillis: 0, circuit: { ...circuit, probe: { at: now + interval, interval } } }
}

interface HostState {
  circuit: Circuit
  /** Completed and replaced when the circuit closes. */
  recovered: Deferred.Deferred<void>
}

/** States by origin. */
export type HostStates = Map<string, HostState>

/**
 * Behaviour of a request during an outage of its host: `fail` immediately, or `wait` without a limit. Reads that wait are also
 * retried when the host fails them.
 */
export const DuringOutage = Context.Reference<"fail" | "wait">("aicr/forge/DuringOutage", {
  defaultValue: () => "fail"
})

const getState = (states: HostStates, origin: string): HostState => {
  const existing = states.get(origin)
  if (existing !== undefined) return existing
  const created: HostState = { circuit: closed, recovered: Deferred.makeUnsafe() }
  states.set(origin, created)
  return created
}

const isFailure = ({ reason }: ForgeError): boolean => reason === "unavailable" || reason === "unknown_outcome"

const succeed = (state: HostState) =>
  Effect.suspend(() => {
    const { recovered } = state
    const wasOpen = isOpen(state.circuit)
    state.circuit = closed
    if (!wasOpen) return Effect.void
    state.recovered = Deferred.makeUnsafe()
    return Effect.asVoid(Deferred.succeed(recovered, undefined))
  })

/** Reports the outcome of a request to the circuit. During an outage the error has `isOutage`. */
export const observe = Effect.fnUntraced(function* <A>(
  states: HostStates,
  origin: string,
  request: Effect.Effect<A, ForgeError>
) {
  const state = getState(states, origin)
  return yield* request.pipe(
    Effect.tap(() => succeed(state)),
    Effect.catch((error) =>
      Effect.gen(function* () {
        if (!isFailure(error)) {
          yield* succeed(state)
          return yield* error
        }
        state.circuit = afterFailure(state.circuit, yield* Clock.currentTimeMillis)
        return yield* isOpen(state.circuit) ? new ForgeError({ ...error, isOutage: true }) : error
      })
    )
  )
})

/**
 * Waits until the host responds again, or until this request is granted as a probe. Returns immediately unless `DuringOutage` is
 * `wait`.
 */
export const waitUntilAvailable = Effect.fnUntraced(function* (states: HostStates, origin: string) {
  if ((yield* DuringOutage) === "fail") return
  const state = getState(states, origin)
  while (true) {
    const { waitMillis, circuit } = admit(state.circuit, yield* Clock.currentTimeMillis)
    state.circuit = circuit
    if (waitMillis === 0) return
    yield* Effect.raceFirst(Deferred.await(state.recovered), Effect.sleep(waitMillis))
  }
})

/** Retries of a read that fails while its host responds to other requests. */
const readRetries = 5
const readBackoff = doubling(250, 4000)

/** Retries a failed read: without a limit during an outage, else a few times. `read` must be wrapped in `observe`. */
export const retryRead = Effect.fnUntraced(function* <A>(
  states: HostStates,
  origin: string,
  read: Effect.Effect<A, ForgeError>
) {
  if ((yield* DuringOutage) === "fail") return yield* read
  for (let retries = 0; ;) {
    yield* waitUntilAvailable(states, origin)
    const result = yield* Effect.result(read)
    if (result._tag === "Success") return result.success
    const { failure } = result
    if (!isFailure(failure)) return yield* failure
    if (failure.isOutage === true) continue
    if (retries >= readRetries) return yield* failure
    retries += 1
    yield* Effect.sleep(backoffMillis(readBackoff, retries, 0))
  }
})
