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
import { inMessages } from "../threads/Messages.ts"
import { endIdle } from "../threads/WarmThread.ts"
import { findGrammar } from "./Grammars.ts"
import type { Grammar } from "./Grammars.ts"

/** Larger files are machine-made more often than not, and take long. */
const maxCharacters = 1_048_576
const parseMillis = 2_000
/** Limit for one response without its parses, including the load of the grammar. A thread that takes longer is ended. */
const responseMillis = 15_000
const filesPerThread = 1_000
const maxName = 200

/** A file at a revision, which is read only where the thread has no outline of it. */
export interface SourceFile {
  readonly path: string
  /** Id of its content. */
  readonly key?: string | undefined
  /** File of the outlines of its repository. */
  readonly index?: string | undefined
  readonly text: Effect.Effect<string | undefined>
  /** Offsets in the text of which the definitions around them are requested. */
  readonly offsets?: ReadonlyArray<number> | undefined
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

/** A text that has been read, and lines in it. */
interface LinesOfText {
  readonly path: string
  readonly text: string
  /** 1-based. */
  readonly lines: ReadonlyArray<number>
}

type Chains = ReadonlyArray<ReadonlyArray<Definition> | undefined>

/** Returns the definitions around each line of each text, outermost first; undefined where the language or the file cannot be parsed. */
export const definitionsAround = (
  checkout: Pick<Checkout, "blobs" | "head">,
  files: ReadonlyArray<LinesOfText>
): Effect.Effect<ReadonlyArray<Chains>> =>
  Effect.map(
    request(
      files.map(({ lines, path, text }) => ({ ...readFile(checkout, path, text), offsets: offsetsOf(text, lines) })),
      { find: "around" }
    ),
    (found) => files.map(({ lines, text }, at) => lines.map((_, index) => found[at]?.[index]?.map(toDefinition(text))))
  )

/** Returns the definitions around each line of a text. */
export const definitionsAt = (
  checkout: Pick<Checkout, "blobs" | "head">,
  path: string,
  text: string,
  lines: ReadonlyArray<number>
): Effect.Effect<Chains> =>
  lines.length === 0
    ? Effect.succeed([])
    : Effect.map(definitionsAround(checkout, [{ path, text, lines }]), ([chains = []]) => chains)

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

/**
 * Returns where each text speaks to readers, and the definitions around its lines; undefined where the language or the file cannot be parsed.
 */
export const proseIn = (checkout: Pick<Checkout, "blobs" | "head">, files: ReadonlyArray<LinesOfText>) =>
  request(
    files.map(({ lines, path, text }) => ({ ...readFile(checkout, path, text), offsets: offsetsOf(text, lines) })),
    { find: "prose" }
  )

/** Returns all definitions of each file, and undefined as above. */
export const definitionsIn = (files: ReadonlyArray<SourceFile>) => request(files, { find: "definitions" })

/** Returns where names are code in each file, and undefined as above. */
export const usesIn = (files: ReadonlyArray<SourceFile>, names: ReadonlyArray<string>) =>
  request(files, { find: "uses", names })

/** Returns where names are code in a text, and undefined as above. */
export const usesInText = (path: string, text: string, names: ReadonlyArray<string>) =>
  Effect.map(usesIn([readFile({ head: "" }, path, text)], [...new Set(names)]), ([uses]) => uses)

/**
 * Returns whether a change of a text breaks its syntax. A text that had errors before proves nothing, nor does one that cannot be parsed.
 */
export const breaksSyntax = Effect.fnUntraced(function* (path: string, before: string, after: string) {
  const hasErrors = (text: string) =>
    Effect.map(request([{ path, text: Effect.succeed(text) }], { find: "errors" }), ([found]) => found)
  return (yield* hasErrors(after)) === true && (yield* hasErrors(before)) === false
})

/** A text that has been read. Systems without ids of contents have no index. */
const readFile = (checkout: Pick<Checkout, "blobs" | "head">, path: string, text: string): SourceFile => ({
  path,
  key: keyOf(text, checkout),
  index: checkout.blobs?.index,
  text: Effect.succeed(text)
})

/** A file with a grammar, and its position in a request. */
interface RequestedFile extends SourceFile {
  readonly grammar: Grammar
  readonly at: number
}

/** Requests the outlines that the thread has by their keys, and sends the texts of the other files. */
const request = Effect.fnUntraced(function* <T extends SyntaxTask>(files: ReadonlyArray<SourceFile>, task: T) {
  const found: Array<SyntaxResult | undefined> = files.map(() => undefined)
  const unknown: Array<RequestedFile> = []
  const requested = files.flatMap((file, at): ReadonlyArray<RequestedFile> => {
    const grammar = findGrammar(file.path)
    return grammar === undefined ? [] : [{ ...file, grammar, at }]
  })
  const keyed = requested.flatMap((file) => (file.key === undefined ? [] : [{ file, sent: toSent(file, file.key) }]))
  for (const some of inMessages(keyed, () => 0)) {
    const replies = yield* send(
      some.map(({ sent }) => sent),
      task
    )
    for (const [index, { file }] of some.entries()) {
      const reply = replies[index]
      if (reply === "unknown") unknown.push(file)
      else found[file.at] = reply
    }
  }
  unknown.push(...requested.filter(({ key }) => key === undefined))
  // While some files are parsed, the next ones are read.
  yield* Effect.forEach(
    inMessages(unknown, () => 0),
    (some) => parse(some, task, found),
    {
      concurrency: 2,
      discard: true
    }
  )
  return found as ReadonlyArray<SyntaxResults[T["find"]] | undefined>
})

const toSent = ({ grammar, index, offsets }: RequestedFile, key: string): SyntaxFile => ({
  grammar,
  key,
  index,
  offsets
})

/** Reads files and sends their texts. */
const parse = Effect.fnUntraced(function* (
  files: ReadonlyArray<RequestedFile>,
  task: SyntaxTask,
  found: Array<SyntaxResult | undefined>
) {
  const texts = yield* Effect.forEach(files, ({ text }) => text, { concurrency: files.length })
  const read = files.flatMap((file, at) => {
    const text = texts[at]
    if (text === undefined || text.length > maxCharacters) return []
    return [{ at: file.at, text, sent: { ...toSent(file, file.key ?? keyOf(text, { head: "" })), text } }]
  })
  for (const some of inMessages(read, ({ text }) => text.length)) {
    const replies = yield* send(
      some.map(({ sent }) => sent),
      task
    )
    for (const [index, { at }] of some.entries()) {
      const reply = replies[index]
      found[at] = reply === "unknown" ? undefined : reply
    }
  }
})

const send = (files: ReadonlyArray<SyntaxFile>, task: SyntaxTask): Effect.Effect<SyntaxReply["found"]> =>
  Effect.callback<SyntaxReply["found"]>((resume) => {
    const thread = open()
    const id = ++lastId
    const parses = files.filter(({ text }) => text !== undefined).length
    const deadline = setTimeout(() => end(thread), responseMillis + parses * parseMillis)
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
    thread.searched += parses
    thread.keepRunning()
    thread.worker.ref()
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread, not a window
    thread.worker.postMessage({ id, files, task, millis: parseMillis } satisfies SyntaxQuestion)
    return Effect.sync(settle)
  })
