/** Runs a job in a started sandbox: hands the job over, bounds time and output, and determines why the sandbox ended. */
import { randomBytes } from "node:crypto"
import type { Readable } from "node:stream"
import { Effect, Stream } from "effect"
import type { Scope } from "effect"
import { verbatimReason } from "../../domain/Reason.ts"
import type { Reason } from "../../domain/Reason.ts"
import type { Job, JobReport } from "../inside/Job.ts"
import { splitLines } from "./OutputLines.ts"
import type {
  SandboxExit,
  SandboxKind,
  SandboxLimit,
  SandboxLimits,
  SandboxProcess,
  SandboxRequest
} from "../Sandbox.ts"
import { StderrTail } from "./StderrTail.ts"
import type { SandboxEnd, StartedSandbox } from "./SandboxDriver.ts"

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
