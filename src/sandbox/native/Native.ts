/** Kind `native`: bubblewrap on this machine, or no isolation at all where it is missing and the configuration permits that. */
import { execFile } from "node:child_process"
import { accessSync, constants, statfsSync } from "node:fs"
import { writeFile } from "node:fs/promises"
import { delimiter, join } from "node:path"
import { promisify } from "node:util"
import { Effect } from "effect"
import type { Scope } from "effect"
import { ownPaths, ownSockets } from "../Locations.ts"
import { SandboxError } from "../Sandbox.ts"
import type { SandboxRequest } from "../Sandbox.ts"
import type { SandboxDriver, SandboxSlot, StartedSandbox } from "../SandboxDriver.ts"
import { bubblewrapArgs, isolation, system, systemFiles } from "./Bubblewrap.ts"
import { findCgroup, makeCgroup } from "./Cgroup.ts"
import type { MakeCgroup } from "./Cgroup.ts"
import { spawnLimited } from "./LimitedShell.ts"
import { acquireProcess, controlProcess, endAll } from "./NativeProcess.ts"
import { listDescendants, listMarked } from "./ProcessTree.ts"
import { startUnconfined } from "./Unconfined.ts"

const statusFd = 3

const findProgram = (name: string, path: string): string | undefined =>
  path
    .split(delimiter)
    .map((folder) => join(folder, name))
    .find((file) => {
      try {
        accessSync(file, constants.X_OK)
        return true
      } catch {
        return false
      }
    })

/** Returns bubblewrap, if it can isolate on this machine. */
const findBubblewrap = (path: string): Effect.Effect<string, SandboxError> => {
  const file = findProgram("bwrap", path)
  if (file === undefined) {
    return Effect.fail(
      new SandboxError({
        reason: "missing",
        message:
          "bubblewrap (bwrap) is not installed, and sandbox kind native needs it; install it (Debian: apt-get install bubblewrap) or select another sandbox.kind"
      })
    )
  }
  return Effect.tryPromise({
    try: () =>
      promisify(execFile)(file, [...isolation, ...system(), "--", "/bin/sh", "-c", "exit 0"], { timeout: 10_000 }),
    catch: (cause) =>
      new SandboxError({
        reason: "missing",
        message: `bubblewrap (${file}) cannot isolate programs on this machine: ${errorText(cause)}; permit user namespaces to the service (in a container also a new /proc) or select another sandbox.kind`
      })
  }).pipe(Effect.as(file))
}

const errorText = (cause: unknown): string => {
  const stderr = typeof cause === "object" && cause !== null && "stderr" in cause ? String(cause.stderr).trim() : ""
  return stderr === "" ? String(cause) : stderr
}

const startConfined = Effect.fnUntraced(function* (
  bubblewrap: string,
  makeGroup: MakeCgroup,
  request: SandboxRequest,
  { folder, mark }: SandboxSlot
): Effect.fn.Return<StartedSandbox, SandboxError, Scope.Scope> {
  yield* Effect.tryPromise({
    try: async () => {
      for (const [name, text] of Object.entries(systemFiles)) await writeFile(join(folder, name), text)
    },
    catch: (cause) => new SandboxError({ reason: "failed", message: `cannot write to ${folder}: ${String(cause)}` })
  })
  const { limits } = request
  const running = yield* acquireProcess(() => {
    const cgroup = makeGroup(mark, limits)
    const processes = cgroup === undefined ? limits.processes : undefined
    const args = bubblewrapArgs({ request, node: process.execPath, folder, processes, statusFd })
    const child = spawnLimited([bubblewrap, ...args], { limits, cgroup, environment: {}, cwd: "/" })
    let first: number | undefined
    child.stdio[statusFd]?.on("data", (chunk: Buffer) => {
      first ??= Number(/"child-pid": (\d+)/.exec(chunk.toString())?.[1] ?? 0) || undefined
    })
    // The first process of the namespace ends it: the kernel kills all others with it.
    const roots = () => [first, child.pid].filter((pid) => pid !== undefined)
    const list = () => [...new Set([...roots().flatMap(listDescendants), ...(cgroup?.list() ?? [])])]
    const fileBytes = () => (first === undefined ? 0 : usedBytes(`/proc/${first}/root${ownPaths.scratch}`))
    return controlProcess(child, { limits, cgroup, roots, list, fileBytes })
  })
  return { ...running, notices: [], paths: ownPaths, sockets: ownSockets, environment: {}, watchesCgroup: false }
})

const usedBytes = (folder: string): number => {
  try {
    const { bfree, blocks, bsize } = statfsSync(folder)
    return (blocks - bfree) * bsize
  } catch {
    // The sandbox has ended.
    return 0
  }
}

/** `path` is the search path of programs. */
export const nativeDriver = (path: string, makeGroup: MakeCgroup = makeCgroup): SandboxDriver => {
  // Once it has isolated, a later failure is that of a run.
  let working: string | undefined
  const find = Effect.suspend(() =>
    working === undefined
      ? Effect.tap(findBubblewrap(path), (file) => Effect.sync(() => (working = file)))
      : Effect.succeed(working)
  )
  return {
    problem: ({ native }) =>
      native.unconfined
        ? Effect.succeed(undefined)
        : find.pipe(Effect.match({ onFailure: (error) => error, onSuccess: () => undefined })),
    start: ({ native }, request, slot) =>
      find.pipe(
        Effect.matchEffect({
          onSuccess: (file) => startConfined(file, makeGroup, request, slot),
          onFailure: (error) =>
            native.unconfined ? startUnconfined(makeGroup, request, slot, error) : Effect.fail(error)
        })
      ),
    sweep: (mark) =>
      Effect.promise(async () => {
        const cgroup = findCgroup(mark)
        await endAll(() => [...listMarked(mark), ...(cgroup?.list() ?? [])])
        cgroup?.remove()
      })
  }
}
