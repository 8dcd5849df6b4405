/**
 * Limits the reports of VCS hooks that wait for their routing, per API key: a holder of a key may report any number of changes of repositories
 * that no trigger has, and each report waits for minutes.
 */
import { Effect } from "effect"
import { logFailure } from "../observability/LimitedWarnings.ts"
import type { Receipts } from "../store/Receipts.ts"
import type { KeyScope } from "./ApiKeys.ts"

/** Interval of counts while the limit is reached. */
const recountMillis = 1000
/** Maximum age of a count: other nodes accept reports too. */
const maxAgeMillis = 10_000

const keyOf = (workspaces: Iterable<string> | undefined): string =>
  workspaces === undefined ? "" : JSON.stringify([...workspaces].toSorted())

export class WaitingReports {
  readonly #receipts: Pick<Receipts["Service"], "countUnrouted">
  readonly #run: (effect: Effect.Effect<void>) => Promise<void>
  /** Waiting reports by key: at most as many as these are waiting, because routing only ends them. */
  #counted = new Map<string, number>()
  /** Reports that were admitted since the last count began. */
  #added = new Map<string, number>()
  #countedAt = Number.NEGATIVE_INFINITY
  #counting: Promise<void> | undefined

  constructor(
    receipts: Pick<Receipts["Service"], "countUnrouted">,
    run: (effect: Effect.Effect<void>) => Promise<void>
  ) {
    this.#receipts = receipts
    this.#run = run
  }

  /** Returns whether another report of this key may wait, and counts it. */
  async admit({ workspaces }: KeyScope, limit: number, now: number): Promise<boolean> {
    const key = keyOf(workspaces)
    const isOld = now - this.#countedAt >= maxAgeMillis
    if (isOld || (this.#waiting(key) >= limit && now - this.#countedAt >= recountMillis)) await this.#count(now)
    if (this.#waiting(key) >= limit) return false
    this.#added.set(key, (this.#added.get(key) ?? 0) + 1)
    return true
  }

  #waiting(key: string): number {
    return (this.#counted.get(key) ?? 0) + (this.#added.get(key) ?? 0)
  }

  #count(now: number): Promise<void> {
    this.#counting ??= this.#run(this.#recount(now)).finally(() => {
      this.#counting = undefined
    })
    return this.#counting
  }

  /** Keeps the former count if it fails. */
  #recount(now: number): Effect.Effect<void> {
    return Effect.suspend(() => {
      for (const [key, count] of this.#added) this.#counted.set(key, (this.#counted.get(key) ?? 0) + count)
      this.#added = new Map()
      return Effect.map(this.#receipts.countUnrouted, (counts) => {
        this.#counted = new Map()
        for (const { count, workspaces } of counts) {
          const key = keyOf(workspaces)
          this.#counted.set(key, (this.#counted.get(key) ?? 0) + count)
        }
        this.#countedAt = now
      })
    }).pipe(Effect.catch(logFailure("waiting reports not counted")))
  }
}
