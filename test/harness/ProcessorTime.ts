/** Processor time of a process and of all that it started. */
import { readdir, readFile } from "node:fs/promises"

/**
 * Processor time in milliseconds that a process and its child processes have used, running and ended ones. A child process that outlives its
 * parent counts no more. Without `/proc` it is 0.
 */
export const readTreeMillis = async (root: number): Promise<number> => {
  const pids = [root]
  let ticks = 0
  for (const pid of pids) {
    const text = await readFile(`/proc/${pid}/stat`, "utf8").catch(() => "")
    // Fields 14 to 17, of the process and of its children that have ended, in clock ticks of 10 ms.
    const fields = text.slice(text.lastIndexOf(")") + 2).split(" ")
    if (text !== "") ticks += fields.slice(11, 15).reduce((sum, field) => sum + Number(field), 0)
    for (const task of await readdir(`/proc/${pid}/task`).catch(() => [])) {
      const children = await readFile(`/proc/${pid}/task/${task}/children`, "utf8").catch(() => "")
      pids.push(...children.split(" ").filter(Boolean).map(Number))
    }
  }
  return ticks * 10
}
