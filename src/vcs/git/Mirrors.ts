/** All mirrors of a workspaces root: opened for a review, and evicted only while unused. */
import { createHash } from "node:crypto"
import { readdir, rm } from "node:fs/promises"
import { join } from "node:path"
import { Effect, Semaphore } from "effect"
import type { Scope } from "effect"
import { CheckoutError } from "../Checkout.ts"
import type { ProcessLimits } from "../process/ProcessLimits.ts"
import type { KeptMirror } from "../cache/WorkspaceCache.ts"
import { create, formatOfMirror, io, sweepLeftovers } from "./Mirror.ts"
import type { Mirror } from "./Mirror.ts"
import { endUse, isUsedElsewhere, lastUse, markUse, moveUnused, measureBytes } from "./MirrorUse.ts"
import type { ObjectFormat } from "./ObjectFormat.ts"
import { newMark, findOwner } from "../ProcessMark.ts"

/** Returns the folder name: readable, unique, and the same on case-insensitive file systems. */
export const mirrorFolder = (name: string): string => {
  const readable = name
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "-")
    .replace(/^-|-$/g, "")
    .slice(-60)
  return `${readable}-${createHash("sha256").update(name).digest("hex").slice(0, 16)}.git`
}

/** Opens the mirrors under a root; opening the same name twice returns the same mirror with the same lock. */
export interface Mirrors {
  /**
   * Opens a mirror and protects it from eviction until the scope closes. `format` is that of the requested ids; the remote's
   * format is read only if the mirror has another one or none. Ids in another format than the remote's are refused, and a mirror
   * in another format is rebuilt.
   */
  readonly open: (
    name: string,
    format: ObjectFormat,
    remoteFormat: Effect.Effect<ObjectFormat, CheckoutError>
  ) => Effect.Effect<Mirror, CheckoutError, Scope.Scope>
  readonly kept: Effect.Effect<ReadonlyArray<KeptMirror>, CheckoutError>
  /** Removes a mirror with its content. Returns false if it is in use. */
  readonly evict: (folder: string) => Effect.Effect<boolean, CheckoutError>
}

class MirrorState implements Mirror {
  readonly directory: string
  readonly exclusive = Semaphore.makeUnsafe(1).withPermits(1)
  /** Format of the mirror on disk; undefined until it has been read. */
  format: ObjectFormat | undefined
  users = 0
  readonly #limits: () => ProcessLimits

  constructor(directory: string, limits: () => ProcessLimits) {
    this.directory = directory
    this.#limits = limits
  }

  get limits(): ProcessLimits {
    return this.#limits()
  }
}

/** Removes a mirror from its location atomically. Returns false and keeps it if another process uses it. */
const remove = Effect.fnUntraced(function* (
  root: string,
  state: MirrorState,
  onRemoved: (directory: string) => Effect.Effect<unknown>
) {
  state.format = undefined
  const trash = join(root, `${trashPrefix}${newMark()}`)
  if (!(yield* io("mirror", () => moveUnused(state.directory, trash)))) return false
  yield* onRemoved(state.directory)
  yield* io("mirror", () => rm(trash, { recursive: true, force: true }))
  return true
})

/** Ensures that the mirror has the required format; rebuilds one of another format. */
const prepare = Effect.fnUntraced(function* (
  state: MirrorState,
  wanted: ObjectFormat,
  remoteFormat: Effect.Effect<ObjectFormat, CheckoutError>,
  removal: Effect.Effect<boolean, CheckoutError>
) {
  if (state.format === wanted) return
  const { directory } = state
  const present = yield* formatOfMirror(directory)
  // Nearly all repositories use SHA-1; a fetch into a mirror of the wrong format fails without damage.
  const format = wanted === (present ?? "sha1") ? wanted : yield* remoteFormat
  if (present !== undefined && present !== format) {
    yield* Effect.logWarning("mirror of another object format is rebuilt").pipe(
      Effect.annotateLogs({ directory, present, format })
    )
    if (!(yield* removal)) return yield* inUse(directory)
  }
  if (present !== format) yield* create(directory, format, state.limits)
  yield* sweepLeftovers(directory)
  state.format = format
  if (format !== wanted) return yield* otherFormat(wanted, format)
})

/** Counts a use of the mirror until the scope closes. */
const use = (state: MirrorState, mark: string) =>
  Effect.acquireRelease(
    Effect.sync(() => void state.users++),
    () =>
      io("mirror", () => endUse(state.directory, mark)).pipe(
        Effect.catch((error) =>
          Effect.logWarning("use mark of a mirror not removed", { directory: state.directory, error: error.message })
        ),
        Effect.andThen(Effect.sync(() => void state.users--))
      )
  )

/** Opens the mirrors. `onRemoved` receives the directory of a removed mirror. */
export const makeMirrors = (
  root: string,
  limits: () => ProcessLimits,
  onRemoved: (directory: string) => Effect.Effect<unknown>
): Mirrors => {
  const states = new Map<string, MirrorState>()
  const getState = (directory: string): MirrorState => {
    const state = states.get(directory) ?? new MirrorState(directory, limits)
    states.set(directory, state)
    return state
  }

  const open: Mirrors["open"] = Effect.fnUntraced(function* (name, format, remoteFormat) {
    const directory = join(root, mirrorFolder(name))
    const state = getState(directory)
    const mark = newMark()
    yield* use(state, mark)
    const prepared = prepare(state, format, remoteFormat, remove(root, state, onRemoved))
    for (let attempt = 1; ; attempt++) {
      if (state.format !== format) yield* state.exclusive(prepared)
      if (yield* io("mirror", () => markUse(directory, mark))) return state
      // Another process evicted it before the mark was written.
      state.format = undefined
      if (attempt === 3) {
        return yield* new CheckoutError({
          reason: "unreachable",
          why: { _tag: "MirrorRemoved", path: directory }
        })
      }
    }
  })

  const evict = (folder: string) => {
    const state = getState(join(root, folder))
    return state.exclusive(
      Effect.suspend(() => (state.users > 0 ? Effect.succeed(false) : remove(root, state, onRemoved)))
    )
  }

  const kept = io("mirrors", async () => {
    const mirrors: Array<KeptMirror> = []
    for (const name of await readdir(root).catch(() => [])) {
      const directory = join(root, name)
      if (name.startsWith(trashPrefix) && findOwner(name.slice(trashPrefix.length)) === "gone") {
        await rm(directory, { recursive: true, force: true })
      } else if (name.endsWith(".git")) {
        const inUse = (states.get(directory)?.users ?? 0) > 0 || (await isUsedElsewhere(directory))
        mirrors.push({ folder: name, bytes: await measureBytes(directory), usedAt: await lastUse(directory), inUse })
      }
    }
    return mirrors
  })
  return { open, kept, evict }
}

const inUse = (directory: string) =>
  new CheckoutError({
    reason: "unreachable",
    why: { _tag: "MirrorInUse", path: directory }
  })

const otherFormat = (wanted: ObjectFormat, format: ObjectFormat) =>
  new CheckoutError({
    reason: "failed",
    why: { _tag: "ChangeOfOtherFormat", format: wanted, other: format }
  })

const trashPrefix = "evicted-"
