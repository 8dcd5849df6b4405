/**
 * Base branches of pull requests at the ingress, where match rules depend on them: deliveries that name the branch store it, deliveries that
 * do not name it read the stored one. No other delivery causes a query.
 */
import { Context, Effect } from "effect"
import { profilesByBranch, readPull, sourceFacts } from "../admission/Select.ts"
import type { PullOfEvent } from "../admission/Select.ts"
import type { Snapshot, TriggerProfile } from "../config/Snapshot.ts"
import type { HostEvent } from "../domain/HostEvent.ts"
import { PullBases } from "../store/PullBases.ts"
import type { PullBase } from "../store/PullBases.ts"

type Bases = ReadonlyMap<string, string>

export class PullBranches {
  readonly #context: Context.Context<PullBases>

  constructor(context: Context.Context<PullBases>) {
    this.#context = context
  }

  /**
   * Returns the stored branch by trigger name; empty if the event names the branch or requires none, and if the store fails: then the host
   * is queried after the receipt. Never rejects.
   */
  known(snapshot: Snapshot, verified: ReadonlyArray<TriggerProfile>, event: HostEvent): Promise<Bases> | Bases {
    const pull = readPull(event)
    if (pull === undefined || pull.baseRef !== undefined) return none
    const triggers = triggersByBranch(snapshot, verified, event, pull)
    if (triggers.length === 0) return none
    return Effect.runPromiseWith(this.#context)(
      PullBases.use((bases) => bases.find({ triggers, repo: pull.repo.fullName, number: pull.number })).pipe(
        Effect.catchCause((cause) =>
          Effect.as(Effect.logWarning("base branch of a pull request not read, the host is queried", cause), none)
        )
      )
    )
  }

  /** Returns the branch that the event names, if later deliveries may require it. */
  named(
    snapshot: Snapshot,
    verified: ReadonlyArray<TriggerProfile>,
    event: HostEvent,
    now: number
  ): PullBase | undefined {
    const pull = readPull(event)
    if (pull?.baseRef === undefined) return undefined
    const triggers = triggersByBranch(snapshot, verified, event, pull)
    if (triggers.length === 0) return undefined
    return { triggers, repo: pull.repo.fullName, number: pull.number, baseRef: pull.baseRef, seenAt: now }
  }
}

const none: Bases = new Map()

const triggersByBranch = (
  snapshot: Snapshot,
  verified: ReadonlyArray<TriggerProfile>,
  event: HostEvent,
  { repo }: PullOfEvent
): ReadonlyArray<string> => profilesByBranch(snapshot, verified, sourceFacts(event, repo)).map(({ name }) => name)
