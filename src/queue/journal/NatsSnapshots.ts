/**
 * Snapshots of the journal over JetStream: lists of pages, each with rows or with details. The cell `newest` has the position of the newest
 * snapshot and the name of its list, the cell `writer` the position of the node that writes one.
 */
import { Effect, Option } from "effect"
import type { NatsLog } from "../../../nats/NatsLog.ts"
import type { NatsPages } from "../../../nats/NatsPages.ts"
import { JournalError, newMessageId } from "./Journal.ts"
import type { JournalPosition } from "./Journal.ts"
import { decodePage, encode, toJournalError, toHead } from "./NatsMessages.ts"
import type { JournalState } from "./NatsMessages.ts"

/** Characters of details in one page of a snapshot. */
const pageCharacters = 500_000

export const load = Effect.fnUntraced(function* (
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
export const trim = Effect.fnUntraced(function* (
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
