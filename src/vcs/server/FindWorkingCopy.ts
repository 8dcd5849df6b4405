/** Finds the nearest working copy of each version control system that holds a folder, by the files that mark it. */
import { stat } from "node:fs/promises"
import { dirname, join } from "node:path"
import { Effect } from "effect"
import type { CheckoutError } from "../Checkout.ts"
import { io } from "../git/Mirror.ts"

export interface WorkingCopies {
  /** Top folder of the nearest Subversion working copy. */
  readonly subversion: string | undefined
  /** Folder of the nearest file of settings of Perforce (P4CONFIG). */
  readonly perforce: string | undefined
}

/** `p4Config`: name of the files of settings of Perforce, from the environment. */
export const findWorkingCopies = (
  path: string,
  p4Config: string | undefined
): Effect.Effect<WorkingCopies, CheckoutError> =>
  io("working copy", async () => {
    const subversion = await findAbove(path, ".svn", "folder")
    const isName = p4Config !== undefined && p4Config !== "" && !p4Config.includes("/")
    return { subversion, perforce: isName ? await findAbove(path, p4Config, "file") : undefined }
  })

const findAbove = async (path: string, name: string, kind: "file" | "folder"): Promise<string | undefined> => {
  let folder = path
  while (true) {
    const found = await stat(join(folder, name)).catch(() => undefined)
    if (kind === "file" ? found?.isFile() : found?.isDirectory()) return folder
    if (dirname(folder) === folder) return undefined
    folder = dirname(folder)
  }
}
