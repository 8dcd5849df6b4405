/** Kind `native`: bubblewrap on this machine, or no isolation at all where it is missing and the configuration permits that. */
import { execFile } from "node:child_process"
import { randomInt } from "node:crypto"
import { accessSync, constants, readFileSync, statfsSync } from "node:fs"
import { writeFile } from "node:fs/promises"
import { delimiter, join } from "node:path"
import { promisify } from "node:util"
import { Effect } from "effect"
import type { Scope } from "effect"
import type { Reason } from "../../domain/Reason.ts"
import type { SandboxConfig } from "../../config/schema/Agent.ts"
import { newMark } from "../../vcs/ProcessMark.ts"
import { ownPaths, ownSockets } from "../Locations.ts"
import { permitReading } from "../drivers/PermitReading.ts"
import { SandboxError } from "../Sandbox.ts"
import type { SandboxRequest } from "../Sandbox.ts"
import type { SandboxDriver, SandboxSlot, StartedSandbox } from "../drivers/SandboxDriver.ts"
import { bubblewrapArgs, probeArgs, systemFiles } from "./Bubblewrap.ts"
import type { Isolation } from "./Bubblewrap.ts"
import { findCgroup, makeCgroup } from "./Cgroup.ts"
import type { MakeCgroup } from "./Cgroup.ts"
import { errorText } from "./CommandError.ts"
import { inputFd, spawnLimited } from "./LimitedShell.ts"
import { acquireProcess, controlProcess, endAll } from "./NativeProcess.ts"
import { listDescendants, listMarked } from "./ProcessTree.ts"
import { isFilterArch, seccompFilter } from "./Seccomp.ts"
import { findEndOfAll, startUnconfined } from "./Unconfined.ts"
import type { EndOfAll } from "./Unconfined.ts"

const read = (path: string): string => {
  try {
    return readFileSync(path, "latin1")
  } catch {
    // The sandbox has ended.
    return ""
  }
}

/** A name in a file system in memory, whatever its content: what the kernel itself reserves for it. */
const nameBytes = 1024

/** Returns the bytes of files, names and attributes in the file system of a folder. */
const bytesOfFiles = (folder: string): number => {
  try {
    const { bfree, blocks, bsize, ffree, files } = statfsSync(folder)
    return (blocks - bfree) * bsize + (files - ffree) * nameBytes
  } catch {
    return 0
  }
}

const queues = /^ *\d+: \S+ \S+ \S+ ([0-9A-F]+):([0-9A-F]+) /gm
/** Share of a buffer that is content, at least. */
const contentShare = 0.5

/** Returns the bytes in buffers of sockets. Those of unix sockets are not shown: each counts with the size to which the filter of calls keeps it. */
const bytesOfSockets = (pid: number): number => {
  let content = 0
  for (const name of ["tcp", "tcp6", "udp", "udp6"])
    for (const [, sent = "", received = ""] of read(`/proc/${pid}/net/${name}`).matchAll(queues))
      content += parseInt(sent, 16) + parseInt(received, 16)
  const unix = read(`/proc/${pid}/net/unix`).split("\n").length - 2
  return content / contentShare + Math.max(0, unix) * Number(read("/proc/sys/net/core/wmem_default"))
}

/**
 * Memory that the kernel holds for a native sandbox and for none of its processes. Measured where no control group counts it.
 *
 * `pid` is a process of the sandbox, which has its own network, and `scratch` its folder for files.
 */
const measureKernelMemory = (pid: number, scratch: string): number =>
  bytesOfFiles(`/proc/${pid}/root${scratch}`) + bytesOfSockets(pid)

const statusFd = 3
/** Tasks between the limit that is reported and the one that the kernel enforces: what is refused at the first would never exceed it. */
const spareTasks = 32
/** Limits of a control group that is only tried. */
const anyLimits = { memoryBytes: 67_108_864, cpus: 1, processes: 16, fileBytes: 0, outputBytes: 0, timeMillis: 0 }
/** Number of users of a service that is root, from `sandbox.native.first_uid`. */
const userCount = 65_536

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

const missing = (why: Reason): SandboxError => new SandboxError({ reason: "missing", why })

/** Parts with which every native sandbox of this machine is started. */
interface Tools {
  readonly bubblewrap: string
  /** Only where the service is root. */
  readonly setpriv: string | undefined
  readonly filter: Buffer
}

/** Finds the parts. Fails for an architecture without a filter of system calls, and where root cannot give up its rights. */
const findTools = (path: string, arch: string, isRoot: boolean): Effect.Effect<Tools, SandboxError> =>
  Effect.suspend(() => {
    const bubblewrap = findProgram("bwrap", path)
    const setpriv = isRoot ? findProgram("setpriv", path) : undefined
    if (bubblewrap === undefined) return missing({ _tag: "BubblewrapMissing" })
    if (!isFilterArch(arch)) return missing({ _tag: "ArchitectureUnfiltered", arch })
    if (isRoot && setpriv === undefined) return missing({ _tag: "SetprivMissing" })
    return Effect.succeed({ bubblewrap, setpriv, filter: seccompFilter(arch) })
  })

const isolationOf = ({ bubblewrap, setpriv }: Tools, uid: number, filterFd: number): Isolation => ({
  bubblewrap,
  user: setpriv === undefined ? undefined : { setpriv, uid },
  filterFd
})

