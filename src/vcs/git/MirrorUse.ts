/**
 * Who uses a mirror, on disk: one file per use under `users/`, named for the process, so that no process evicts what another one
 * reads, and marks of processes that were killed count for nothing. `used` is as old as the last use.
 */
import { lstat, mkdir, readdir, rename, rm, stat, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { ownerOf } from "./ProcessMark.ts"

const isMissing = (cause: unknown): boolean => cause instanceof Error && "code" in cause && cause.code === "ENOENT"
const users = (mirror: string): string => join(mirror, "users")

/** False: the mirror is not there. */
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

/** Whether another running process uses it. Marks of processes that are gone are removed. */
export const isUsedElsewhere = async (mirror: string): Promise<boolean> => {
  let used = false
  for (const name of await readdir(users(mirror)).catch(() => [])) {
    const owner = ownerOf(name)
    if (owner === "other") used = true
    if (owner === "gone") await rm(join(users(mirror), name), { force: true })
  }
  return used
}

/** Takes a mirror out of its place in one step. False, and it stays: another process uses it. */
export const moveUnused = async (mirror: string, trash: string): Promise<boolean> => {
  if (await isUsedElsewhere(mirror)) return false
  try {
    await rename(mirror, trash)
  } catch (cause) {
    if (isMissing(cause)) return true
    throw cause
  }
  // A mark that came between the look and the move.
  if (!(await isUsedElsewhere(trash))) return true
  await rename(trash, mirror)
  return false
}

/** Milliseconds since the epoch. */
export const lastUse = async (mirror: string): Promise<number> => {
  const { mtimeMs } = await stat(join(mirror, "used")).catch(() => stat(mirror).catch(() => ({ mtimeMs: 0 })))
  return mtimeMs
}

/** Bytes of all files below; what vanishes meanwhile counts for nothing. */
export const sizeOf = async (folder: string): Promise<number> => {
  let bytes = 0
  for (const entry of await readdir(folder, { withFileTypes: true }).catch(() => [])) {
    const path = join(folder, entry.name)
    bytes += entry.isDirectory()
      ? await sizeOf(path)
      : await lstat(path).then(
          ({ size }) => size,
          () => 0
        )
  }
  return bytes
}
