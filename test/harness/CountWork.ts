/**
 * Preloaded into a process: counts the work of the process and its threads, and sends the counts as JSON to each client of the socket
 * `COUNTS_SOCKET`. It replaces functions of Node and of the parser, so that the program needs no counters for it.
 */
import { ChildProcess } from "node:child_process"
import crypto from "node:crypto"
import { createRequire, registerHooks, syncBuiltinESMExports } from "node:module"
import { createServer, Socket } from "node:net"
import threads, { getEnvironmentData, isMainThread, parentPort, setEnvironmentData, Worker } from "node:worker_threads"
import { countPostgres, countSqlite } from "./CountStatements.ts"
import type { WorkerOptions } from "node:worker_threads"
import { countNames } from "./CountNames.ts"
import type { CountName } from "./CountNames.ts"
import { observe } from "./Observe.ts"
import { observeScripts } from "./ObserveScripts.ts"

/** Threads add to the same numbers. */
const key = "counts of the tests"
const received = getEnvironmentData(key)
const shared = received instanceof SharedArrayBuffer ? received : new SharedArrayBuffer(countNames.length * 8)
const totals = new BigInt64Array(shared)
if (isMainThread) setEnvironmentData(key, shared)

const count = (name: CountName, by = 1): void => void Atomics.add(totals, countNames.indexOf(name), BigInt(by))

const named = {
  statements: new Map<string, number>(),
  commits: new Map<string, number>(),
  programs: new Map<string, number>()
}
const countNamed = (kind: keyof typeof named, name: string): void => {
  const text = name.replaceAll(/\s+/g, " ").trim()
  named[kind].set(text, (named[kind].get(text) ?? 0) + 1)
}

/** A thread gets none of the flags of the process. */
class CountedWorker extends Worker {
  constructor(entry: URL, options: WorkerOptions = {}) {
    super(entry, { ...options, execArgv: [...(options.execArgv ?? []), `--import=${import.meta.url}`] })
    count("threads")
  }
}

const launchRequest = /^\{"id":\d+,"program":/

const observeMain = (socket: string): void => {
  const counter = {
    statement: (sql: string) => countNamed("statements", sql),
    commit: (sql: string) => countNamed("commits", sql)
  }
  countSqlite(counter)
  const port = process.env["COUNTS_POSTGRES_PORT"]
  if (port !== undefined) countPostgres(Number(port), counter)
  // `spawn` of a process is not part of its types.
  observe(ChildProcess.prototype as unknown as { spawn: () => void }, "spawn", (_, [options]) =>
    countNamed("programs", String(Object(options).args?.join(" ")))
  )
  // The launcher starts the programs of a service.
  observe(Socket.prototype as unknown as { write: (text: unknown) => void }, "write", (_, [text]) => {
    if (typeof text !== "string" || !launchRequest.test(text)) return
    countNamed("programs", String(Object(JSON.parse(text)).args?.join(" ")))
  })
  observe(crypto, "createHmac", () => count("hmacs"))
  observe(Worker.prototype, "postMessage", () => count("messages"))
  threads.Worker = CountedWorker
  syncBuiltinESMExports()
  createServer((client) =>
    client.end(
      JSON.stringify({
        totals: Object.fromEntries(countNames.map((name, at) => [name, Number(totals[at])])),
        ...Object.fromEntries(Object.entries(named).map(([kind, counts]) => [kind, Object.fromEntries(counts)]))
      })
    )
  )
    .listen(socket)
    .unref()
}

const parser = "@vscode/tree-sitter-wasm"
const scrubs = /(const scrubSecrets = \(text(?:: string\): string)?\)? => \{)/

const countScrubs = (text: string): string | undefined =>
  scrubs.test(text) ? text.replace(scrubs, "$1 globalThis.countScrubbed(text);") : undefined

const observeThread = (): void => {
  if (parentPort !== null) observe(parentPort, "postMessage", () => count("messages"))
  Object.assign(globalThis, { countScrubbed: (text: string) => count("scrubbedCharacters", text.length) })
  registerHooks({
    load(url, context, next) {
      // It parses nothing before its own code has been loaded.
      if (url.includes(`${parser}/`)) setImmediate(() => observeParser(url))
      const loaded = next(url, context)
      const source = countScrubs(loaded.source === undefined ? "" : String(loaded.source))
      return source === undefined ? loaded : { ...loaded, source }
    }
  })
  observeScripts((_, text) => countScrubs(text))
}

const observeParser = (url: string): void => {
  const { Parser } = createRequire(url)(parser)
  observe(Parser.prototype as { parse: (text: string) => unknown }, "parse", () => count("parses"))
}

const socket = process.env["COUNTS_SOCKET"]
if (!isMainThread) observeThread()
else if (socket !== undefined) observeMain(socket)
