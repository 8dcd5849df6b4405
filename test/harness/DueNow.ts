/** The time that pushes wait for is over, without waiting for it. */
import { existsSync } from "node:fs"
import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"

/** In the records of a service that does not run, with its files in this folder. */
export const dueNow = (directory: string): void => {
  for (const [file, table] of [
    ["aicr.db", "batches"],
    ["queue.db", "entries"]
  ] as const) {
    const path = join(directory, file)
    if (!existsSync(path)) continue
    const database = new DatabaseSync(path)
    try {
      database.prepare(`UPDATE ${table} SET due_at = ?`).run(Date.now())
    } finally {
      database.close()
    }
  }
}
