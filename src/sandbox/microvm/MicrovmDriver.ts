/**
 * Kind `microvm`: a virtual machine for each pass, with a kernel of its own, an image that it cannot change, and no network device. One
 * device carries the connections to model and tools. The machine is one process of this machine, in a control group.
 */
import { accessSync, constants, globSync, readFileSync } from "node:fs"
import { readFile, writeFile } from "node:fs/promises"
import { delimiter, join } from "node:path"
import { setTimeout as delay } from "node:timers/promises"
import { promisify } from "node:util"
import { gzip } from "node:zlib"
import { Effect } from "effect"
import type { Scope } from "effect"
import type { Reason } from "../../domain/Reason.ts"
import type { SandboxConfig } from "../../config/schema/Agent.ts"
import { readPrograms } from "../link/ProgramTexts.ts"
import { describeEnd, serveTunnel } from "../link/ServeTunnel.ts"
import { ownPaths } from "../Locations.ts"
import { findCgroup, makeCgroup } from "../native/Cgroup.ts"
import { spawnLimited } from "../native/LimitedShell.ts"
import { acquireProcess, controlProcess, endAll } from "../native/NativeProcess.ts"
import { listDescendants, listMarked, markVariable } from "../native/ProcessTree.ts"
import { SandboxError } from "../Sandbox.ts"
import type { SandboxLimits, SandboxRequest } from "../Sandbox.ts"
import type { SandboxDriver, SandboxEnd, SandboxSlot, StartedSandbox } from "../drivers/SandboxDriver.ts"
import { withLifeline } from "./Lifeline.ts"
import { writeInitramfs } from "./Initramfs.ts"
import type { InitEntry } from "./Initramfs.ts"
import { memoryMib, monitors, processors } from "./Monitors.ts"
import type { Machine, MonitorKind } from "./Monitors.ts"
import { linkFolder, modules, startScript } from "./StartScript.ts"

type Microvm = SandboxConfig["microvm"]

const mib = 1_048_576
/** Memory and threads of the monitor, in addition to those of the machine. */
const monitorBytes = 256 * mib
const monitorProcesses = 128

const can = (path: string, mode: number): boolean => {
  try {
    accessSync(path, mode)
    return true
  } catch {
    return false
  }
}

const findProgram = (path: string, ...names: ReadonlyArray<string>): string | undefined =>
  path
    .split(delimiter)
    .flatMap((folder) => names.map((name) => join(folder, name)))
    .find((file) => can(file, constants.X_OK))

interface Parts {
  readonly monitor: MonitorKind
  readonly program: string
  readonly busybox: string
  readonly kernel: string
  readonly image: string
}

const missing = (why: Reason): SandboxError => new SandboxError({ reason: "missing", why })

/** Returns the parts of a machine, or what is missing. `isUsable` returns whether a file can be read and written. */
export const findParts = (
  path: string,
  { emulation, kernel, root_image: image }: Microvm,
  isUsable: (file: string) => boolean = (file) => can(file, constants.R_OK | constants.W_OK)
): Parts | SandboxError => {
  for (const [field, file] of [
    ["kernel", kernel],
    ["root_image", image]
  ] as const) {
    if (file === undefined) return missing({ _tag: field === "kernel" ? "KernelUnset" : "RootImageUnset" })
    if (!can(file, constants.R_OK)) return missing({ _tag: "MicrovmFileUnreadable", file, field })
  }
  if (!emulation && !isUsable("/dev/kvm")) return missing({ _tag: "KvmUnusable" })
  const busybox = findProgram(path, "busybox")
  if (busybox === undefined) return missing({ _tag: "BusyboxMissing" })
  const firecracker = emulation ? undefined : findProgram(path, "firecracker")
  const program = firecracker ?? findProgram(path, "qemu-system-x86_64")
  if (program === undefined || kernel === undefined || image === undefined) return missing({ _tag: "MonitorMissing" })
  return { monitor: firecracker === undefined ? "qemu" : "firecracker", program, busybox, kernel, image }
}

const attempt = <A>(run: () => Promise<A>): Effect.Effect<A, SandboxError> =>
  Effect.tryPromise({
    try: run,
    catch: (cause) =>
      cause instanceof SandboxError
        ? cause
        : new SandboxError({ reason: "failed", why: { _tag: "MicrovmNotPrepared", why: String(cause) } })
  })

const folders = ["bin", "dev", "proc", "sys", "lower", "upper", "root", "cgroup", "modules", "programs"]

const buildInitramfs = async (busybox: string, modulesFolder: string | undefined): Promise<Buffer> => {
  const programs = await readPrograms(join(import.meta.dirname, "Guest.ts"))
  const entries: Array<InitEntry> = [
    ...folders.map((path) => ({ path })),
    { path: "init", content: Buffer.from(startScript), isProgram: true },
    { path: "bin/busybox", content: await readFile(busybox), isProgram: true },
    ...Object.entries(programs).map(([name, text]) => ({ path: `programs/${name}`, content: Buffer.from(text) }))
  ]
  for (const name of modulesFolder === undefined ? [] : modules) {
    const [file] = globSync(join(modulesFolder ?? "", `**/${name}.ko`))
    if (file !== undefined) entries.push({ path: `modules/${name}.ko`, content: readFileSync(file) })
  }
  return promisify(gzip)(writeInitramfs(entries), { level: 1 })
}

