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
export interface Circuit {
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
