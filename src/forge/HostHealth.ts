/**
 * The circuits of all hosts (Circuit.ts), by origin, shared by every client in the process. All requests report to them; who publishes
 * also waits for them, so that the writes of a review become eligible together when the host responds again.
 */
import { Clock, Context, Deferred, Effect } from "effect"
import { backoffMillis, doubling } from "../domain/Backoff.ts"
import { admit, afterFailure, closed, isOpen } from "./Circuit.ts"
import type { Circuit } from "./Circuit.ts"
import { ForgeError } from "./Forge.ts"

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
 * What a request does while its host is out of order: `fail` at once, or `wait` for the host as long as it takes. Reads that wait are
 * also repeated when the host fails them.
 */
export const DuringOutage = Context.Reference<"fail" | "wait">("aicr/forge/DuringOutage", {
  defaultValue: () => "fail"
})

const stateOf = (origin: string) =>
  Effect.map(HostStates, (states) => {
    const known = states.get(origin)
    if (known !== undefined) return known
    const fresh: HostState = { circuit: closed, recovered: Deferred.makeUnsafe() }
    states.set(origin, fresh)
    return fresh
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

/** Reports how a request went. An error of a host that is out of order says so. */
export const observed = Effect.fnUntraced(function* <A>(origin: string, request: Effect.Effect<A, ForgeError>) {
  const state = yield* stateOf(origin)
  return yield* request.pipe(
    Effect.tap(() => succeed(state)),
    Effect.catch((error) =>
      Effect.gen(function* () {
        if (!isFailure(error)) {
          yield* succeed(state)
          return yield* error
        }
        state.circuit = afterFailure(state.circuit, yield* Clock.currentTimeMillis)
        return yield* isOpen(state.circuit)
          ? new ForgeError({ ...error, message: error.message, isOutage: true })
          : error
      })
    )
  )
})

/** Waits until the host responds again, or until it is this request's turn to find out. Returns at once unless `DuringOutage` says wait. */
export const whenAvailable = Effect.fnUntraced(function* (origin: string) {
  if ((yield* DuringOutage) === "fail") return
  const state = yield* stateOf(origin)
  while (true) {
    const { waitMillis, circuit } = admit(state.circuit, yield* Clock.currentTimeMillis)
    state.circuit = circuit
    if (waitMillis === 0) return
    yield* Effect.raceFirst(Deferred.await(state.recovered), Effect.sleep(waitMillis))
  }
})

/** Repetitions of a read that fails while its host responds to others. */
const readRetries = 5
const betweenReads = doubling(250, 4000)

/** A read that the host fails is repeated: as long as the host is out of order, else a few times. `read` is `observed`. */
export const repeatedRead = Effect.fnUntraced(function* <A>(origin: string, read: Effect.Effect<A, ForgeError>) {
  if ((yield* DuringOutage) === "fail") return yield* read
  for (let retries = 0; ;) {
    yield* whenAvailable(origin)
    const result = yield* Effect.result(read)
    if (result._tag === "Success") return result.success
    const { failure } = result
    if (!isFailure(failure)) return yield* failure
    if (failure.isOutage === true) continue
    if (retries >= readRetries) return yield* failure
    retries += 1
    yield* Effect.sleep(backoffMillis(betweenReads, retries, 0))
  }
})
