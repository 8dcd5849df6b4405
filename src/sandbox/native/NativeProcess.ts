/** A process tree on this machine: watched, ended as a whole, and waited for. Shared by native sandboxes with and without isolation. */
import type { ChildProcess } from "node:child_process"
import type { Readable, Writable } from "node:stream"
import { setTimeout as delay } from "node:timers/promises"
import { Effect } from "effect"
import type { Scope } from "effect"
import { verbatimReason } from "../../domain/Reason.ts"
import type { SandboxLimit, SandboxLimits } from "../Sandbox.ts"
import type { SandboxEnd } from "../drivers/SandboxDriver.ts"
import type { Cgroup } from "./Cgroup.ts"
import { killProcesses, measureProcesses } from "./ProcessTree.ts"

const watchMillis = 200
const endMillis = 10_000

export interface NativeProcess {
  readonly stdin: Writable
  readonly stdout: Readable
  readonly stderr: Readable
  readonly kill: () => void
  readonly ended: Promise<SandboxEnd>
  readonly onLimit: (notify: (limit: SandboxLimit) => void) => void
}

interface ProcessControl {
  readonly limits: SandboxLimits
  readonly cgroup: Cgroup | undefined
  /** Returns the processes whose end ends all others, if there are such. */
  readonly roots: () => ReadonlyArray<number>
  /** Returns all processes that run, the roots too. */
  readonly list: () => ReadonlyArray<number>
  /** Returns the bytes that the kernel holds for the sandbox and for none of its processes. */
  readonly kernelBytes: () => number
}

/** Decides which limit a tree exceeds that no control group limits. */
const findExceeded = (
  limits: SandboxLimits,
  { bytes, threads }: { readonly bytes: number; readonly threads: number }
): SandboxLimit | undefined =>
  bytes > limits.memoryBytes ? "memory" : threads > limits.processes ? "processes" : undefined

export const controlProcess = (child: ChildProcess, control: ProcessControl): NativeProcess => {
  const { cgroup, limits, list } = control
  const { stderr, stdin, stdout } = child
  if (stdin === null || stdout === null || stderr === null) throw new Error("the streams of a sandbox are pipes")
  const exceeded = (): SandboxLimit | undefined => {
    if (cgroup !== undefined) return cgroup.findLimit()
    const pids = list()
    // Reading thousands of processes would give a fork bomb time.
    if (pids.length > limits.processes) return "processes"
    const { bytes, threads } = measureProcesses(pids)
    return findExceeded(limits, { bytes: bytes + control.kernelBytes(), threads })
  }
  const kill = () => {
    killProcesses(control.roots())
    killProcesses(list())
  }
  let watcher: NodeJS.Timeout | undefined
  const exited = new Promise<SandboxEnd>((resolve) => {
    child.once("error", ({ message }) => resolve({ code: undefined, failure: verbatimReason(message) }))
    child.once("exit", (code, signal) =>
      resolve({ code: code ?? undefined, failure: signal === null ? undefined : { _tag: "EndedBySignal", signal } })
    )
  })
  const ended = exited.then(async (end): Promise<SandboxEnd> => {
    clearInterval(watcher)
    const left = await endAll(list)
    const limit = cgroup?.findLimit()
    cgroup?.remove()
    return { code: end.code, limit, failure: left === 0 ? end.failure : { _tag: "ProcessesLeft", count: left } }
  })
  return {
    stdin,
    stdout,
    stderr,
    kill,
    ended,
    onLimit: (notify) => {
      watcher = setInterval(() => {
        const limit = exceeded()
        if (limit !== undefined) notify(limit)
      }, watchMillis)
    }
  }
}

/** Starts a process that is ended with the scope, also when its caller is interrupted. */
export const acquireProcess = (start: () => NativeProcess): Effect.Effect<NativeProcess, never, Scope.Scope> =>
  Effect.acquireRelease(Effect.sync(start), (process) =>
    Effect.promise(() => {
      process.kill()
      return process.ended
    })
  )

/** Ends processes until none is left, and returns how many are left after ten seconds. New ones may appear in between. */
export const endAll = async (list: () => ReadonlyArray<number>): Promise<number> => {
  const until = Date.now() + endMillis
  for (;;) {
    const left = list()
    if (left.length === 0 || Date.now() > until) return left.length
    killProcesses(left)
    await delay(5)
  }
}