/** Checks that this machine permits the isolation. */
const probe = (tools: Tools, uid: number): Effect.Effect<Tools, SandboxError> =>
  Effect.tryPromise({
    try: () => {
      const [command = "", ...args] = probeArgs(isolationOf(tools, uid, 0))
      const running = promisify(execFile)(command, args, { timeout: 10_000 })
      running.child.stdin?.on("error", () => {}).end(tools.filter)
      return running
    },
    catch: (cause) => missing({ _tag: "IsolationRefused", program: tools.bubblewrap, why: errorText(cause) })
  }).pipe(Effect.as(tools))

const startConfined = Effect.fnUntraced(function* (
  tools: Tools,
  uid: number,
  makeGroup: MakeCgroup,
  request: SandboxRequest,
  slot: SandboxSlot
): Effect.fn.Return<StartedSandbox, SandboxError, Scope.Scope> {
  const { folder, mark } = slot
  yield* Effect.tryPromise({
    try: async () => {
      for (const [name, text] of Object.entries(systemFiles)) await writeFile(join(folder, name), text)
      if (tools.setpriv !== undefined) await permitReading(request, [slot.inside, ...systemPaths(folder)])
    },
    catch: (cause) =>
      new SandboxError({ reason: "failed", why: { _tag: "FolderUnwritable", folder, why: String(cause) } })
  })
  const { limits } = request
  let maxTasks: number | undefined
  const running = yield* acquireProcess(() => {
    const cgroup = makeGroup(mark, limits)
    const processes = cgroup === undefined ? limits.processes + spareTasks : undefined
    if (cgroup === undefined) maxTasks = limits.processes
    const start = isolationOf(tools, uid, inputFd)
    const args = bubblewrapArgs({ ...start, request, node: process.execPath, folder, processes, statusFd })
    const child = spawnLimited(args, { limits, cgroup, environment: {}, cwd: "/", input: tools.filter })
    let first: number | undefined
    child.stdio[statusFd]?.on("data", (chunk: Buffer) => {
      first ??= Number(/"child-pid": (\d+)/.exec(chunk.toString())?.[1] ?? 0) || undefined
    })
    // The first process of the namespace ends it: the kernel kills all others with it.
    const roots = () => [first, child.pid].filter((pid) => pid !== undefined)
    const list = () => [...new Set([...roots().flatMap(listDescendants), ...(cgroup?.list() ?? [])])]
    const kernelBytes = () => (first === undefined ? 0 : measureKernelMemory(first, ownPaths.scratch))
    return controlProcess(child, { limits, cgroup, roots, list, kernelBytes })
  })
  const found = { paths: ownPaths, sockets: ownSockets, environment: {}, watchesCgroup: false, maxTasks }
  return { ...running, ...found, notices: [] }
})

const systemPaths = (folder: string): ReadonlyArray<string> =>
  Object.keys(systemFiles).map((name) => join(folder, name))

const tryGroup = (makeGroup: MakeCgroup): boolean => {
  const cgroup = makeGroup(newMark(), anyLimits)
  cgroup?.remove()
  return cgroup !== undefined
}

/** Users of the passes of a service that is root, one after another from a random one. */
const usersOf = () => {
  let next = randomInt(userCount)
  return ({ native }: Pick<SandboxConfig, "native">): number => native.first_uid + (next++ % userCount)
}

export interface NativeMachine {
  /** Search path of programs. */
  readonly path: string
  readonly makeGroup?: MakeCgroup
  readonly arch?: string
  readonly isRoot?: boolean
}

export const nativeDriver = ({
  arch = process.arch,
  isRoot = process.getuid?.() === 0,
  makeGroup = makeCgroup,
  path
}: NativeMachine): SandboxDriver => {
  const nextUser = usersOf()
  // Once it has isolated, a later failure is that of a run.
  let working: Tools | undefined
  const find = (config: SandboxConfig) =>
    Effect.suspend(() =>
      working === undefined
        ? findTools(path, arch, isRoot).pipe(
            Effect.flatMap((tools) => probe(tools, nextUser(config))),
            Effect.tap((tools) => Effect.sync(() => (working = tools)))
          )
        : Effect.succeed(working)
    )
  let endOfAll: EndOfAll | undefined
  const findEnd = Effect.suspend(() =>
    endOfAll === undefined
      ? Effect.tap(
          findEndOfAll(findProgram("unshare", path), isRoot, () => tryGroup(makeGroup)),
          (found) => Effect.sync(() => (endOfAll = found))
        )
      : Effect.succeed(endOfAll)
  )
  const choose = (config: SandboxConfig) =>
    find(config).pipe(
      Effect.map((tools) => ({ _tag: "Confined", tools }) as const),
      Effect.catch((reason) =>
        config.native.unconfined
          ? Effect.map(findEnd, (found) => ({ _tag: "Unconfined", makeGroup, endOfAll: found, reason }) as const)
          : Effect.fail(reason)
      )
    )
  return {
    problem: (config) => choose(config).pipe(Effect.match({ onFailure: (error) => error, onSuccess: () => undefined })),
    start: (config, request, slot) =>
      Effect.flatMap(choose(config), (chosen) =>
        chosen._tag === "Confined"
          ? startConfined(chosen.tools, nextUser(config), makeGroup, request, slot)
          : startUnconfined(chosen, request, slot)
      ),
    sweep: (mark) =>
      Effect.promise(async () => {
        const cgroup = findCgroup(mark)
        await endAll(() => [...listMarked(mark), ...(cgroup?.list() ?? [])])
        cgroup?.remove()
      })
  }
}
