/**
 * Circuit breakers (Circuit.ts) of all hosts, by origin, shared by all clients in the process. All requests report to them.
 * Publishers also wait for them, so that the writes of a review become eligible together when the host responds again.
 */
import { Clock, Context, Deferred, Effect } from "effect"
import { backoffMillis, doubling } from "../domain/Backoff.ts"
import { admit, afterFailure, closed, isOpen } from "./http/Circuit.ts"
import type { Circuit } from "./http/Circuit.ts"
import { ForgeError } from "./ForgeError.ts"

interface HostState {
  circuit: Circuit
  /** Completed and replaced when the circuit closes. */
  recovered: Deferred.Deferred<void>
}

/** One state per origin. */
export const HostStates = Context.Reference<Map<string, HostState>>("aicr/forge/HostStates", {
  defaultValue: () => new Map()
})

/**
 * Behaviour of a request during an outage of its host: `fail` immediately, or `wait` without a limit. Reads that wait are also
 * retried when the host fails them.
 */
export const DuringOutage = Context.Reference<"fail" | "wait">("aicr/forge/DuringOutage", {
  defaultValue: () => "fail"
})

const getState = (origin: string) =>
  Effect.map(HostStates, (states) => {
    const existing = states.get(origin)
    if (existing !== undefined) return existing
    const created: HostState = { circuit: closed, recovered: Deferred.makeUnsafe() }
    states.set(origin, created)
    return created
  })

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
export const observe = Effect.fnUntraced(function* <A>(origin: string, request: Effect.Effect<A, ForgeError>) {
  const state = yield* getState(origin)
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
export const waitUntilAvailable = Effect.fnUntraced(function* (origin: string) {
  if ((yield* DuringOutage) === "fail") return
  const state = yield* getState(origin)
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
export const retryRead = Effect.fnUntraced(function* <A>(origin: string, read: Effect.Effect<A, ForgeError>) {
  if ((yield* DuringOutage) === "fail") return yield* read
  for (let retries = 0; ;) {
    yield* waitUntilAvailable(origin)
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
