/** Reads the text of a member file below a trusted folder, whatever links lead to it. */
import { createHash } from "node:crypto"
import { constants } from "node:fs"
import { open, realpath } from "node:fs/promises"
import { relative, isAbsolute } from "node:path"
import { maxMemberFileBytes } from "./MemberFile.ts"

type MemberText =
  | { readonly _tag: "Text"; readonly text: string; readonly digest: string }
  /** The content has the digest that was given. */
  | { readonly _tag: "Same" }
  | { readonly _tag: "Refused"; readonly reason: string }

/** Opening does not wait for the other end of a pipe, and follows no link that replaces the file after its path was resolved. */
const openFlags = constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW

const refuse = (reason: string): MemberText => ({ _tag: "Refused", reason })

const codeOf = (error: unknown): string =>
  typeof error === "object" && error !== null && "code" in error ? String(error.code) : "error"

const isBelow = (path: string, root: string): boolean => {
  const way = relative(root, path)
  return way !== "" && way !== ".." && !way.startsWith("../") && !isAbsolute(way)
}

export const readMemberText = async (path: string, root: string, digest: string | undefined): Promise<MemberText> => {
  try {
    const [real, realRoot] = await Promise.all([realpath(path), realpath(root)])
    if (!isBelow(real, realRoot))
      return refuse("it is outside of allowed_root; move it below that folder, or change allowed_root")
    const file = await open(real, openFlags)
    try {
      const stat = await file.stat()
      if (!stat.isFile()) return refuse("it is not a file")
      if (stat.size > maxMemberFileBytes)
        return refuse(
          `it has ${stat.size} bytes; at most 4 MiB are read: remove members who write no changes, or distribute them over several files`
        )
      // A file that grows while it is read is read again at the next check.
      const { bytesRead, buffer } = await file.read(Buffer.alloc(stat.size), 0, stat.size, 0)
      const bytes = buffer.subarray(0, bytesRead)
      const found = createHash("sha256").update(bytes).digest("hex")
      if (found === digest) return { _tag: "Same" }
      return { _tag: "Text", text: new TextDecoder("utf-8", { fatal: true }).decode(bytes), digest: found }
    } finally {
      await file.close()
    }
  } catch (error) {
    return refuse(error instanceof TypeError ? "it is not text in UTF-8" : `it cannot be read (${codeOf(error)})`)
  }
}
