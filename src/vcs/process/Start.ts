/** Starts a program that leads its own process group: as a child of this process, or of the launcher. */
import { spawn } from "node:child_process"
import type { Readable, Writable } from "node:stream"

export interface StartRequest {
  /** Name on the path, or absolute path. */
  readonly program: string
  readonly args: ReadonlyArray<string>
  readonly cwd: string
  /** The whole environment. */
  readonly env: Readonly<Record<string, string>>
}

export interface Closed {
  /** Undefined: ended by a signal, or never started. */
  readonly code: number | undefined
  readonly signal: NodeJS.Signals | undefined
  /** Reason for which it was never started. */
  readonly error?: string
}

export interface Started {
  /** Undefined if it was not started. */
  readonly pid: number | undefined
  readonly stdin: Writable
  readonly stdout: Readable
  readonly stderr: Readable
  /** Signals all processes of its group. */
  readonly signal: (name: NodeJS.Signals) => void
  /** Settles when the process has ended and its output is closed; never rejects. */
  readonly closed: Promise<Closed>
}

export const startAsChild = ({ args, cwd, env, program }: StartRequest): Started => {
  const child = spawn(program, args, { cwd, env: { ...env }, stdio: ["pipe", "pipe", "pipe"], detached: true })
  const { pid, stderr, stdin, stdout } = child
  const closed = new Promise<Closed>((resolve) => {
    child.once("error", ({ message }) => resolve({ code: undefined, signal: undefined, error: message }))
    child.once("close", (code, signal) => resolve({ code: code ?? undefined, signal: signal ?? undefined }))
  })
  return { pid, stdin, stdout, stderr, closed, signal: (name) => signalGroup(pid, name) }
}

export const signalGroup = (pid: number | undefined, name: NodeJS.Signals): void => {
  if (pid === undefined) return
  try {
    process.kill(-pid, name)
  } catch {
    // The group has already ended, which is the goal.
  }
}
