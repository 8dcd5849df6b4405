/**
 * The journal over JetStream (queue.kind nats): a log with compare-and-set (nats/NatsLog.ts), and snapshots in a stream of their own
 * (nats/NatsPages.ts). JetStream has no transaction over a message and something else, so a message has the details of its entries too,
 * and every node holds them in memory.
 *
 * While NATS is disconnected every call fails immediately. A server with the fault that NatsConnection.ts refuses may accept two writers
 * behind the same message: the second one notices the gap and decides again, and every node skips its message.
 */
import { Effect, Option } from "effect"
import type { Scope } from "effect"
import { NatsConnection } from "../../../nats/NatsConnection.ts"
import type { NatsError } from "../../../nats/NatsError.ts"
import { makeLog } from "../../../nats/NatsLog.ts"
import type { NatsLog } from "../../../nats/NatsLog.ts"
import { makePages } from "../../../nats/NatsPages.ts"
import type { NatsPages } from "../../../nats/NatsPages.ts"
import { QueueError } from "../Queue.ts"
import { journalStart, JournalError, newMessageId } from "./Journal.ts"
import type { Journal, JournalChanges, JournalPosition, JournalRecord } from "./Journal.ts"
import { decode, encode, toJournalError, JournalState, toHead, decodePage } from "./NatsMessages.ts"

/** Characters of details in one page of a snapshot. */
const pageCharacters = 500_000

/**
 * Snapshots of the journal over JetStream: lists of pages, each with rows or with details. The cell `newest` has the position of the newest
 * snapshot and the name of its list, the cell `writer` the position of the node that writes one.
 */
const load = Effect.fnUntraced(function* (
  pages: NatsPages,
  state: JournalState,
  take: (page: string) => void
): Effect.fn.Return<JournalPosition | undefined, JournalError> {
  state.details.clear()
  const newest = yield* Effect.mapError(pages.get("newest"), toJournalError)
  if (newest === undefined) return undefined
  const lost = new JournalError({
    reason: "lost",
    why: { _tag: "SnapshotPagesMissing", snapshot: newest.value.slice(0, 100) }
  })
  const head = toHead(newest.value)
  if (head === undefined) return yield* lost
  let sequence = 0
  for (let page = 0; page < head.count; page++) {
    const found = yield* Effect.mapError(pages.next(head.pages, sequence), toJournalError)
    if (found === undefined) return yield* lost
    sequence = found.sequence
    yield* Effect.try({ try: () => takePage(found.page, state, take), catch: unreadable })
  }
  return { sequence: head.sequence, id: head.id }
})

/** Throws if the page is of a newer release. */
const takePage = (payload: Uint8Array, state: JournalState, take: (page: string) => void): void => {
  const page = decodePage(payload)
  if (page.rows !== undefined) take(page.rows)
  state.take(page.details ?? [])
}

const unreadable = (cause: unknown): JournalError =>
  new JournalError({ reason: "unavailable", why: { _tag: "NatsQueueFails", why: String(cause).slice(0, 200) } })

/** One node writes at a time: who claims the cell `writer` for the messages since the newest snapshot. */
const trim = Effect.fnUntraced(function* (
  log: NatsLog,
  pages: NatsPages,
  state: JournalState,
  { id, sequence }: JournalPosition,
  nextPage: Effect.Effect<Option.Option<string>, JournalError>
): Effect.fn.Return<boolean, JournalError> {
  const newest = yield* Effect.mapError(pages.get("newest"), toJournalError)
  const head = toHead(newest?.value)
  const claim = yield* Effect.mapError(pages.get("writer"), toJournalError)
  if (isClaimed(Number(claim?.value ?? 0), head?.sequence ?? 0, sequence)) return false
  const list = newMessageId()
  const writing = Effect.gen(function* () {
    yield* pages.set("writer", String(sequence), claim?.revision ?? 0)
    let count = 0
    for (let next = yield* nextPage; Option.isSome(next); next = yield* nextPage) {
      yield* pages.add(list, encode({ rows: next.value }))
      count += 1
    }
    for (const details of pagesOf(state.details)) {
      yield* pages.add(list, encode({ details }))
      count += 1
    }
    const value = { sequence, id, pages: list, count, earlier: head?.pages }
    yield* pages.set("newest", JSON.stringify(value), newest?.revision ?? 0)
    if (head === undefined) return
    yield* log.removeBefore(head.sequence + 1)
    if (head.earlier !== undefined) yield* pages.remove(head.earlier)
  })
  return yield* writing.pipe(
    Effect.as(true),
    Effect.catchTag("NatsError", (error) =>
      Effect.andThen(
        Effect.ignore(pages.remove(list)),
        error.reason === "conflict" ? Effect.succeed(false) : Effect.fail(toJournalError(error))
      )
    )
  )
})

