/** Folders that only this user can read, removed with the scope; the names identify the owner, so that those of a killed process are found. */
import { mkdir, rm } from "node:fs/promises"
import { join } from "node:path"
import { Effect } from "effect"
import type { Scope } from "effect"
import type { CheckoutError } from "../Checkout.ts"
import { io } from "../git/Mirror.ts"
import { newMark } from "../ProcessMark.ts"

/** `root`: a folder whose subfolders are removed when the process in their name no longer runs. */
export const makePrivateFolder = (root: string): Effect.Effect<string, CheckoutError, Scope.Scope> => {
  const folder = join(root, newMark())
  return Effect.acquireRelease(
    Effect.as(
      io("private folder", () => mkdir(folder, { recursive: true, mode: 0o700 })),
      folder
    ),
    () =>
      io("private folder", () => rm(folder, { recursive: true, force: true })).pipe(
        Effect.catch(({ message }) => Effect.logWarning("private folder not removed", { folder, error: message }))
      )
  )
}
