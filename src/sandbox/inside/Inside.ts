/**
 * Program that runs in every sandbox: it opens the two ports of the loopback interface, forwards their connections to unix sockets,
 * writes the files of the job, and starts the agent. It needs node only, and imports nothing at runtime but node's own modules,
 * because its text is copied into the sandbox (`InsideText.ts`).
 *
 * Its stdin is a lifeline: a line is the job, and the end of the stream, also when the service was killed, ends the program.
 * The sandbox ends with this process. With a folder as its argument, its streams are sockets in that folder, for which it waits.
 */
import { spawn } from "node:child_process"
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync, writeSync } from "node:fs"
import { connect, createServer } from "node:net"
import type { Socket } from "node:net"
import { constants } from "node:os"
import { dirname, join } from "node:path"
import type { Job, JobReport } from "./Job.ts"

/** Begins the line of the job. `Supervise.ts` writes it. */
const jobPrefix = "aicr-job "
const watchMillis = 200
const maxConnections = 256
/** Time for output that is still in the pipes of the program; its own children may keep them open. */
const drainMillis = 500

interface Streams {
  readonly stdout: Socket
  readonly stderr: Socket
  readonly stdin: Socket
}
let streams: Streams | undefined
let isEnding = false

const end = (nonce: string, report: JobReport): void => {
  if (isEnding) return
  isEnding = true
  const text = `\n${nonce}${JSON.stringify(report)}\n`
  const exit = (): never => process.exit(report.code ?? 1)
  if (streams !== undefined) {
    const { stderr, stdout } = streams
    return void stdout.end(() => stderr.end(text, exit))
  }
  writeSync(2, text)
  exit()
}

/** Connects to a socket of the folder as soon as it exists. */
const connectTo = (path: string): Promise<Socket> =>
  new Promise((resolve) => {
    const socket = connect({ path, allowHalfOpen: true }, () =>
      resolve(socket.off("error", retry).on("error", () => {}))
    )
    const retry = () => setTimeout(() => void connectTo(path).then(resolve), 50)
    socket.once("error", retry)
  })

const connectStreams = async (folder: string): Promise<Streams> => {
  // The first process of a container gets no signal that it does not expect.
  process.on("SIGTERM", () => process.exit(143))
  const stdout = await connectTo(`${folder}/stdout.sock`)
  const stderr = await connectTo(`${folder}/stderr.sock`)
  return { stdout, stderr, stdin: await connectTo(`${folder}/stdin.sock`) }
}

const listen = ({ port, socket }: Job["forwards"][number]): Promise<void> =>
  new Promise((resolve, reject) => {
    const server = createServer({ allowHalfOpen: true, noDelay: true }, (client) => {
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

/** Returns whether the own user has more processes and threads than that. */
const exceedsTasks = (max: number): boolean => {
  const own = process.getuid?.()
  let tasks = 0
  for (const name of readdirSync("/proc")) {
    if (!/^\d+$/.test(name)) continue
    try {
      const { nlink, uid } = statSync(`/proc/${name}/task`)
      // One link per thread, and two of the folder itself.
      if (uid === own) tasks += nlink - 2
    } catch {
      // It has ended.
    }
    if (tasks > max) return true
  }
  return false
}

const watch = (job: Job): (() => JobReport["limit"]) => {
  const { maxTasks, watchesCgroup } = job
  if (!watchesCgroup && maxTasks === undefined) return () => undefined
  const before = watchesCgroup ? countEvents() : undefined
  const find = (): JobReport["limit"] =>
    (before === undefined ? undefined : exceeded(before)) ??
    (maxTasks !== undefined && exceedsTasks(maxTasks) ? "processes" : undefined)
  setInterval(() => {
    const limit = find()
    if (limit !== undefined) end(job.nonce, { limit })
  }, watchMillis)
  return find
}

const start = async (job: Job): Promise<void> => {
  for (const forward of job.forwards) await listen(forward)
  for (const { path, text } of job.files) {
    mkdirSync(dirname(join(job.scratch, path)), { recursive: true, mode: 0o700 })
    writeFileSync(join(job.scratch, path), text, { mode: 0o600 })
  }
  const findLimit = watch(job)
  const output = streams === undefined ? "inherit" : "pipe"
  const child = spawn(job.command, job.args, {
    cwd: job.repository,
    env: job.environment,
    stdio: [job.stdin === undefined ? "ignore" : "pipe", output, output]
  })
  if (streams !== undefined) {
    child.stdout?.pipe(streams.stdout, { end: false })
    child.stderr?.pipe(streams.stderr, { end: false })
  }
  // Without isolation, the end of this process does not end its child.
  endProgram = () => void child.kill("SIGKILL")
  child.once("error", ({ message }) => end(job.nonce, { failure: message }))
  child.once("exit", (code, signal) => {
    const limit = findLimit()
    const report =
      limit === undefined ? { code: code ?? 128 + (signal === null ? 0 : constants.signals[signal]) } : { limit }
    const finish = () => end(job.nonce, report)
    if (streams === undefined) return finish()
    child.once("close", finish)
    setTimeout(finish, drainMillis)
  })
  // A program that does not read its stdin is allowed to.
  child.stdin?.on("error", () => {}).end(job.stdin)
}

let text = ""
let endProgram = (): void => {}
let isStarted = false

const read = (chunk: string): void => {
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
}

const folder = process.argv[2]
if (folder !== undefined) streams = await connectStreams(folder)
const lifeline = streams?.stdin ?? process.stdin
lifeline.setEncoding("utf8")
lifeline.on("data", read)
for (const event of ["end", "close"])
  lifeline.on(event, () => {
    endProgram()
    process.exit(1)
  })
