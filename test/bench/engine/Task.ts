/** The task of the measuring process, and the command that prints the diff on both sides. */
import { execFileSync } from "node:child_process"

export interface Task {
  readonly root: string
  readonly base: string
  readonly head: string
  /** File with the diff. */
  readonly patch: string
  /** File with the problems that are reported. */
  readonly quotes: string
}

export const patchBytes = 20 * 1024 * 1024

/** Arguments of git with the options of reviews. */
export const printDiff = (root: string, base: string, head: string): Buffer =>
  execFileSync("git", ["diff-tree", "-r", "-p", "-M50%", "-l1000", "-U3", "--full-index", base, head], {
    cwd: root,
    maxBuffer: 1 << 30
  })
