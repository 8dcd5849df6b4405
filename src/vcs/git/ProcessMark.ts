/**
 * Whose a file or folder under the workspaces root is: `<process id>-<token>-<number>`. The token tells a process from an earlier one
 * that had the same id, as in a restarted container. A root belongs to one machine (one process namespace).
 */
import { randomBytes } from "node:crypto"

const processToken = randomBytes(6).toString("hex")
let counter = 0

/** A new name of this process. */
export const newMark = (): string => `${process.pid}-${processToken}-${++counter}`

/** `gone`: a process that no longer runs left it. `none`: not a name of this form. */
export const ownerOf = (name: string): "own" | "other" | "gone" | "none" => {
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
