/** Runs a job in a started sandbox: hands the job over, bounds time and output, and determines why the sandbox ended. */
import { randomBytes } from "node:crypto"
import type { Readable } from "node:stream"
import { Effect, Stream } from "effect"
import type { Scope } from "effect"
import { verbatimReason } from "../../domain/Reason.ts"
import type { Reason } from "../../domain/Reason.ts"
import type { Job, JobReport } from "../inside/Job.ts"
import type {
  SandboxExit,
  SandboxKind,
  SandboxLimit,
  SandboxLimits,
  SandboxProcess,
  SandboxRequest
} from "../Sandbox.ts"
import type { SandboxEnd, StartedSandbox } from "./SandboxDriver.ts"
import { StringDecoder } from "node:string_decoder"

/**
 * Splits the output of a program into lines, as fast as the reader takes them.
 *
 * Characters of a line; the rest of a longer one is dropped.
 */
export const maxLineChars = 1_048_576

/** Collects lines from chunks of text. A line beyond its limit costs nothing, however small the chunks are. */
export class OutputLines {
  #line = ""

  /** Returns the lines that the text completes. */
  add(text: string): ReadonlyArray<string> {
    const lines = text.split("\n")
    const rest = lines.pop() ?? ""
    const [first, ...others] = lines
    if (first === undefined) {
      this.#line = this.#continued(rest)
      return []
    }
    const complete = [this.#continued(first), ...others.map(cut)]
    this.#line = cut(rest)
    return complete
  }

  /** Returns the last line, which has no end. */
  end(): ReadonlyArray<string> {
    return this.#line === "" ? [] : [this.#line]
  }

  /** Returns a full line unchanged, because cutting copies it. */
  #continued(text: string): string {
    return this.#line.length >= maxLineChars ? this.#line : cut(this.#line + text)
  }
}

/**
 * Returns the complete lines of each chunk. `isOver` ends them early, and so does the error of a stream that was destroyed with its
 * program.
 */
export async function* splitLines(
  output: Readable,
  count: (chunk: Buffer) => void,
  isOver: () => boolean
): AsyncGenerator<ReadonlyArray<string>> {
  const decoder = new StringDecoder("utf8")
  const lines = new OutputLines()
  try {
    for await (const chunk of output.iterator({ destroyOnReturn: false })) {
      count(chunk)
      if (isOver()) break
      const complete = lines.add(decoder.write(chunk))
      if (complete.length > 0) yield complete
    }
  } catch (cause) {
    if (!output.destroyed) throw cause
  }
  // What is still in the pipe must not block the end of its program.
  output.resume()
  const last = lines.end()
  if (last.length > 0) yield last
}

const cut = (line: string): string => line.slice(0, maxLineChars)

const maxChars = 16_384
const maxReport = 4096
const maxCode = 255

/** The last part of stderr, without the report of `Inside.ts`, which is part of the same stream. */
export class StderrTail {
  readonly #nonce: string
  #text = ""

  constructor(nonce: string) {
    this.#nonce = nonce
  }

  add(chunk: Buffer): void {
    this.#text = (this.#text + chunk.toString("utf8")).slice(-(maxChars + maxReport))
  }

