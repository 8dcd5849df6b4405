/**
 * Follows changes of reviews, the queue and deliveries as server-sent events over fetch, because `EventSource` cannot send the token. Each burst of events
 * refreshes the visible values that they concern at most once per interval, so that a busy installation costs the browser no more than a quiet one.
 */
import { send, toRequest } from "./Call.ts"
import type { Endpoint } from "./Endpoints.ts"
import { toRecord } from "./Problem.ts"
import { queryClient } from "./Queries.ts"
import { refreshEndpoints } from "./RefreshPages.ts"

export type Connection = "connecting" | "live" | "lost"

/** Endpoints whose values change with an event, by its type. All others are those of a review. */
const ofReview: ReadonlyArray<Endpoint> = ["GET /runs", "GET /runs/:id", "GET /changes", "GET /story"]
const changing: Readonly<Record<string, ReadonlyArray<Endpoint>>> = {
  queue: ["GET /queue", "GET /batches", "GET /nodes"],
  deliveries: ["GET /events", "GET /events/reasons", "GET /story", "GET /triggers", "GET /chat/requests"],
  working: ["GET /runs/:id"],
  finished: [
    ...ofReview,
    "GET /stats",
    "GET /stats/periods",
    "GET /stats/timeline",
    "GET /events",
    "GET /events/:id",
    "GET /stats/projects",
    "GET /chat/requests",
    "GET /chat/notices"
  ]
}
/** Everything that can change. */
const all: ReadonlySet<Endpoint> = new Set([...ofReview, ...Object.values(changing).flat()])

const refreshMillis = 1500
const hiddenMillis = 2000
const reconnectMillis = [500, 1000, 2000, 5000, 10_000] as const

let connection: Connection = "connecting"
let latest = Date.now()
/** Time of the latest event or heartbeat, in milliseconds since the epoch: the age of the shown values while disconnected. */
export const latestEventAt = (): number => latest
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
let pending = new Set<string>()

const refresh = (): void => {
  timer = undefined
  shown = received
  for (const listener of listeners) listener()
  void refreshEndpoints(queryClient, pending)
  pending = new Set()
}

const scheduleRefresh = (endpoints: Iterable<Endpoint>): void => {
  for (const endpoint of endpoints) pending.add(endpoint)
  timer ??= setTimeout(refresh, refreshMillis)
}

let received = 0
/** Number of events since the page was opened, as of the latest refresh. */
let shown = 0
export const receivedEvents = (): number => shown

const handle = (data: string): void => {
  const { type } = toRecord(JSON.parse(data))
  if (type === "heartbeat") return
  received += 1
  scheduleRefresh(changing[String(type)] ?? ofReview)
}

const follow = async (signal: AbortSignal): Promise<void> => {
  // Loaded after the first page.
  const { createParser } = await import("eventsource-parser")
  const [, url] = toRequest("GET /live", {})
  const response = await send(url, { headers: { accept: "text/event-stream" }, signal })
  if (!response.ok || response.body === null) throw new Error(`status ${response.status}`)
  latest = Date.now()
  change("live")
  // Something may have happened while there was no connection.
  scheduleRefresh(all)
  const parser = createParser({ onEvent: ({ data }) => handle(data), maxBufferSize: 1_000_000 })
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader()
  for (;;) {
    const { done, value } = await reader.read()
    if (done) return
    latest = Date.now()
    parser.feed(value)
  }
}

const isHidden = (): boolean => document.visibilityState === "hidden"

const untilVisible = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    const check = (): void => {
      if (isHidden() && !signal.aborted) return
      document.removeEventListener("visibilitychange", check)
      resolve()
    }
    document.addEventListener("visibilitychange", check)
    signal.addEventListener("abort", check, { once: true })
    check()
  })

/** Follows events until the tab has been hidden for a while: browsers have few connections to a host, and all tabs share them. */
const followWhileVisible = async (signal: AbortSignal): Promise<void> => {
  const hidden = new AbortController()
  let hiding: ReturnType<typeof setTimeout> | undefined
  const check = (): void => {
    clearTimeout(hiding)
    if (isHidden()) hiding = setTimeout(() => hidden.abort(), hiddenMillis)
  }
  document.addEventListener("visibilitychange", check)
  try {
    await follow(AbortSignal.any([signal, hidden.signal]))
  } catch (error) {
    if (!hidden.signal.aborted) throw error
  } finally {
    clearTimeout(hiding)
    document.removeEventListener("visibilitychange", check)
  }
}

/** Follows events until `signal` aborts. The service ends each connection after a quarter of an hour. */
export const followLive = async (signal: AbortSignal): Promise<void> => {
  let failures = 0
  while (!signal.aborted) {
    await untilVisible(signal)
    try {
      await followWhileVisible(signal)
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
