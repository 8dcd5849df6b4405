/**
 * Writes SQLite files of queues in a thread (SqliteWriterThread.js), which all files of this process share. Writes are executed in order,
 * each as one transaction that is on disk before its result.
 */
import { Worker } from "node:worker_threads"
import { Effect } from "effect"
import type { Scope } from "effect"
import type { SqliteChange } from "./SqliteSchema.ts"

/** Error in the format of node:sqlite; `errcode` is SQLite's extended result code. */
export interface WriteFailure {
  readonly message: string
  readonly errcode: number | undefined
}

/** Settings of a file; `timeoutMillis` limits how long each write waits for a file that another process locks. */
interface WriterOptions {
  readonly path: string
  /** Pragmas of the connection. */
  readonly pragmas: string
  /** Statements by name. */
  readonly statements: Readonly<Record<string, string>>
  readonly timeoutMillis: number
}

interface Addressed {
  readonly id: number
  readonly file: number
}
export type WriteRequest =
  | (Addressed & WriterOptions & { readonly action: "open" })
  | (Addressed & { readonly action: "write"; readonly changes: ReadonlyArray<SqliteChange> })
  | (Addressed & { readonly action: "close" })
export interface WriteResponse {
  readonly id: number
  readonly failure: WriteFailure | undefined
}

/** A request without its id. */
type Request = WriteRequest extends infer Q ? (Q extends WriteRequest ? Omit<Q, "id"> : never) : never
type Done = (failure: WriteFailure | undefined) => void

interface Thread {
  readonly worker: Worker
  readonly waiting: Map<number, Done>
}

let thread: Thread | undefined
let lastId = 0
let lastFile = 0

const start = (): Thread => {
  const worker = new Worker(new URL("./SqliteWriterThread.js", import.meta.url), { env: {}, execArgv: [] })
  const started: Thread = { worker, waiting: new Map() }
  worker.on("message", ({ id, failure }: WriteResponse) => receive(started, id, failure))
  worker.on("error", (error) => {
    // The state of the last writes on disk is undetermined; the next process reads it.
    throw error
  })
  // Does not keep a process alive that waits for no result.
  worker.unref()
  return started
}

const receive = ({ waiting, worker }: Thread, id: number, failure: WriteFailure | undefined): void => {
  const done = waiting.get(id)
  waiting.delete(id)
  if (waiting.size === 0) worker.unref()
  done?.(failure)
}

const send = ({ waiting, worker }: Thread, request: Request): Effect.Effect<void, WriteFailure> =>
  Effect.callback((resume) => {
    const id = ++lastId
    if (waiting.size === 0) worker.ref()
    waiting.set(id, (failure) => resume(failure === undefined ? Effect.void : Effect.fail(failure)))
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread, not a window
    worker.postMessage({ ...request, id })
  })

export interface SqliteWriter {
  /** Writes all changes, or none if it fails. */
  readonly write: (changes: ReadonlyArray<SqliteChange>) => Effect.Effect<void, WriteFailure>
}

/** Opens a file until the scope closes. */
export const open = Effect.fnUntraced(function* (
  options: WriterOptions
): Effect.fn.Return<SqliteWriter, WriteFailure, Scope.Scope> {
  const writing = (thread ??= start())
  const file = ++lastFile
  yield* Effect.acquireRelease(send(writing, { action: "open", file, ...options }), () =>
    Effect.ignore(send(writing, { action: "close", file }))
  )
  return { write: (changes) => Effect.uninterruptible(send(writing, { action: "write", file, changes })) }
})
