/**
 * Exports of further repositories, shared by the reviews of a node and kept for a while after the last one, because every review of a
 * workspace reads the same revision.
 */
import { mkdir } from "node:fs/promises"
import { join } from "node:path"
import { Effect, RcMap } from "effect"
import { CheckoutError } from "../Checkout.ts"
import type { Mount } from "../ContextRepositories.ts"
import { io } from "../git/Mirror.ts"
import { mountFolder } from "./FolderMount.ts"
import { makeScratchObjects } from "./ScratchObjects.ts"
import type { SourceCheckoutOptions } from "./SourceCheckout.ts"

export interface Export {
  /** Identifies the server, the user, the folder and the revision. */
  readonly key: string
  readonly revision: string
  readonly maxBytes: number
  readonly exportTo: (folder: string) => Effect.Effect<void, CheckoutError>
}

const idleTimeToLive = "10 minutes"

export const makeSharedExports = Effect.fnUntraced(function* ({ limits, root }: SourceCheckoutOptions) {
  /** Requests of the keys that are being looked up. */
  const wanted = new Map<string, Export>()
  const exports = yield* RcMap.make({
    idleTimeToLive,
    lookup: (key: string) =>
      Effect.gen(function* () {
        const request = wanted.get(key)
        if (request === undefined) return yield* Effect.die(new Error("an export without a request"))
        const scratch = yield* makeScratchObjects(root, limits())
        const folder = join(scratch.folder, "tree")
        yield* io("context repository", () => mkdir(folder))
        yield* request.exportTo(folder)
        return mountFolder(scratch, folder, request.revision)
      })
  })
  return (request: Export) =>
    Effect.suspend(() => {
      const key = `${request.key} ${request.maxBytes}`
      wanted.set(key, request)
      return RcMap.get(exports, key).pipe(
        Effect.onError(() => RcMap.invalidate(exports, key)),
        Effect.ensuring(Effect.sync(() => wanted.delete(key))),
        Effect.map((mount): Mount => mount)
      )
    })
})
