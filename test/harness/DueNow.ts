/** Ends the waiting time of batches without waiting. */
import { existsSync } from "node:fs"
import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"

const changes = {
  "aicr.db": "UPDATE batches SET due_at = ?1",
  "queue.db": "UPDATE entries SET opened = json_set(opened, '$.dueAt', ?1), state = json_set(state, '$.dueAt', ?1)"
}

/** Makes all batches due now in the records of a stopped service with its files in this folder. */
export const dueNow = (directory: string): void => {
  for (const [file, change] of Object.entries(changes)) {
    const path = join(directory, file)
    if (!existsSync(path)) continue
    const database = new DatabaseSync(path)
    try {
      database.prepare(change).run(Date.now())
    } finally {
      database.close()
    }
  }
}
