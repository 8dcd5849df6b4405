/**
 * Records the users of a mirror on disk: one file per use under `users/`, named for the process, so that no process evicts a
 * mirror that another one reads, and marks of killed processes are ignored. The modification time of `used` is the time of the
 * last use.
 */
import { lstat, mkdir, readdir, rename, rm, stat, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { findOwner } from "../ProcessMark.ts"

const isMissing = (cause: unknown): boolean => cause instanceof Error && "code" in cause && cause.code === "ENOENT"
const users = (mirror: string): string => join(mirror, "users")

/** Returns false if the mirror does not exist. */
export const markUse = async (mirror: string, mark: string): Promise<boolean> => {
  const write = () => writeFile(join(users(mirror), mark), "")
  try {
    await writeFile(join(mirror, "used"), "")
    await write().catch(async (cause: unknown) => {
      if (!isMissing(cause)) throw cause
      await mkdir(users(mirror)).catch((made: unknown) => {
        if (!(made instanceof Error && "code" in made && made.code === "EEXIST")) throw made
      })
      await write()
    })
    return true
  } catch (cause) {
    if (isMissing(cause)) return false
    throw cause
  }
}

export const endUse = (mirror: string, mark: string): Promise<void> => rm(join(users(mirror), mark), { force: true })

/** Returns whether another running process uses the mirror. Removes marks of processes that no longer run. */
export const isUsedElsewhere = async (mirror: string): Promise<boolean> => {
  let used = false
  for (const name of await readdir(users(mirror)).catch(() => [])) {
    const owner = findOwner(name)
    if (owner === "other") used = true
    if (owner === "gone") await rm(join(users(mirror), name), { force: true })
  }
  return used
}

/** Moves a mirror away atomically. Returns false and keeps it if another process uses it. */
export const moveUnused = async (mirror: string, trash: string): Promise<boolean> => {
  if (await isUsedElsewhere(mirror)) return false
  try {
    await rename(mirror, trash)
  } catch (cause) {
    if (isMissing(cause)) return true
    throw cause
  }
  // Another process added a mark between the check and the move.
  if (!(await isUsedElsewhere(trash))) return true
  await rename(trash, mirror)
  return false
}

/** Milliseconds since the epoch. */
export const lastUse = async (mirror: string): Promise<number> => {
  const { mtimeMs } = await stat(join(mirror, "used")).catch(() => stat(mirror).catch(() => ({ mtimeMs: 0 })))
  return mtimeMs
}

/** Returns the bytes of all files below; files that disappear in the meantime are ignored. */
export const measureBytes = async (folder: string): Promise<number> => {
  let bytes = 0
  for (const entry of await readdir(folder, { withFileTypes: true }).catch(() => [])) {
    const path = join(folder, entry.name)
    bytes += entry.isDirectory()
      ? await measureBytes(path)
      : await lstat(path).then(
          ({ size }) => size,
          () => 0
        )
  }
  return bytes
}
