/** Ends the waiting time of batches without waiting. */
import { existsSync } from "node:fs"
import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"

/** Makes all batches due now in the records and the queue of a stopped service with its files in this folder. */
export const dueNow = (directory: string): void => {
  change(join(directory, "aicr.db"), (db) => db.prepare("UPDATE batches SET due_at = ?").run(Date.now()))
  change(join(directory, "queue.db"), (db) => {
    const update = db.prepare("UPDATE messages SET rows = ? WHERE sequence = ?")
    for (const { rows, sequence } of db.prepare("SELECT sequence, rows FROM messages").all())
      update.run(withoutDelays(String(rows)), Number(sequence))
  })
}

const change = (path: string, use: (db: DatabaseSync) => void): void => {
  if (!existsSync(path)) return
  const db = new DatabaseSync(path)
  try {
    use(db)
  } finally {
    db.close()
  }
}

/** Position of the delay in the row of an entry (core/RowText.ts), which has at least so many values. */
const delayIndex = 8
const entrySize = 10

const withoutDelays = (text: string): string => {
  const message: [number, unknown, ReadonlyArray<ReadonlyArray<unknown>>] = JSON.parse(text)
  const [format, origins, rows] = message
  return JSON.stringify([format, origins, rows.map((row) => (row.length < entrySize ? row : row.with(delayIndex, 0)))])
}
