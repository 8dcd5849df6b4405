/**
 * The definitions that lines of a file stand in, asked of a parsing thread. It starts with the first question, ends when none has
 * come for a while or after many files, and so gives the parsers' memory back. Never fails: what cannot be known is undefined.
 */
import { Worker } from "node:worker_threads"
import { Effect } from "effect"
import type { Definition, SyntaxAnswer, SyntaxQuestion } from "./Definition.ts"
import { grammarOf } from "./Grammars.ts"

/** Larger files are machine-made more often than not, and take long. */
const maxCharacters = 1_048_576
const parseMillis = 2_000
/** For an answer, with loading of the grammar; a thread that takes longer is ended. */
const answerMillis = 15_000
const idleMillis = 20_000
const filesPerThread = 1_000

interface Thread {
  readonly worker: Worker
  readonly waiting: Map<number, (chains: SyntaxAnswer["chains"]) => void>
  asked: number
  idle: NodeJS.Timeout | undefined
}

let current: Thread | undefined
let lastId = 0

const open = (): Thread => {
  if (current !== undefined && current.asked < filesPerThread) return current
  const worker = new Worker(new URL("./SyntaxWorker.js", import.meta.url), {
    resourceLimits: { maxOldGenerationSizeMb: 256 },
    env: {},
    execArgv: []
  })
  const thread: Thread = { worker, waiting: new Map(), asked: 0, idle: undefined }
  worker.on("message", ({ id, chains }: SyntaxAnswer) => thread.waiting.get(id)?.(chains))
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
  for (const tell of thread.waiting.values()) tell([])
  thread.waiting.clear()
  void thread.worker.terminate()
}

/** For each line the definitions around it, outermost first; undefined where the language or the file cannot be read. */
export const definitionsAt = (
  path: string,
  text: string,
  lines: ReadonlyArray<number>
): Effect.Effect<ReadonlyArray<ReadonlyArray<Definition> | undefined>> => {
  const nothing = lines.map(() => undefined)
  const grammar = grammarOf(path)
  if (grammar === undefined || text.length > maxCharacters || lines.length === 0) return Effect.succeed(nothing)
  return Effect.callback<SyntaxAnswer["chains"]>((resume) => {
    const thread = open()
    const id = ++lastId
    const deadline = setTimeout(() => end(thread), answerMillis)
    const settle = () => {
      clearTimeout(deadline)
      thread.waiting.delete(id)
      if (thread.waiting.size > 0) return
      if (thread !== current || thread.asked >= filesPerThread) return end(thread)
      thread.worker.unref()
      thread.idle = setTimeout(() => end(thread), idleMillis).unref()
    }
    thread.waiting.set(id, (chains) => {
      settle()
      resume(Effect.succeed(chains))
    })
    thread.asked++
    clearTimeout(thread.idle)
    thread.worker.ref()
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread, not a window
    thread.worker.postMessage({ id, grammar, text, lines, millis: parseMillis } satisfies SyntaxQuestion)
    return Effect.sync(settle)
  }).pipe(Effect.map((chains) => lines.map((_, index) => chains[index])))
}
