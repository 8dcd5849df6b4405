/** All mirrors of a workspaces root: opened for a review, and kept in the cache or evicted from it while nobody uses them. */
import { createHash } from "node:crypto"
import { readdir, rm } from "node:fs/promises"
import { join } from "node:path"
import { Effect, Semaphore } from "effect"
import type { Scope } from "effect"
import { CheckoutError } from "../Checkout.ts"
import type { KeptMirror } from "../WorkspaceCache.ts"
import { create, io, sweepLeftovers } from "./Mirror.ts"
import type { Mirror } from "./Mirror.ts"
import { endUse, isUsedElsewhere, lastUse, markUse, moveUnused, sizeOf } from "./MirrorUse.ts"
import { newMark, ownerOf } from "./ProcessMark.ts"

/** Folder name: readable, unique, and the same on file systems that fold case. */
export const mirrorFolder = (name: string): string => {
  const readable = name
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "-")
    .replace(/^-+|-+$/g, "")
    .slice(-60)
  return `${readable}-${createHash("sha256").update(name).digest("hex").slice(0, 16)}.git`
}

/** The mirrors under a root; a second opening of the same name is the same mirror with the same lock. */
export interface Mirrors {
  /** In use, and so kept, until the scope closes. */
  readonly open: (name: string, anyCommit: string) => Effect.Effect<Mirror, CheckoutError, Scope.Scope>
  readonly kept: Effect.Effect<ReadonlyArray<KeptMirror>, CheckoutError>
  /** Removes a mirror with all it holds. False: it is in use. */
  readonly evict: (folder: string) => Effect.Effect<boolean, CheckoutError>
}

interface State extends Mirror {
  ready: boolean
  users: number
}

/** `released` is told of a mirror's directory when it is gone. */
export const makeMirrors = (root: string, released: (directory: string) => Effect.Effect<void>): Mirrors => {
  const states = new Map<string, State>()
  const stateOf = (directory: string): State => {
    const known = states.get(directory)
    if (known !== undefined) return known
    const fresh = { directory, exclusive: Semaphore.makeUnsafe(1).withPermits(1), ready: false, users: 0 }
    states.set(directory, fresh)
    return fresh
  }
  const prepare = (state: State, sha256: boolean) =>
    state.exclusive(
      Effect.gen(function* () {
        if (state.ready) return
        yield* create(state.directory, sha256)
        yield* sweepLeftovers(state.directory)
        state.ready = true
      })
    )

  const open = Effect.fnUntraced(function* (name: string, anyCommit: string) {
    const directory = join(root, mirrorFolder(name))
    const state = stateOf(directory)
    const use = newMark()
    yield* Effect.acquireRelease(
      Effect.sync(() => void state.users++),
      () =>
        io("mirror", () => endUse(directory, use)).pipe(
          Effect.catch((error) => Effect.logWarning(`the mark of a use was not removed: ${error.message}`)),
          Effect.andThen(Effect.sync(() => void state.users--))
        )
    )
    for (let attempt = 1; ; attempt++) {
      if (!state.ready) yield* prepare(state, anyCommit.length === 64)
      if (yield* io("mirror", () => markUse(directory, use))) return state
      // Another process evicted it before the mark was there.
      state.ready = false
      if (attempt === 3) {
        return yield* new CheckoutError({ reason: "unreachable", message: `${directory} is removed again and again` })
      }
    }
  })

  const evict = (folder: string) => {
    const directory = join(root, folder)
    const state = stateOf(directory)
    const remove = Effect.gen(function* () {
      if (state.users > 0) return false
      state.ready = false
      const trash = join(root, `${trashPrefix}${newMark()}`)
      if (!(yield* io("mirror", () => moveUnused(directory, trash)))) return false
      yield* released(directory)
      yield* io("mirror", () => rm(trash, { recursive: true, force: true }))
      return true
    })
    return state.exclusive(remove)
  }

  const kept = io("mirrors", async () => {
    const found: Array<KeptMirror> = []
    for (const name of await readdir(root).catch(() => [])) {
      const directory = join(root, name)
      if (name.startsWith(trashPrefix) && ownerOf(name.slice(trashPrefix.length)) === "gone") {
        await rm(directory, { recursive: true, force: true })
      } else if (name.endsWith(".git")) {
        const inUse = (states.get(directory)?.users ?? 0) > 0 || (await isUsedElsewhere(directory))
        found.push({ folder: name, bytes: await sizeOf(directory), usedAt: await lastUse(directory), inUse })
      }
    }
    return found
  })
  return { open, kept, evict }
}

const trashPrefix = "evicted-"
