/** The service's end of a tunnel: connects the agent to the two sockets of its pass, and offers the streams of its program. */
import { spawn } from "node:child_process"
import { readdir } from "node:fs/promises"
import { connect } from "node:net"
import { PassThrough } from "node:stream"
import type { Duplex, Readable, Writable } from "node:stream"
import { verbatimReason } from "../../domain/Reason.ts"
import type { Reason } from "../../domain/Reason.ts"
import type { SandboxRequest } from "../Sandbox.ts"
import { startTunnel } from "./Tunnel.ts"
import type { TunnelTarget } from "./Tunnel.ts"

interface ServedTunnel {
  readonly stdin: Writable
  readonly stdout: Readable
  readonly stderr: Readable
  /** Settles when all streams of the program are connected. */
  readonly connected: Promise<void>
  /** Settles when the program has closed its streams, or the tunnel has ended, with the reason. Never rejects. */
  readonly ended: Promise<Reason | undefined>
}

/** The entries of a repository as an archive, in which everyone may read. Not the folder itself: its counterpart has another owner. */
const pack = (repository: string): Readable => {
  const options = ["--mode=a+rX", "--owner=0", "--group=0", "--numeric-owner", "-C", repository]
  const names = ["--null", "--verbatim-files-from", "--files-from=-"]
  const child = spawn("tar", ["-c", ...options, ...names], { stdio: ["pipe", "pipe", "ignore"] })
  child.once("error", (cause) => child.stdout.destroy(cause))
  child.stdin.on("error", () => {})
  readdir(repository).then(
    (entries) => child.stdin.end(entries.map((entry) => `${entry}\0`).join("")),
    (cause: Error) => child.stdout.destroy(cause)
  )
  return child.stdout
}

const join = (one: Duplex, other: Duplex): void => {
  one.on("error", () => other.destroy()).on("close", () => other.destroy())
  other.on("error", () => one.destroy()).on("close", () => one.destroy())
  one.pipe(other).pipe(one)
}

const noRest = (): void => {}

/** Returns why a program cannot be used whose streams ended: what it printed, or why its tunnel ended. */
export const describeEnd = (printed: string, ended: Reason | undefined): Reason =>
  printed === "" ? (ended ?? { _tag: "StreamsEnded" }) : verbatimReason(printed)

export const serveTunnel = (
  link: { readonly input: Readable; readonly output: Writable },
  { repository, sockets }: Pick<SandboxRequest, "repository" | "sockets">
): ServedTunnel => {
  const [stdin, stdout, stderr] = [new PassThrough(), new PassThrough(), new PassThrough()]
  let notifyConnected = noRest
  let notifyEnded: (problem?: Reason) => void = noRest
  const connected = new Promise<void>((resolve) => (notifyConnected = resolve))
  const ended = new Promise<Reason | undefined>((resolve) => (notifyEnded = resolve))
  const open = new Set<TunnelTarget>(["stdin", "stdout", "stderr"])
  const running = new Set<TunnelTarget>(["stdout", "stderr"])
  const start = (target: TunnelTarget) => {
    if (!open.delete(target)) return false
    if (open.size === 0) notifyConnected()
    return true
  }
  const read = (target: TunnelTarget, connection: Duplex, to: PassThrough) => {
    connection.pipe(to)
    connection.once("close", () => {
      to.end()
      running.delete(target)
      if (running.size === 0) notifyEnded()
    })
    connection.once("end", () => connection.end())
  }
  let isSent = false
  const rows: Readonly<Record<TunnelTarget, (connection: Duplex) => void>> = {
    model: (connection) => join(connection, connect({ path: sockets.model, allowHalfOpen: true })),
    tools: (connection) => join(connection, connect({ path: sockets.tools, allowHalfOpen: true })),
    stdin: (connection) => (start("stdin") ? void stdin.pipe(connection) : connection.destroy()),
    stdout: (connection) => (start("stdout") ? read("stdout", connection, stdout) : connection.destroy()),
    stderr: (connection) => (start("stderr") ? read("stderr", connection, stderr) : connection.destroy()),
    repository: (connection) => {
      if (isSent) return connection.destroy()
      isSent = true
      pack(repository)
        .on("error", () => connection.destroy())
        .pipe(connection)
    }
  }
  startTunnel(
    link,
    (target, connection) => rows[target](connection),
    (problem) => {
      stdout.end()
      stderr.end()
      notifyEnded(problem === undefined ? { _tag: "SandboxLinkEnded" } : verbatimReason(problem))
    }
  )
  return { stdin, stdout, stderr, connected, ended }
}
