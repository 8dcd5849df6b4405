/**
 * Definitions of a file, and uses of names in it, found by a parsing thread. The thread starts with the first
 * request and ends when it is idle or after many files, which frees the memory of the parsers. Never fails: an unknown
 * result is undefined.
 */
import { Worker } from "node:worker_threads"
import { Effect } from "effect"
import type { Definition, SyntaxReply, SyntaxQuestion, SyntaxResults, SyntaxTask } from "./Definition.ts"
import { findGrammar } from "./Grammars.ts"

/** Larger files are machine-made more often than not, and take long. */
const maxCharacters = 1_048_576
const parseMillis = 2_000
/** Limit for one response, including the load of the grammar. A thread that takes longer is ended. */
const responseMillis = 15_000
const idleMillis = 20_000
const filesPerThread = 1_000

interface Thread {
  readonly worker: Worker
  readonly waiting: Map<number, (found: SyntaxReply["found"]) => void>
  searched: number
  idle: NodeJS.Timeout | undefined
}

let current: Thread | undefined
let lastId = 0

const open = (): Thread => {
  if (current !== undefined && current.searched < filesPerThread) return current
  const worker = new Worker(new URL("./SyntaxWorker.js", import.meta.url), {
    resourceLimits: { maxOldGenerationSizeMb: 256, maxYoungGenerationSizeMb: 12 },
    env: {},
    execArgv: []
  })
  const thread: Thread = { worker, waiting: new Map(), searched: 0, idle: undefined }
  worker.on("message", ({ id, found }: SyntaxReply) => thread.waiting.get(id)?.(found))
  worker.on("error", () => end(thread))
  worker.on("exit", () => end(thread))
  // A process that has nothing else to do ends.
  worker.unref()
  current = thread
  return thread
}

const end = (thread: Thread): void => {
  if (current === thread) current = undefined
  clearTimeout(thread.idle)
  for (const resume of thread.waiting.values()) resume(undefined)
  thread.waiting.clear()
  void thread.worker.terminate()
}

/** Returns the definitions around each line, outermost first; undefined where the language or the file cannot be parsed. */
export const definitionsAt = (
  path: string,
  text: string,
  lines: ReadonlyArray<number>
): Effect.Effect<ReadonlyArray<ReadonlyArray<Definition> | undefined>> =>
  lines.length === 0
    ? Effect.succeed([])
    : Effect.map(request(path, text, { find: "around", lines }), (chains) => lines.map((_, index) => chains?.[index]))

/** Returns all definitions of a file, and undefined as above. */
export const definitionsIn = (path: string, text: string) => request(path, text, { find: "definitions" })

/** Returns where names are code, and undefined as above. */
export const usesIn = (path: string, text: string, names: ReadonlyArray<string>) =>
  request(path, text, { find: "uses", names })

const request = <T extends SyntaxTask>(
  path: string,
  text: string,
  task: T
): Effect.Effect<SyntaxResults[T["find"]] | undefined> => {
  const grammar = findGrammar(path)
  if (grammar === undefined || text.length > maxCharacters) return Effect.undefined
  return Effect.callback<SyntaxReply["found"]>((resume) => {
    const thread = open()
    const id = ++lastId
    const deadline = setTimeout(() => end(thread), responseMillis)
    const settle = () => {
      clearTimeout(deadline)
      thread.waiting.delete(id)
      if (thread.waiting.size > 0) return
      if (thread !== current || thread.searched >= filesPerThread) return end(thread)
      thread.worker.unref()
      thread.idle = setTimeout(() => end(thread), idleMillis).unref()
    }
    thread.waiting.set(id, (found) => {
      settle()
      resume(Effect.succeed(found))
    })
    thread.searched++
    clearTimeout(thread.idle)
    thread.worker.ref()
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread, not a window
    thread.worker.postMessage({ id, grammar, text, task, millis: parseMillis } satisfies SyntaxQuestion)
    return Effect.sync(settle)
  }) as Effect.Effect<SyntaxResults[T["find"]] | undefined>
}
