/** Starts sandboxes of every kind, each with a folder of its own, and removes those of processes that no longer run. */
import { mkdir, readdir, rm, writeFile } from "node:fs/promises"
import { join, isAbsolute, normalize } from "node:path"
import { Effect, Layer } from "effect"
import type { Reason } from "../domain/Reason.ts"
import type { Env } from "../config/Credentials.ts"
import type { SandboxConfig } from "../config/schema/Agent.ts"
import { makeFolder } from "../database/MakeFolder.ts"
import { findOwner, newMark } from "../vcs/ProcessMark.ts"
import { readInside } from "./inside/InsideText.ts"
import { SandboxError, Sandboxes } from "./Sandbox.ts"
import type { SandboxKind, SandboxRequest } from "./Sandbox.ts"
import type { SandboxSlot } from "./drivers/SandboxDriver.ts"
import { listCandidates, makeDrivers } from "./drivers/SandboxKinds.ts"
import type { Drivers } from "./drivers/SandboxKinds.ts"
import { supervise } from "./drivers/Supervise.ts"
import { ownPaths } from "./Locations.ts"

const isInside = (path: string): boolean => {
  const normal = normalize(path)
  return path !== "" && !path.includes("\0") && !isAbsolute(normal) && normal !== ".." && !normal.startsWith("../")
}

/**
 * Refuses requests that no kind may run: paths that are not absolute, and programs whose files leave the scratch folder.
 */
export const findRequestProblem = (request: SandboxRequest): Reason | undefined => {
  const { installation, program, repository, sockets } = request
  for (const path of [repository, ...installation, sockets.model, sockets.tools])
    if (!isAbsolute(path)) return { _tag: "SandboxPathRelative", path }
  if (installation.some((path) => normalize(path) === "/")) return { _tag: "InstallationIsRoot" }
  const file = program(ownPaths).files.find(({ path }) => !isInside(path))
  return file === undefined ? undefined : { _tag: "FileOutsideScratch", path: file.path }
}

const checkRequest = (request: SandboxRequest): Effect.Effect<void, SandboxError> => {
  const problem = findRequestProblem(request)
  return problem === undefined ? Effect.void : Effect.fail(new SandboxError({ reason: "invalid", why: problem }))
}

const io = <A>(
  failure: "FolderNotCreated" | "FolderNotRemoved",
  folder: string,
  run: () => Promise<A>
): Effect.Effect<A, SandboxError> =>
  Effect.tryPromise({
    try: run,
    catch: (cause) => new SandboxError({ reason: "failed", why: { _tag: failure, folder, why: String(cause) } })
  })

const select = Effect.fnUntraced(function* (
  drivers: Drivers,
  config: SandboxConfig
): Effect.fn.Return<SandboxKind, SandboxError> {
  const candidates = listCandidates(config)
  if (candidates instanceof SandboxError) return yield* candidates
  const problems: Array<Reason> = []
  for (const kind of candidates) {
    const problem = yield* drivers[kind].problem(config)
    if (problem === undefined) return kind
    // An engine that exists is used or reported; only one that is missing lets the next be tried.
    if (problem.reason !== "missing") return yield* problem
    problems.push(problem.why)
  }
  const [only, ...others] = problems
  const why: Reason = only !== undefined && others.length === 0 ? only : { _tag: "Several", reasons: problems }
  return yield* new SandboxError({ reason: "missing", why })
})

/** Creates the folder of a sandbox, which is removed with the scope. It is the record by which its remains are found after a kill. */
const openSlot = (root: string, kind: SandboxKind) =>
  Effect.acquireRelease(
    io("FolderNotCreated", root, async (): Promise<SandboxSlot> => {
      const mark = newMark()
      const folder = join(root, kind, mark)
      makeFolder(folder)
      const inside = join(folder, "inside.mjs")
      const empty = join(folder, "repository")
      await mkdir(empty)
      await writeFile(inside, await readInside())
      return { mark, folder, inside, empty }
    }),
    ({ folder }) =>
      io("FolderNotRemoved", folder, () => rm(folder, { recursive: true, force: true })).pipe(
        Effect.catch((error) => Effect.logWarning("sandbox folder not removed", { folder, error: error.message }))
      )
  )

const isKind = (drivers: Drivers, name: string): name is SandboxKind => Object.hasOwn(drivers, name)

/** Removes sandboxes of processes that no longer run; returns their number. One that cannot be removed is logged and kept. */
const sweepSandboxes = Effect.fnUntraced(function* (root: string, drivers: Drivers) {
  const list = (folder: string) => Effect.promise(() => readdir(folder).catch(() => []))
  let removed = 0
  for (const kind of yield* list(root)) {
    if (!isKind(drivers, kind)) continue
    for (const mark of yield* list(join(root, kind))) {
      if (findOwner(mark) !== "gone") continue
      const folder = join(root, kind, mark)
      const sweep = drivers[kind]
        .sweep(mark, folder)
        .pipe(Effect.andThen(io("FolderNotRemoved", folder, () => rm(folder, { recursive: true, force: true }))))
      const isRemoved = yield* sweep.pipe(
        Effect.as(true),
        Effect.catch((error) =>
          Effect.as(Effect.logWarning("orphaned sandbox not removed", { kind, folder, error: error.message }), false)
        )
      )
      if (isRemoved) removed++
    }
  }
  return removed
})

/** `root` is a folder of this node alone, `environment` that of the service. */
export const sandboxesLayer = (root: string, environment: Env): Layer.Layer<Sandboxes> =>
  sandboxesOver(root, makeDrivers(environment))

export const sandboxesOver = (root: string, drivers: Drivers): Layer.Layer<Sandboxes> =>
  Layer.effect(
    Sandboxes,
    Effect.gen(function* () {
      const orphans = yield* sweepSandboxes(root, drivers)
      if (orphans > 0) yield* Effect.logInfo("orphaned sandboxes removed", { orphans })
      return Sandboxes.of({
        select: (config) => select(drivers, config),
        start: Effect.fnUntraced(function* (config, order) {
          const kind = yield* select(drivers, config)
          const slot = yield* openSlot(root, kind)
          const request = { ...order, repository: order.repository ?? slot.empty }
          yield* checkRequest(request)
          const sandbox = yield* drivers[kind].start(config, request, slot)
          return yield* supervise(kind, request, sandbox)
        })
      })
    })
  )
