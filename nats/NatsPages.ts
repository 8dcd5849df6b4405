/**
 * Snapshots of the state of a log (NatsLog.ts), in a stream of their own: pages in lists, and named cells with compare-and-set that refer to
 * them. All reads go to the stream's leader.
 */
import { Effect } from "effect"
import { NatsConnection } from "./NatsConnection.ts"
import type { NatsError } from "./NatsError.ts"
import { whileFound } from "./NatsLog.ts"
import { ensure, recreating, streamName } from "./NatsStreams.ts"
import type { StreamPlan } from "./NatsStreams.ts"
import { pagesSubject } from "./NatsSubjects.ts"

export interface Cell {
  readonly value: string
  readonly revision: number
}

export interface NatsPages {
  readonly get: (cell: string) => Effect.Effect<Cell | undefined, NatsError>
  /** Fails with `conflict` if the cell has another revision; 0 is the revision of a cell without a value. */
  readonly set: (cell: string, value: string, revision: number) => Effect.Effect<void, NatsError>
  /** Adds a page to a list. */
  readonly add: (list: string, page: Uint8Array) => Effect.Effect<void, NatsError>
  /** Returns the first page of a list after `sequence`, with its sequence. */
  readonly next: (
    list: string,
    sequence: number
  ) => Effect.Effect<{ readonly page: Uint8Array; readonly sequence: number } | undefined, NatsError>
  readonly remove: (list: string) => Effect.Effect<void, NatsError>
}

/** Creates the stream if it does not exist, also when the server loses it later. Names of cells and lists are tokens of subjects. */
export const makePages = Effect.fnUntraced(function* (
  name: string
): Effect.fn.Return<NatsPages, NatsError, NatsConnection> {
  const connection = yield* NatsConnection
  const { jetstream, manager, prefix } = connection
  const plan = { kind: "pages", name } as const satisfies StreamPlan
  yield* ensure([plan])
  const stream = streamName(prefix, plan)
  const attempt = recreating(connection, plan)
  const subjectOf = (kind: "cell" | "list", part: string) => `${pagesSubject(prefix, name)}.${kind}.${part}`
  return {
    get: (cell) =>
      attempt(`cell ${cell}`, async () => {
        const last = { last_by_subj: subjectOf("cell", cell) }
        const found = await whileFound(() => manager.streams.getMessage(stream, last))
        return found === undefined ? undefined : { value: found.string(), revision: found.seq }
      }),
    set: (cell, value, revision) =>
      Effect.asVoid(
        attempt(`cell ${cell}`, async () => {
          const subject = subjectOf("cell", cell)
          await jetstream.publish(subject, value, { expect: { lastSubjectSequence: revision } })
          await manager.streams.purge(stream, { filter: subject, keep: 1 }).catch(() => undefined)
        })
      ),
    add: (list, page) =>
      Effect.asVoid(attempt(`page of ${list}`, () => jetstream.publish(subjectOf("list", list), page))),
    next: (list, sequence) =>
      attempt(`page of ${list}`, async () => {
        // The type of the client lacks the subject, with which the server returns the first message from that sequence on.
        const query = { seq: sequence + 1, next_by_subj: subjectOf("list", list) }
        const found = await whileFound(() => manager.streams.getMessage(stream, query))
        return found === undefined ? undefined : { page: found.data, sequence: found.seq }
      }),
    remove: (list) =>
      Effect.asVoid(
        attempt(`pages of ${list}`, () => manager.streams.purge(stream, { filter: subjectOf("list", list) }))
      )
  }
})
