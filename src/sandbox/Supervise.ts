/** Runs a job in a started sandbox: hands the job over, bounds time and output, and determines why the sandbox ended. */
import { randomBytes } from "node:crypto"
import type { Readable } from "node:stream"
import { Effect, Stream } from "effect"
import type { Scope } from "effect"
import type { Job, JobReport } from "./inside/Job.ts"
import { splitLines } from "./OutputLines.ts"
import type {
  SandboxExit,
  SandboxKind,
  SandboxLimit,
  SandboxLimits,
  SandboxProcess,
  SandboxRequest
} from "./Sandbox.ts"
import { StderrTail } from "./StderrTail.ts"
import type { SandboxEnd, StartedSandbox } from "./SandboxDriver.ts"

const messages: Record<SandboxLimit | "cancelled", (limits: SandboxLimits) => string> = {
  memory: ({ memoryBytes }) =>
    `the agent needs over ${toMib(memoryBytes)} MiB of memory; raise sandbox.limits.memory_mb`,
  processes: ({ processes }) =>
    `the agent started over ${processes} processes and threads; raise sandbox.limits.processes`,
  time: ({ timeMillis }) => `the agent took over ${timeMillis / 1000} s; raise agent.timeout_seconds`,
  output: ({ outputBytes }) => `the agent printed over ${toMib(outputBytes)} MiB; raise sandbox.limits.output_mb`,
  cancelled: () => "the agent was cancelled"
}
const toMib = (bytes: number): number => Math.round(bytes / 104_857.6) / 10

/** Decides on the reason, from the first cause for which the sandbox was ended, the report from inside, and the end of its process. */
export const findExit = (
  limits: SandboxLimits,
  cause: SandboxLimit | "cancelled" | undefined,
  report: JobReport | undefined,
  end: SandboxEnd,
  stderr: string
): SandboxExit => {
  const reason = cause ?? end.limit ?? report?.limit
  if (reason !== undefined) return { reason, message: messages[reason](limits) }
  if (report?.code !== undefined) return { reason: "exited", code: report.code }
  if (report?.failure !== undefined)
    return { reason: "engine", message: `the agent could not be started: ${report.failure}` }
  const failure = end.failure ?? (stderr.trim().slice(-500) || `exit code ${end.code ?? "unknown"}`)
  return { reason: "engine", message: `the sandbox ended before the agent: ${failure}` }
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
