/**
 * Watches a running agent CLI from outside, because its own limits cannot be trusted: some wait for a response without end, some repeat
 * failed calls without end, and some do not exit. The whole time is limited by the sandbox.
 */
import type { AgentError } from "../Agent.ts"
import { AgentError as Failure } from "../Agent.ts"
import type { ModelProxyReport } from "../proxy/ModelProxy.ts"
import type { PassTimes } from "./PassLimits.ts"

/** Facts at one moment. */
export interface PassSight {
  readonly now: number
  readonly proxy: ModelProxyReport
  readonly toolCalls: number
  /** Whether the review was ended by a call. */
  readonly isEnded: boolean
}

/** Times since when something holds. */
interface PassClock {
  readonly started: number
  readonly endedSince: number | undefined
  readonly stoppedSince: number | undefined
  readonly failingSince: number | undefined
}

export const newClock = (now: number): PassClock => ({
  started: now,
  endedSince: undefined,
  stoppedSince: undefined,
  failingSince: undefined
})

/** The decision: `clock` for the next time, and the end if there is one. */
interface PassVerdict {
  readonly clock: PassClock
  readonly end?: { readonly error: AgentError | undefined } | undefined
}

const isOver = (since: number | undefined, now: number, millis: number): boolean =>
  since !== undefined && now - since >= millis

export const watchPass = (mode: string, times: PassTimes, before: PassClock, sight: PassSight): PassVerdict => {
  const { isEnded, now, proxy, toolCalls } = sight
  const { failure, stopped, usage } = proxy
  const clock: PassClock = {
    started: before.started,
    endedSince: isEnded ? (before.endedSince ?? now) : undefined,
    stoppedSince: stopped === undefined ? undefined : (before.stoppedSince ?? now),
    failingSince: failure === undefined ? undefined : (before.failingSince ?? now)
  }
  if (isOver(clock.endedSince, now, times.endMillis) || isOver(clock.stoppedSince, now, times.endMillis))
    return { clock, end: { error: undefined } }
  const failingMillis = failure?.reason === "failed" ? times.refusedMillis : times.failingMillis
  if (isOver(clock.failingSince, now, failingMillis)) return { clock, end: { error: failure } }
  const isIdle = usage.requests === 0 && failure === undefined && toolCalls === 0
  if (isIdle && now - clock.started >= times.startMillis) {
    const why = { _tag: "AgentMadeNoCall", mode, seconds: times.startMillis / 1000 } as const
    return { clock, end: { error: new Failure({ reason: "retryable", why }) } }
  }
  return { clock }
}