/**
 * Limits of the monitor: those of the agent apply inside of the machine. The start of a machine takes whole processors, and its time does
 * not count as that of the agent.
 */
export const monitorLimits = (limits: SandboxLimits, startSeconds: number): SandboxLimits => ({
  ...limits,
  memoryBytes: memoryMib(limits) * mib + monitorBytes,
  cpus: processors(limits),
  processes: monitorProcesses,
  timeMillis: limits.timeMillis + startSeconds * 1000
})

const runMonitor = (machine: Machine, kind: MonitorKind, folder: string, startSeconds: number) =>
  acquireProcess(() => {
    const { mark, program } = machine
    const limits = monitorLimits(machine.limits, startSeconds)
    const cgroup = makeCgroup(mark, limits)
    const environment = { [markVariable]: mark }
    const argv = withLifeline([program, ...monitors[kind].args(machine)])
    const child = spawnLimited(argv, { limits, cgroup, environment, cwd: folder })
    // The monitor goes first: the shell above it ends by itself, and its end would hide the monitor.
    const roots = () => (child.pid === undefined ? [] : listDescendants(child.pid).toReversed())
    const list = () => [...new Set([...roots(), ...(cgroup === undefined ? listMarked(mark) : cgroup.list())])]
    return controlProcess(child, { limits, cgroup, roots, list, kernelBytes: () => 0 })
  })

const start = Effect.fnUntraced(function* (
  parts: Parts,
  microvm: Microvm,
  initramfsOf: (parts: Parts) => Promise<Buffer>,
  request: SandboxRequest,
  { folder, mark }: SandboxSlot
): Effect.fn.Return<StartedSandbox, SandboxError, Scope.Scope> {
  if (request.installation.length > 0)
    return yield* new SandboxError({
      reason: "invalid",
      why: { _tag: "MicrovmWithoutMounts" }
    })
  const { image, kernel, monitor, program } = parts
  const machine: Machine = {
    mark,
    program,
    kernel,
    image,
    initramfs: join(folder, "initramfs"),
    settingsFile: join(folder, "machine.json"),
    limits: request.limits,
    emulates: microvm.emulation,
    isRoot: process.getuid?.() === 0
  }
  yield* attempt(async () => {
    await writeFile(machine.initramfs, await initramfsOf(parts))
    const settings = monitors[monitor].settings?.(machine)
    if (settings !== undefined) await writeFile(machine.settingsFile, JSON.stringify(settings))
  })
  const seconds = microvm.start_timeout_seconds
  const running = yield* runMonitor(machine, monitor, folder, seconds)
  const tunnel = serveTunnel({ input: running.stdout, output: running.stdin }, request)
  let output = ""
  running.stderr.on("data", (chunk: Buffer) => (output = (output + chunk.toString()).slice(-2000)))
  const problem = yield* Effect.promise(() =>
    Promise.race([
      tunnel.connected,
      tunnel.ended.then((reason) => describeEnd(output.trim(), reason)),
      delay<Reason>(seconds * 1000, { _tag: "NotStartedWithin", seconds }, { ref: false })
    ])
  )
  if (problem !== undefined)
    return yield* new SandboxError({ reason: "failed", why: { _tag: "MicrovmUnusable", why: problem } })
  const ended = tunnel.ended.then(async (reason): Promise<SandboxEnd> => {
    running.kill()
    const end = await running.ended
    // The end of its process has no meaning, because the machine was ended here.
    return { code: undefined, limit: end.limit, failure: reason }
  })
  return {
    notices: microvm.emulation ? [{ _tag: "ProcessorEmulated" }] : [],
    paths: ownPaths,
    sockets: { model: `${linkFolder}/model.sock`, tools: `${linkFolder}/tools.sock` },
    environment: {},
    watchesCgroup: true,
    stdin: tunnel.stdin,
    stdout: tunnel.stdout,
    stderr: tunnel.stderr,
    kill: running.kill,
    ended,
    onLimit: running.onLimit
  }
})

/** `path` is the search path of programs. */
export const microvmDriver = (path: string): SandboxDriver => {
  // It is the same for all machines with the same modules.
  const built = new Map<string, Promise<Buffer>>()
  const initramfsOf = (microvm: Microvm) => (parts: Parts) => {
    const key = `${parts.busybox}\0${microvm.modules_dir}`
    const earlier = built.get(key)
    if (earlier !== undefined) return earlier
    const next = buildInitramfs(parts.busybox, microvm.modules_dir)
    built.set(key, next)
    next.catch(() => built.delete(key))
    return next
  }
  const find = (microvm: Microvm): Effect.Effect<Parts, SandboxError> =>
    Effect.suspend(() => {
      const parts = findParts(path, microvm)
      return parts instanceof SandboxError ? Effect.fail(parts) : Effect.succeed(parts)
    })
  return {
    problem: ({ microvm }) =>
      find(microvm).pipe(Effect.match({ onFailure: (error) => error, onSuccess: () => undefined })),
    start: ({ microvm }, request, slot) =>
      Effect.flatMap(find(microvm), (parts) => start(parts, microvm, initramfsOf(microvm), request, slot)),
    sweep: (mark) =>
      Effect.promise(async () => {
        const cgroup = findCgroup(mark)
        await endAll(() => [...listMarked(mark), ...(cgroup?.list() ?? [])])
        cgroup?.remove()
      })
  }
}
