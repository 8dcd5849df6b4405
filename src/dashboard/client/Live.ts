/**
 * Follows the events of running reviews as server-sent events over fetch, because `EventSource` cannot send the token. Each burst of events
 * refreshes the visible values that they concern at most once per interval, so that a busy installation costs the browser no more than a quiet one.
 */
import { createParser } from "eventsource-parser"
import { send, toRequest } from "./Call.ts"
import type { Endpoint } from "./Endpoints.ts"
import { toRecord } from "./Problem.ts"
import { queryClient } from "./Queries.ts"

export type Connection = "connecting" | "live" | "lost"

/** Endpoints whose values change with events, in the order of refreshing. */
const changing: ReadonlyArray<Endpoint> = [
  "GET /runs",
  "GET /runs/:id",
  "GET /queue",
  "GET /events",
  "GET /events/:id",
  "GET /story",
  "GET /batches",
  "GET /stats"
]
const refreshMillis = 1500
const reconnectMillis = [500, 1000, 2000, 5000, 10_000] as const

let connection: Connection = "connecting"
const listeners = new Set<() => void>()

export const connectionState = (): Connection => connection
export const onConnectionChange = (listener: () => void): (() => void) => {
  listeners.add(listener)
  return () => listeners.delete(listener)
}
const change = (next: Connection): void => {
  if (connection === next) return
  connection = next
  for (const listener of listeners) listener()
}

let timer: ReturnType<typeof setTimeout> | undefined

const refresh = (): void => {
  timer = undefined
  for (const endpoint of changing) void queryClient.invalidateQueries({ queryKey: [endpoint], refetchType: "active" })
}

const scheduleRefresh = (): void => {
  timer ??= setTimeout(refresh, refreshMillis)
}

/** Number of events since the page was opened, for tests and the tooltip of the indicator. */
let received = 0
export const receivedEvents = (): number => received

const handle = (data: string): void => {
  const { type } = toRecord(JSON.parse(data))
  if (type === "heartbeat") return
  received += 1
  scheduleRefresh()
}

const follow = async (signal: AbortSignal): Promise<void> => {
  const [, url] = toRequest("GET /runs/live", {})
  const response = await send(url, { headers: { accept: "text/event-stream" }, signal })
  if (!response.ok || response.body === null) throw new Error(`status ${response.status}`)
  change("live")
  // Something may have happened while there was no connection.
  scheduleRefresh()
  const parser = createParser({ onEvent: ({ data }) => handle(data), maxBufferSize: 1_000_000 })
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader()
  for (;;) {
    const { done, value } = await reader.read()
    if (done) return
    parser.feed(value)
  }
}

/** Follows events until `signal` aborts. The service ends each connection after a quarter of an hour. */
export const followLive = async (signal: AbortSignal): Promise<void> => {
  let failures = 0
  while (!signal.aborted) {
    try {
      await follow(signal)
      failures = 0
    } catch {
      if (signal.aborted) return
      failures += 1
      if (failures > 1) change("lost")
    }
    const delay = reconnectMillis[Math.min(failures, reconnectMillis.length - 1)]
    await new Promise((resolve) => setTimeout(resolve, delay))
  }
}
