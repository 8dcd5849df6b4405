/**
 * Owner of a file or folder under the workspaces root: `<process id>-<token>-<number>`. The token distinguishes a process from an
 * earlier one with the same id, as in a restarted container. A root belongs to one machine (one process namespace).
 */
import { randomBytes } from "node:crypto"

const processToken = randomBytes(6).toString("hex")
let counter = 0

/** Returns a new name for this process. */
export const newMark = (): string => `${process.pid}-${processToken}-${++counter}`

/** Returns the state of the owner. `gone`: the process no longer runs. `none`: not a name of this form. */
export const findOwner = (name: string): "own" | "other" | "gone" | "none" => {
  const [, pid, token] = /^(\d+)-([0-9a-f]{12})-\d+$/.exec(name) ?? []
  if (pid === undefined) return "none"
  if (token === processToken) return "own"
  return Number(pid) !== process.pid && isAlive(Number(pid)) ? "other" : "gone"
}

const isAlive = (pid: number): boolean => {
  try {
    process.kill(pid, 0)
    return true
  } catch (cause) {
    return cause instanceof Error && "code" in cause && cause.code === "EPERM"
  }
}
