/**
 * Program that runs in every sandbox: it opens the two ports of the loopback interface, forwards their connections to unix sockets,
 * writes the files of the job, and starts the agent. It needs node only, and imports nothing at runtime but node's own modules,
 * because its text is copied into the sandbox (`InsideText.ts`).
 *
 * Its stdin is a lifeline: a line is the job, and the end of the stream, also when the service was killed, ends the program.
 * The sandbox ends with this process.
 */
import { spawn } from "node:child_process"
import { mkdirSync, readFileSync, writeFileSync, writeSync } from "node:fs"
import { connect, createServer } from "node:net"
import { constants } from "node:os"
import { dirname, join } from "node:path"
import type { Job, JobReport } from "./Job.ts"

/** Begins the line of the job. `Supervise.ts` writes it. */
const jobPrefix = "aicr-job "
const watchMillis = 200
const maxConnections = 256

const end = (nonce: string, report: JobReport): never => {
  writeSync(2, `\n${nonce}${JSON.stringify(report)}\n`)
  process.exit(report.code ?? 1)
}

const listen = ({ port, socket }: Job["forwards"][number]): Promise<void> =>
  new Promise((resolve, reject) => {
    const server = createServer({ allowHalfOpen: true }, (client) => {
      const service = connect({ path: socket, allowHalfOpen: true })
      // The end of one side, whatever its reason, is the end of the other.
      client.on("error", () => service.destroy()).pipe(service)
      service.on("error", () => client.destroy()).pipe(client)
    })
    server.maxConnections = maxConnections
    server.once("error", reject).listen(port, "127.0.0.1", resolve)
  })

/** Returns how often a limit of the own control group was reached: kills for lack of memory, refused processes. Layouts 2 and 1. */
const countEvents = (): { readonly memory: number; readonly processes: number } => {
  const read = (path: string, counter: RegExp): number => {
    try {
      return Number(counter.exec(readFileSync(`/sys/fs/cgroup/${path}`, "utf8"))?.[1] ?? 0)
    } catch {
      return 0
    }
  }
  return {
    memory: read("memory.events", /^oom_kill (\d+)/m) + read("memory/memory.oom_control", /^oom_kill (\d+)/m),
    processes: read("pids.events", /^max (\d+)/m) + read("pids/pids.events", /^max (\d+)/m)
  }
}

const exceeded = (before: ReturnType<typeof countEvents>): JobReport["limit"] => {
  const now = countEvents()
  return now.memory > before.memory ? "memory" : now.processes > before.processes ? "processes" : undefined
}

const watch = (job: Job): (() => JobReport["limit"]) => {
  if (!job.watchesCgroup) return () => undefined
  const before = countEvents()
  setInterval(() => {
    const limit = exceeded(before)
    if (limit !== undefined) end(job.nonce, { limit })
  }, watchMillis)
  return () => exceeded(before)
}

const start = async (job: Job): Promise<void> => {
  for (const forward of job.forwards) await listen(forward)
  for (const { path, text } of job.files) {
    mkdirSync(dirname(join(job.scratch, path)), { recursive: true, mode: 0o700 })
    writeFileSync(join(job.scratch, path), text, { mode: 0o600 })
  }
  const findLimit = watch(job)
  const child = spawn(job.command, job.args, {
    cwd: job.repository,
    env: job.environment,
    stdio: [job.stdin === undefined ? "ignore" : "pipe", "inherit", "inherit"]
  })
  // Without isolation, the end of this process does not end its child.
  endProgram = () => void child.kill("SIGKILL")
  child.once("error", ({ message }) => end(job.nonce, { failure: message }))
  child.once("exit", (code, signal) => {
    const limit = findLimit()
    end(
      job.nonce,
      limit === undefined ? { code: code ?? 128 + (signal === null ? 0 : constants.signals[signal]) } : { limit }
    )
  })
  // A program that does not read its stdin is allowed to.
  child.stdin?.on("error", () => {}).end(job.stdin)
}

let text = ""
let endProgram = (): void => {}
let isStarted = false
process.stdin.setEncoding("utf8")
process.stdin.on("data", (chunk: string) => {
  if (isStarted) return
  text += chunk
  // Some engines pass the body of the request that attached the service on to stdin.
  const at = text.indexOf(jobPrefix)
  const until = text.indexOf("\n", at)
  if (at < 0 || until < 0) return
  isStarted = true
  const job: Job = JSON.parse(text.slice(at + jobPrefix.length, until))
  text = ""
  start(job).catch((cause: unknown) => end(job.nonce, { failure: String(cause) }))
})
process.stdin.on("close", () => {
  endProgram()
  process.exit(1)
})
