/** Object format of a repository: SHA-1 ids have 40 digits, SHA-256 ids 64. The format of a mirror is that of its remote. */
import { readFile, stat } from "node:fs/promises"
import { join } from "node:path"

export type ObjectFormat = "sha1" | "sha256"

/** Returns the format of a full id. */
export const formatOfId = (id: string): ObjectFormat => (id.length === 64 ? "sha256" : "sha1")

/** Returns undefined if the folder does not contain a complete repository. */
export const formatOfRepository = async (directory: string): Promise<ObjectFormat | undefined> => {
  const parts = await Promise.all([
    readFile(join(directory, "config"), "utf8"),
    readFile(join(directory, "HEAD")),
    stat(join(directory, "objects")),
    stat(join(directory, "refs"))
  ]).catch(() => undefined)
  if (parts === undefined) return undefined
  return /^[ \t]*objectformat[ \t]*=[ \t]*sha256[ \t]*$/im.test(parts[0]) ? "sha256" : "sha1"
}
