/** A relative time with the exact one on hover. All times of the page advance together. */
import { useSyncExternalStore } from "react"
import { formatExact, formatRelative } from "../text/Format.ts"

const interval = 10_000
let now = Date.now()
const listeners = new Set<() => void>()
let timer: ReturnType<typeof setInterval> | undefined

const subscribe = (listener: () => void): (() => void) => {
  listeners.add(listener)
  timer ??= setInterval(() => {
    now = Date.now()
    for (const each of listeners) each()
  }, interval)
  return () => {
    listeners.delete(listener)
    if (listeners.size > 0) return
    clearInterval(timer)
    timer = undefined
  }
}

/** The current time, which changes every few seconds. */
export const useNow = (): number => useSyncExternalStore(subscribe, () => now)

/** Returns the text of a time. One of this moment is not in the future only because the clock of the page ticks slowly. */
const describe = (at: string, current: number): string =>
  formatRelative(at, Math.abs(new Date(at).getTime() - Date.now()) < interval ? Date.now() : current)

export const Time = ({ at }: { readonly at: string | undefined }) => {
  const current = useNow()
  if (at === undefined) return <span className="quiet">–</span>
  return (
    <time dateTime={at} title={formatExact(at)}>
      {describe(at, current)}
    </time>
  )
}
