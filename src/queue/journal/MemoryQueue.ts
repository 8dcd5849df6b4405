/**
 * Keeps the queue in the memory of this process: the table of the only node, whose changes conflict with none. It does not survive the
 * process; accepted work is queued again from its records.
 */
import { Effect, Layer } from "effect"
import { Replica } from "../core/Replica.ts"
import type { QueueLimits } from "../core/QueueLimits.ts"
import * as TableQueue from "../core/TableQueue.ts"
import type { EntryTable } from "../core/EntryTable.ts"
import type { QueueControl } from "../operator/QueueControl.ts"
import type { Queue } from "../Queue.ts"
import { withDetails } from "./Details.ts"

/** Maximum number of ended entries between two runs of retention, because memory is limited. */
const maxEnded = 5000

export const layerMemory = (limits: QueueLimits): Layer.Layer<Queue | QueueControl> =>
  Layer.effectContext(
    Effect.sync(() => {
      const store = new MemoryStore()
      const access: TableQueue.TableAccess = {
        read: (use) => Effect.sync(() => use(store.table)),
        write: (use) => Effect.sync(() => store.write(use)),
        onPause: (listener) => store.onPause(listener),
        compact: Effect.void
      }
      const details = (ids: ReadonlyArray<string>) => Effect.sync(() => ids.map((id) => store.details.get(id)))
      return withDetails(details, TableQueue.make(access, limits))
    })
  )

class MemoryStore {
  readonly #replica = new Replica()
  readonly details = new Map<string, string>()

  get table(): EntryTable {
    return this.#replica.table
  }

  onPause(listener: () => void): () => void {
    return this.#replica.onPause(listener)
  }

  /** All or nothing. */
  write<A>(use: (table: EntryTable) => A): A {
    this.#replica.begin()
    try {
      const result = use(this.#replica.table)
      this.#replica.keepEnded(maxEnded)
      for (const [id, text] of this.#replica.details)
        if (text === undefined) this.details.delete(id)
        else this.details.set(id, text)
      this.#replica.commit(this.#replica.applied, [])
      return result
    } catch (cause) {
      this.#replica.rollback()
      throw cause
    }
  }
}
