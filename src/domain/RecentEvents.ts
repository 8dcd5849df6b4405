/** Remembers events for a while, so that one that repeats is recorded once. Bounded: the oldest event is forgotten first. */

export interface RecentEvents {
  /** Returns whether the event is not remembered at this time, and remembers it. */
  readonly isNew: (event: string, now: number) => boolean
}

export const makeRecentEvents = (windowMillis: number, maxEvents = 1000): RecentEvents => {
  const times = new Map<string, number>()
  return {
    isNew: (event, now) => {
      const last = times.get(event)
      if (last !== undefined && now - last < windowMillis) return false
      times.delete(event)
      times.set(event, now)
      const [oldest] = times.keys()
      if (times.size > maxEvents && oldest !== undefined) times.delete(oldest)
      return true
    }
  }
}
