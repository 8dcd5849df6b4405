/** Short notices about what an action did, read out by screen readers, gone after a while. */
import { useSyncExternalStore } from "react"
import { errorDetail } from "../text/DescribeError.ts"
import { Shape } from "./Status.tsx"

interface Notice {
  readonly id: number
  readonly tone: "good" | "bad"
  readonly text: string
}

const shownMillis = 6000
let notices: ReadonlyArray<Notice> = []
let nextId = 1
const listeners = new Set<() => void>()

const change = (next: ReadonlyArray<Notice>): void => {
  notices = next
  for (const listener of listeners) listener()
}

export const notify = (tone: Notice["tone"], text: string): void => {
  const id = nextId++
  change([...notices.slice(-3), { id, tone, text }])
  setTimeout(() => change(notices.filter((notice) => notice.id !== id)), shownMillis)
}

export const notifyError = (error: unknown): void => notify("bad", errorDetail(error))

export const Notices = () => {
  const shown = useSyncExternalStore(
    (listener) => {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    () => notices
  )
  return (
    <div className="notices" role="status" aria-live="polite">
      {shown.map(({ id, text, tone }) => (
        <p key={id} className={`notice tone-${tone}`}>
          <Shape tone={tone} /> <span>{text}</span>
        </p>
      ))}
    </div>
  )
}
