/** In which round each repository was last served. A scheduler that starts again has forgotten it: then the oldest entry is first. */
import type { Scheduled } from "../src/queue/Plan.ts"

/** Repositories remembered; a longer memory would make nothing fairer. */
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
