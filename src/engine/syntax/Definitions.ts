/**
 * Definitions of files, and uses of names in them, found by a parsing thread, which parses a content once. The thread starts with the first
 * request and ends when it is idle for minutes or after many files, which frees the memory of the parsers. Never fails: an unknown
 * result is undefined.
 */
import { createHash } from "node:crypto"
import { Worker } from "node:worker_threads"
import { Effect } from "effect"
import type { Checkout } from "../../vcs/Checkout.ts"
import type { Definition, DefinitionRange, SyntaxFile, SyntaxQuestion, SyntaxReply } from "./Definition.ts"
import type { SyntaxResult, SyntaxResults, SyntaxTask } from "./Definition.ts"
import { endIdle } from "../threads/WarmThread.ts"
import { findGrammar } from "./Grammars.ts"

/** Larger files are machine-made more often than not, and take long. */
const maxCharacters = 1_048_576
const parseMillis = 2_000
/** Limit for one response, including the load of the grammar. A thread that takes longer is ended. */
const responseMillis = 15_000
const filesPerThread = 1_000
/** Files that are read at the same time for the thread. */
const atOnce = 4
/** Files that one message names by their keys. */
const filesOfMessage = 8
const maxName = 200
/** Characters that are sent with the first message, whether the thread has their outline or not. */
const maxSent = 32_768

/** A file at a revision, which is read only where the thread has no outline of it. */
export interface SourceFile {
  readonly path: string
  /** Id of its content. */
  readonly key?: string | undefined
  /** File of the outlines of its repository. */
  readonly index?: string | undefined
  readonly text: Effect.Effect<string | undefined>
}

interface Thread {
  readonly worker: Worker
  readonly waiting: Map<number, (found: SyntaxReply["found"]) => void>
  searched: number
  keepRunning: () => void
}

let current: Thread | undefined
let lastId = 0

const open = (): Thread => {
  if (current !== undefined && current.searched < filesPerThread) return current
  const worker = new Worker(new URL("./SyntaxWorker.js", import.meta.url), {
    resourceLimits: { maxOldGenerationSizeMb: 256, maxYoungGenerationSizeMb: 12 },
    env: {},
    execArgv: ["--disable-warning=ExperimentalWarning"]
  })
  const thread: Thread = { worker, waiting: new Map(), searched: 0, keepRunning: () => {} }
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
  thread.keepRunning()
  for (const resume of thread.waiting.values()) resume([])
  thread.waiting.clear()
  void thread.worker.terminate()
}

/** The id that git gives to this content where it is UTF-8, so that it is the same file however it was read. */
const keyOf = (text: string, { head }: Pick<Checkout, "head">): string =>
  createHash(head.length === 64 ? "sha256" : "sha1")
    .update(`blob ${Buffer.byteLength(text)}\0${text}`)
    .digest("hex")

/** Returns the definitions around each line, outermost first; undefined where the language or the file cannot be parsed. */
export const definitionsAt = (
  checkout: Pick<Checkout, "blobs" | "head">,
  path: string,
  text: string,
  lines: ReadonlyArray<number>
): Effect.Effect<ReadonlyArray<ReadonlyArray<Definition> | undefined>> => {
  if (lines.length === 0) return Effect.succeed([])
  return Effect.map(requestText(checkout, path, text, { find: "around", offsets: offsetsOf(text, lines) }), (chains) =>
    lines.map((_, index) => chains?.[index]?.map(toDefinition(text)))
  )
}

const toDefinition =
  (text: string) =>
  ({ from, headerTo, nameFrom, nameTo, start, end: last }: DefinitionRange): Definition => ({
    header: text.slice(from, headerTo),
    name: text.slice(nameFrom, nameTo).slice(0, maxName).trim(),
    start,
    end: last
  })

