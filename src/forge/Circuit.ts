/**
 * Whether requests to a host make sense now. Pure.
 *
 * ```
 * closed ──several failures in a row──▶ open ──one probe per interval──▶ open, with a longer interval
 *    ▲                                                  │
 *    └──────────────any response of the host────────────┘
 * ```
 * One request that the host cannot process does not open it as long as the host responds to others.
 */
export interface Circuit {
  /** Requests in a row that got no response, or one that says that the host is out of order. */
  readonly failures: number
  /** Undefined while it is closed. */
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

/** Whether a request may go out, and what is so afterwards. Granting a probe sets the time of the next one. */
export const admit = (circuit: Circuit, now: number): { readonly waitMillis: number; readonly circuit: Circuit } => {
  const { probe } = circuit
  if (probe === undefined) return { waitMillis: 0, circuit }
  if (probe.at > now) return { waitMillis: probe.at - now, circuit }
  const interval = Math.min(probe.interval * 2, maxProbeInterval)
  return { waitMillis: 0, circuit: { ...circuit, probe: { at: now + interval, interval } } }
}