/** Returns whether another node writes the snapshot. One that does not finish while the log grows by half is taken for lost. */
const isClaimed = (claimed: number, snapshot: number, sequence: number): boolean =>
  claimed > snapshot && sequence - claimed < (claimed - snapshot) / 2

function* pagesOf(details: ReadonlyMap<string, string>): Generator<ReadonlyArray<readonly [string, string]>> {
  let page: Array<readonly [string, string]> = []
  let characters = 0
  for (const [id, text] of details) {
    page.push([id, text])
    characters += text.length
    if (characters < pageCharacters) continue
    yield page
    page = []
    characters = 0
  }
  if (page.length > 0) yield page
}

/** Messages of one read. */
const atOnce = 100
/** `name`: queues that share a server and a prefix have one each. */
export const makeNatsJournal = Effect.fnUntraced(function* (
  name = "queue"
): Effect.fn.Return<Journal, QueueError, NatsConnection | Scope.Scope> {
  const connection = yield* NatsConnection
  const state = new JournalState()
  const logged = Effect.mapError(makeLog(`${name}-journal`), toQueueError)
  const log = yield* logged
  const pages = yield* Effect.mapError(makePages(`${name}-journal`), toQueueError)
  // Behind a reconnect the log may be another one.
  yield* connection.onStatus((connected) => {
    if (!connected) state.newest = undefined
  })
  const last = lastOf(log, pages, state)
  return {
    last,
    append: (id, changes, known) => append(log, state, last, id, changes, known),
    follow: (sequence) => follow(log, state, sequence),
    load: (take) => load(pages, state, take),
    trim: (position, nextPage) => trim(log, pages, state, position, nextPage),
    details: (entryIds) => Effect.sync(() => entryIds.map((id) => state.details.get(id)))
  }
})

/** Only a disconnected server is waited for at the start. */
export const toQueueError = ({ message, reason }: NatsError): QueueError =>
  new QueueError({
    reason: "unavailable",
    why: { _tag: "NatsQueueFails", why: message },
    ...(reason === "unavailable" ? { disconnected: "nats" } : {})
  })

const lastOf = (log: NatsLog, pages: NatsPages, state: JournalState): Effect.Effect<JournalPosition, JournalError> =>
  Effect.gen(function* () {
    const { created, sequence } = yield* log.last
    state.end = sequence
    if (sequence === 0) return journalStart
    const { newest } = state
    if (newest?.sequence === sequence && newest.created === created) return { sequence, id: newest.id }
    const [message] = yield* log.read(sequence, 1)
    if (message?.sequence === sequence) {
      const { id } = decode(message).record
      state.newest = { sequence, id, created }
      return { sequence, id }
    }
    // A log without messages ends where its newest snapshot does.
    const head = toHead((yield* pages.get("newest"))?.value)
    return { sequence, id: head?.sequence === sequence ? head.id : "missing" }
  }).pipe(Effect.mapError(toJournalError))

const append = Effect.fnUntraced(function* (
  log: NatsLog,
  state: JournalState,
  last: Effect.Effect<JournalPosition, JournalError>,
  id: string,
  changes: JournalChanges,
  known: JournalPosition
): Effect.fn.Return<Effect.Success<ReturnType<Journal["append"]>>, JournalError> {
  const conflict = { _tag: "Conflict", missed: [] } as const
  if (state.newest === undefined) {
    const { id: lastId, sequence } = yield* last
    if (lastId !== known.id || sequence !== known.sequence) return conflict
  }
  const payload = encode({ id, after: known.id, rows: changes.rows, details: [...changes.details] })
  const sequence = yield* log.append(payload, known.sequence).pipe(
    Effect.catchIf(
      ({ reason }) => reason === "conflict",
      () => Effect.succeed(undefined)
    ),
    Effect.mapError(toJournalError)
  )
  // Behind a message that the writer has not seen, its own does not follow, and is skipped.
  if (sequence !== known.sequence + 1) return conflict
  state.end = sequence
  state.newest = state.newest && { ...state.newest, sequence, id }
  state.take(changes.details)
  return { _tag: "Appended", position: { sequence, id }, missed: [] }
})

const follow = Effect.fnUntraced(function* (
  log: NatsLog,
  state: JournalState,
  sequence: number
): Effect.fn.Return<ReadonlyArray<JournalRecord>, JournalError> {
  const count = Math.min(state.end - sequence, atOnce)
  if (count <= 0) return []
  const messages = yield* Effect.mapError(log.read(sequence + 1, count), toJournalError)
  return messages.map((message) => {
    const { details, record } = decode(message)
    state.take(details)
    return record
  })
})
