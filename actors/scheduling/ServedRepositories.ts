/**
 * Remembers the round in which each repository was last served. After a restart of the scheduler this is empty and the oldest entry comes
 * first.
 */
import type { Scheduled } from "../../src/queue/Plan.ts"

/** Maximum number of repositories remembered. A larger number would not improve fairness. */
const maxRepositories = 1000

export class ServedRepositories {
  readonly #last = new Map<string, number>()
  #round = 0

  get last(): ReadonlyMap<string, number> {
    return this.#last
  }

  served(entries: ReadonlyArray<Scheduled>): void {
    for (const { repo } of entries) {
      this.#last.delete(repo)
      this.#last.set(repo, this.#round++)
    }
    for (const repo of this.#last.keys()) {
      if (this.#last.size <= maxRepositories) return
      this.#last.delete(repo)
    }
  }
}
