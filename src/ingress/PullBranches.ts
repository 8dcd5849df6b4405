/**
 * Base branches of pull requests at the ingress, where match rules depend on them: deliveries that name the branch store it, deliveries that
 * do not name it read the stored one. No other delivery causes a query.
 */
import { Context, Effect } from "effect"
import { profilesByBranch, readPull, sourceFacts } from "../admission/Select.ts"
import type { Snapshot, TriggerProfile } from "../config/Snapshot.ts"
import type { HostEvent } from "../domain/HostEvent.ts"
import { limitWarning } from "../observability/LimitedWarnings.ts"
import { PullBases } from "../store/PullBases.ts"
import type { PullBase } from "../store/PullBases.ts"

interface ResolvedBranches {
  /** Stored branch by trigger name. Empty if the event names the branch or requires none, or if the store fails. */
  readonly bases: ReadonlyMap<string, string>
  /** The branch that the event names, if later deliveries may require it. */
  readonly pull: PullBase | undefined
}

export class PullBranches {
  readonly #context: Context.Context<PullBases>

  constructor(context: Context.Context<PullBases>) {
    this.#context = context
  }

  /** Never rejects: if the store fails, the host is queried after the receipt. */
  resolve(
    snapshot: Snapshot,
    verified: ReadonlyArray<TriggerProfile>,
    event: HostEvent,
    now: number
  ): Promise<ResolvedBranches> | ResolvedBranches {
    const found = readPull(event)
    if (found === undefined) return nothing
    const { baseRef, number, repo } = found
    const triggers = profilesByBranch(snapshot, verified, sourceFacts(event, repo)).map(({ name }) => name)
    if (triggers.length === 0) return nothing
    const pull = { triggers, repo: repo.fullName, number }
    if (baseRef !== undefined) return { bases: nothing.bases, pull: { ...pull, baseRef, seenAt: now } }
    return Effect.runPromiseWith(this.#context)(
      PullBases.use((stored) => stored.find(pull)).pipe(
        Effect.map((bases): ResolvedBranches => ({ bases, pull: undefined })),
        Effect.catchCause((cause) =>
          Effect.as(
            limitWarning("base branches read", (suppressed) =>
              Effect.logWarning("base branch of a pull request not read, the host is queried", { suppressed }, cause)
            ),
            nothing
          )
        )
      )
    )
  }
}

const nothing: ResolvedBranches = { bases: new Map(), pull: undefined }
