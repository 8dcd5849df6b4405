/**
 * A service that is root gives its sandboxes a user without rights, who has to be able to read what belongs to root. The folders above stay
 * closed to other users of this machine.
 */
import { execFile } from "node:child_process"
import { chmod } from "node:fs/promises"
import { promisify } from "node:util"
import type { SandboxRequest } from "./Sandbox.ts"

/** `files` are those of the sandbox itself. */
export const permitReading = async (
  { repository, sockets }: Pick<SandboxRequest, "repository" | "sockets">,
  files: ReadonlyArray<string>
): Promise<void> => {
  await promisify(execFile)("chmod", ["-R", "a+rX", "--", repository, ...files])
  for (const socket of [sockets.model, sockets.tools]) await chmod(socket, 0o666)
}
