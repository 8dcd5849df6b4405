/**
 * Control group of one native sandbox: the kernel limits memory, processors and processes of all its processes together. Supports
 * both layouts of Linux. Where the service may not create groups, `ProcessTree` watches memory and processes instead.
 */
import { existsSync, mkdirSync, readFileSync, rmdirSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import type { SandboxLimit, SandboxLimits } from "../Sandbox.ts"

export interface Cgroup {
  /** A process that writes 0 to each of these files joins the group. */
  readonly joinFiles: ReadonlyArray<string>
  /** Returns the limit that was reached: a process was killed for lack of memory, or one was refused. */
  readonly findLimit: () => SandboxLimit | undefined
  /** Returns the ids of all processes of the group. */
  readonly list: () => ReadonlyArray<number>
  /** Removes the group. Fails silently while it has processes; returns whether it is gone. */
  readonly remove: () => boolean
}

/** One folder of the group, with the values of its files. Optional ones depend on the kernel. */
interface Part {
  readonly controller: string
  readonly values: (limits: SandboxLimits) => ReadonlyArray<readonly [file: string, value: number | string]>
  readonly optional: (limits: SandboxLimits) => ReadonlyArray<readonly [file: string, value: number | string]>
  readonly counters: ReadonlyArray<readonly [limit: SandboxLimit, file: string, counter: RegExp]>
}

const periodMicros = 100_000
const quota = (limits: SandboxLimits): number => Math.max(1000, Math.round(limits.cpus * periodMicros))
const none = () => []

const memoryEvents = ["memory", "memory.events", /^oom_kill (\d+)/m] as const
const processEvents = ["processes", "pids.events", /^max (\d+)/m] as const

/** Layout 2 has one folder for all controllers, layout 1 one per controller. */
const layouts: Readonly<Record<"one" | "two", ReadonlyArray<Part>>> = {
  two: [
    {
      controller: "",
      values: (limits) => [
        ["memory.max", limits.memoryBytes],
        ["pids.max", limits.processes],
        ["cpu.max", `${quota(limits)} ${periodMicros}`]
      ],
      optional: () => [
        ["memory.swap.max", 0],
        ["memory.oom.group", 1]
      ],
      counters: [memoryEvents, processEvents]
    }
  ],
  one: [
    {
      controller: "memory",
      values: (limits) => [["memory.limit_in_bytes", limits.memoryBytes]],
      optional: (limits) => [["memory.memsw.limit_in_bytes", limits.memoryBytes]],
      counters: [["memory", "memory.oom_control", memoryEvents[2]]]
    },
    {
      controller: "pids",
      values: (limits) => [["pids.max", limits.processes]],
      optional: none,
      counters: [processEvents]
    },
    {
      controller: "cpu",
      values: (limits) => [
        ["cpu.cfs_period_us", periodMicros],
        ["cpu.cfs_quota_us", quota(limits)]
      ],
      optional: none,
      counters: []
    }
  ]
}

const root = "/sys/fs/cgroup"
const prefix = "aicr-"

const read = (path: string): string => {
  try {
    return readFileSync(path, "utf8")
  } catch {
    return ""
  }
}

/** Returns the folders in which a part of the group may be created, the best one first. */
const parentsOf = (part: Part): ReadonlyArray<string> => {
  const line = read("/proc/self/cgroup")
    .split("\n")
    .map((text) => text.split(":"))
    .find(([, names = ""]) => (part.controller === "" ? names === "" : names.split(",").includes(part.controller)))
  if (line === undefined) return []
  const [, names = "", ...rest] = line
  const mount =
    part.controller === "" ? root : [names, part.controller].map((name) => join(root, name)).find(existsSync)
  if (mount === undefined) return []
  const own = join(mount, rest.join(":"))
  // Inside of a container the path may be that of the host. In layout 2 a group with processes cannot have groups with limits: the
  // parent is one that a service manager has delegated.
  return [...new Set([own, dirname(own), mount])].filter((folder) => folder.startsWith(mount) && existsSync(folder))
}

const write = (folder: string, file: string, value: number | string): void =>
  // Never creates the file: a missing one means that the controller is not delegated.
  writeFileSync(join(folder, file), String(value), { flag: "r+" })

const makePart = (part: Part, name: string, limits: SandboxLimits): string | undefined => {
  for (const parent of parentsOf(part)) {
    const folder = join(parent, name)
    try {
      mkdirSync(folder)
      for (const [file, value] of part.values(limits)) write(folder, file, value)
      for (const [file, value] of part.optional(limits)) if (existsSync(join(folder, file))) write(folder, file, value)
      return folder
    } catch {
      // Not permitted here; the next parent may permit it.
      removeFolder(folder)
    }
  }
  return undefined
}

const removeFolder = (folder: string): boolean => {
  try {
    if (existsSync(folder)) rmdirSync(folder)
    return true
  } catch {
    return false
  }
}

const toCgroup = (parts: ReadonlyArray<readonly [Part, string]>): Cgroup => ({
  joinFiles: parts.map(([, folder]) => join(folder, "cgroup.procs")),
  findLimit: () =>
    parts
      .flatMap(([{ counters }, folder]) => counters.map((row) => [folder, ...row] as const))
      .find(([folder, , file, counter]) => Number(counter.exec(read(join(folder, file)))?.[1] ?? 0) > 0)?.[1],
  list: () => [
    ...new Set(
      parts.flatMap(([, folder]) =>
        read(join(folder, "cgroup.procs"))
          .split("\n")
          .filter((line) => line !== "")
          .map(Number)
      )
    )
  ],
  remove: () => parts.map(([, folder]) => removeFolder(folder)).every(Boolean)
})

const layout = (): ReadonlyArray<Part> => (existsSync(join(root, "cgroup.controllers")) ? layouts.two : layouts.one)

/** Creates the group of a sandbox; undefined where that is not permitted. */
export type MakeCgroup = (mark: string, limits: SandboxLimits) => Cgroup | undefined

export const makeCgroup: MakeCgroup = (mark, limits) => {
  const made: Array<readonly [Part, string]> = []
  for (const part of layout()) {
    const folder = makePart(part, prefix + mark, limits)
    if (folder === undefined) {
      for (const [, other] of made) removeFolder(other)
      return undefined
    }
    made.push([part, folder])
  }
  return toCgroup(made)
}

/** Returns the group that an earlier process created under this mark, if there is one. */
export const findCgroup = (mark: string): Cgroup | undefined => {
  const parts = layout().flatMap((part) =>
    parentsOf(part)
      .map((parent) => [part, join(parent, prefix + mark)] as const)
      .filter(([, folder]) => existsSync(folder))
  )
  return parts.length === 0 ? undefined : toCgroup(parts)
}
