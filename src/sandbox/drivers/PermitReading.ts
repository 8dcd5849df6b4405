/**
 * The user of a sandbox is not that of the service, whose files it has to be able to read. The folders above stay closed to other users of this
 * machine.
 */
import { chmod, lstat, readdir } from "node:fs/promises"
import { join } from "node:path"
import type { SandboxRequest } from "../Sandbox.ts"

/** Files become readable, folders can be entered, and programs started. Links are not followed. */
const permit = async (path: string): Promise<void> => {
  const stat = await lstat(path)
  if (stat.isSymbolicLink()) return
  const runs = stat.isDirectory() || (stat.mode & 0o111) !== 0
  await chmod(path, (stat.mode & 0o777) | 0o444 | (runs ? 0o111 : 0))
  if (stat.isDirectory()) for (const name of await readdir(path)) await permit(join(path, name))
}

/** `files` are those of the sandbox itself. */
export const permitReading = async (
  { repository, sockets }: Pick<SandboxRequest, "repository" | "sockets">,
  files: ReadonlyArray<string>
): Promise<void> => {
  for (const path of [repository, ...files]) await permit(path)
  for (const socket of [sockets.model, sockets.tools]) await chmod(socket, 0o666)
}
