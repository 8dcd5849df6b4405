/**
 * The journal over JetStream (queue.kind nats): a log with compare-and-set (nats/NatsLog.ts), and snapshots in a stream of their own
 * (nats/NatsPages.ts). JetStream has no transaction over a message and something else, so a message has the details of its entries too,
 * and every node holds them in memory.
 *
 * While NATS is disconnected every call fails immediately. A server with the fault that NatsConnection.ts refuses may accept two writers
 * behind the same message: the second one notices the gap and decides again, and every node skips its message.
 */
import { Effect } from "effect"
import type { Scope } from "effect"
import { NatsConnection } from "../../../nats/NatsConnection.ts"
import type { NatsError } from "../../../nats/NatsError.ts"
import { makeLog } from "../../../nats/NatsLog.ts"
import type { NatsLog } from "../../../nats/NatsLog.ts"
import { makePages } from "../../../nats/NatsPages.ts"
import type { NatsPages } from "../../../nats/NatsPages.ts"
import { QueueError } from "../Queue.ts"
import { journalStart } from "./Journal.ts"
import type { Journal, JournalChanges, JournalError, JournalPosition, JournalRecord } from "./Journal.ts"
import { decode, encode, toJournalError, JournalState, toHead } from "./NatsMessages.ts"
import { load, trim } from "./NatsSnapshots.ts"

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