  text(): string {
    const at = this.#text.lastIndexOf(this.#nonce)
    return (at < 0 ? this.#text : this.#text.slice(0, Math.max(0, at - 1))).slice(-maxChars)
  }

  /** Returns the report, or undefined if `Inside.ts` was ended before it could write one. */
  report(): JobReport | undefined {
    const at = this.#text.lastIndexOf(this.#nonce)
    if (at < 0) return undefined
    const [line = ""] = this.#text.slice(at + this.#nonce.length).split("\n", 1)
    try {
      return toReport(JSON.parse(line))
    } catch {
      // The report was cut.
      return undefined
    }
  }
}

/** A program that runs as the same user may learn the nonce, so the report is not trusted to be one. */
const toReport = (value: unknown): JobReport | undefined => {
  if (typeof value !== "object" || value === null) return undefined
  const { code, failure, limit }: { readonly [name in keyof JobReport]?: unknown } = value
  if (limit === "memory" || limit === "processes") return { limit }
  if (typeof code === "number" && Number.isInteger(code) && code >= 0 && code <= maxCode) return { code }
  return typeof failure === "string" ? { failure } : undefined
}

const reasons: Record<SandboxLimit | "cancelled", (limits: SandboxLimits) => Reason> = {
  memory: ({ memoryBytes }) => ({ _tag: "AgentOverMemory", megabytes: toMib(memoryBytes) }),
  processes: ({ processes }) => ({ _tag: "AgentOverProcesses", count: processes }),
  time: ({ timeMillis }) => ({ _tag: "AgentOverTime", seconds: timeMillis / 1000 }),
  output: ({ outputBytes }) => ({ _tag: "AgentOverOutput", megabytes: toMib(outputBytes) }),
  cancelled: () => ({ _tag: "AgentCancelled" })
}
const toMib = (bytes: number): number => Math.round(bytes / 104_857.6) / 10

const describeEnd = ({ code }: SandboxEnd, stderr: string): Reason => {
  const printed = stderr.trim().slice(-500)
  if (printed !== "") return verbatimReason(printed)
  return code === undefined ? { _tag: "ExitCodeUnknown" } : { _tag: "ExitCode", code }
}

/** Decides on the reason, from the first cause for which the sandbox was ended, the report from inside, and the end of its process. */
export const findExit = (
  limits: SandboxLimits,
  cause: SandboxLimit | "cancelled" | undefined,
  report: JobReport | undefined,
  end: SandboxEnd,
  stderr: string
): SandboxExit => {
  const reason = cause ?? end.limit ?? report?.limit
  if (reason !== undefined) return { reason, why: reasons[reason](limits) }
  if (report?.code !== undefined) return { reason: "exited", code: report.code }
  if (report?.failure !== undefined) return { reason: "engine", why: { _tag: "AgentNotStarted", why: report.failure } }
  return { reason: "engine", why: { _tag: "SandboxEnded", why: end.failure ?? describeEnd(end, stderr) } }
}

/** Ends the sandbox with the scope, and waits until no process is left. */
export const supervise = Effect.fnUntraced(function* (
  kind: SandboxKind,
  request: SandboxRequest,
  sandbox: StartedSandbox
): Effect.fn.Return<SandboxProcess, never, Scope.Scope> {
  const { limits } = request
  const nonce = `aicr-${randomBytes(12).toString("hex")} `
  const stderr = new StderrTail(nonce)
  let cause: SandboxLimit | "cancelled" | undefined
  let isEnded = false
  const end = (reason: SandboxLimit | "cancelled") => {
    if (isEnded) return
    cause ??= reason
    sandbox.kill()
  }
  let bytes = 0
  const count = (chunk: Buffer) => {
    bytes += chunk.length
    if (bytes > limits.outputBytes) end("output")
  }
  const timer = setTimeout(() => end("time"), limits.timeMillis)
  sandbox.onLimit(end)
  sandbox.stderr.on("data", (chunk: Buffer) => {
    count(chunk)
    stderr.add(chunk)
  })
  const exit = Promise.all([sandbox.ended, closed(sandbox.stderr)]).then(([ended]) => {
    isEnded = true
    clearTimeout(timer)
    return findExit(limits, cause, stderr.report(), ended, stderr.text())
  })
  yield* Effect.addFinalizer(() => {
    end("cancelled")
    return Effect.promise(() => exit)
  })
  sandbox.stdin.on("error", () => {})
  sandbox.stdin.write(`aicr-job ${JSON.stringify(toJob(nonce, request, sandbox))}\n`)
  return {
    kind,
    notices: sandbox.notices,
    lines: Stream.fromAsyncIterable(
      splitLines(sandbox.stdout, count, () => cause !== undefined),
      (error) => error
    ).pipe(Stream.flattenIterable, Stream.orDie),
    exit: Effect.promise(() => exit),
    stderr: Effect.sync(() => stderr.text())
  }
})

/** Settles when the stream has ended, also early. */
const closed = (stream: Readable): Promise<void> =>
  new Promise((resolve) => (stream.closed ? resolve() : stream.once("close", resolve)))

const toJob = (nonce: string, request: SandboxRequest, sandbox: StartedSandbox): Job => {
  const { maxTasks, paths, sockets, watchesCgroup } = sandbox
  const { args, command, environment, files, stdin } = request.program(paths)
  return {
    nonce,
    command,
    args,
    environment: { ...environment, ...sandbox.environment },
    stdin,
    files,
    repository: paths.repository,
    scratch: paths.scratch,
    forwards: [
      { port: paths.modelPort, socket: sockets.model },
      { port: paths.toolsPort, socket: sockets.tools }
    ],
    watchesCgroup,
    maxTasks
  }
}