/** Returns the offset of the first code in each of these 1-based lines: a line belongs to the definition in which it begins. */
const offsetsOf = (text: string, lines: ReadonlyArray<number>): ReadonlyArray<number> => {
  const wanted = new Set(lines)
  const offsets = new Map<number, number>()
  for (let line = 1, at = 0; at <= text.length && offsets.size < wanted.size; line++) {
    const next = text.indexOf("\n", at)
    const lineTo = next < 0 ? text.length : next
    if (wanted.has(line)) offsets.set(line, at + Math.max(0, text.slice(at, lineTo).search(/\S/)))
    at = lineTo + 1
  }
  return lines.map((line) => offsets.get(line) ?? text.length)
}

/** Returns all definitions of each file, and undefined as above. */
export const definitionsIn = (files: ReadonlyArray<SourceFile>) => request(files, { find: "definitions" })

/** Returns where names are code in each file, and undefined as above. */
export const usesIn = (files: ReadonlyArray<SourceFile>, names: ReadonlyArray<string>) =>
  request(files, { find: "uses", names })

/** Returns where names are code in a text, and undefined as above. */
export const usesInText = (path: string, text: string, names: ReadonlyArray<string>) =>
  requestText({ head: "" }, path, text, { find: "uses", names: [...new Set(names)] })

/** A text that has been read. Systems without ids of contents have no index. */
const requestText = <T extends SyntaxTask>(
  checkout: Pick<Checkout, "blobs" | "head">,
  path: string,
  text: string,
  task: T
) => {
  const file = { path, key: keyOf(text, checkout), index: checkout.blobs?.index, text: Effect.succeed(text) }
  return text.length > maxSent
    ? Effect.map(request([file], task), ([found]) => found)
    : (parse(file, task) as Effect.Effect<SyntaxResults[T["find"]] | undefined>)
}

/** Requests outlines that the thread may have in few messages; the other files are read, and sent one by one. */
const request = Effect.fnUntraced(function* <T extends SyntaxTask>(files: ReadonlyArray<SourceFile>, task: T) {
  const found: Array<SyntaxResult | "unknown" | undefined> = []
  for (let at = 0; at < files.length; at += filesOfMessage) {
    const some = files.slice(at, at + filesOfMessage)
    const keyed = some.flatMap(({ index, key, path }): ReadonlyArray<SyntaxFile> => {
      const grammar = findGrammar(path)
      return grammar === undefined || key === undefined ? [] : [{ grammar, key, index }]
    })
    const replies = (keyed.length === 0 ? [] : yield* send(keyed, task)).values()
    for (const { key, path } of some) {
      found.push(findGrammar(path) === undefined ? undefined : key === undefined ? "unknown" : replies.next().value)
    }
  }
  const results = yield* Effect.forEach(
    files,
    (file, at) => (found[at] === "unknown" ? parse(file, task) : Effect.succeed(found[at])),
    { concurrency: atOnce }
  )
  return results as ReadonlyArray<SyntaxResults[T["find"]] | undefined>
})

const parse = Effect.fnUntraced(function* ({ index, key, path, text: read }: SourceFile, task: SyntaxTask) {
  const grammar = findGrammar(path)
  const text = yield* read
  if (grammar === undefined || text === undefined || text.length > maxCharacters) return undefined
  const [found] = yield* send([{ grammar, key: key ?? keyOf(text, { head: "" }), index, text }], task)
  return found
})

const send = (files: ReadonlyArray<SyntaxFile>, task: SyntaxTask): Effect.Effect<SyntaxReply["found"]> =>
  Effect.callback<SyntaxReply["found"]>((resume) => {
    const thread = open()
    const id = ++lastId
    const deadline = setTimeout(() => end(thread), responseMillis)
    const settle = () => {
      clearTimeout(deadline)
      thread.waiting.delete(id)
      if (thread.waiting.size > 0) return
      if (thread !== current || thread.searched >= filesPerThread) return end(thread)
      thread.worker.unref()
      thread.keepRunning = endIdle(
        () => true,
        () => end(thread)
      )
    }
    thread.waiting.set(id, (found) => {
      settle()
      resume(Effect.succeed(found))
    })
    thread.searched += files.filter(({ text }) => text !== undefined).length
    thread.keepRunning()
    thread.worker.ref()
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread, not a window
    thread.worker.postMessage({ id, files, task, millis: parseMillis } satisfies SyntaxQuestion)
    return Effect.sync(settle)
  })
