/**
 * Repositories that were renamed or transferred: their deliveries have a name that no workspace has, and the id of a project under the name
 * that it had before. Only deliveries that no workspace binds cause a query. Operators are notified once of each new name.
 */
import { Context, Effect } from "effect"
import type { Refusal } from "../admission/Admit.ts"
import type { ConfigStore } from "../config/ConfigStore.ts"
import type { TriggerProfile } from "../config/Snapshot.ts"
import type { HostEvent } from "../domain/HostEvent.ts"
import { limitWarning } from "../observability/LimitedWarnings.ts"
import { planNotices } from "../outputs/PlanNotices.ts"
import { Notices } from "../store/Notices.ts"
import { Statistics } from "../store/Statistics.ts"

export class RenamedRepositories {
  readonly #config: ConfigStore["Service"]
  readonly #context: Context.Context<Statistics | Notices>

  constructor(config: ConfigStore["Service"], context: Context.Context<Statistics | Notices>) {
    this.#config = config
    this.#context = context
  }

  /** Returns the refusal, with the name that the repository had before. Never rejects: if the store fails, it has no earlier name. */
  resolve(
    refusal: Refusal,
    event: HostEvent,
    verified: ReadonlyArray<TriggerProfile>,
    now: number
  ): Promise<Refusal> | Refusal {
    const repo = "repo" in event ? event.repo : undefined
    if (refusal.reason !== "repository_not_configured" || repo?.hostId === undefined) return refusal
    const { fullName, hostId } = repo
    const triggers = verified.map(({ name }) => name)
    return Effect.runPromiseWith(this.#context)(
      this.#describe(refusal, { triggers, hostId, repo: fullName }, now).pipe(
        Effect.catchCause((cause) =>
          Effect.as(
            limitWarning("renamed repositories", (suppressed) =>
              Effect.logWarning("earlier name of a repository not read", { suppressed }, cause)
            ),
            refusal
          )
        )
      )
    )
  }

  readonly #describe = Effect.fnUntraced(function* (
    this: RenamedRepositories,
    refusal: Refusal,
    repository: Parameters<Statistics["Service"]["findRenamed"]>[0],
    now: number
  ) {
    const project = yield* Statistics.use(({ findRenamed }) => findRenamed(repository))
    if (project === undefined) return refusal
    const { repository: before, trigger, workspace } = project
    const named = { before, repository: repository.repo }
    const planned = planNotices(this.#config.current(), { _tag: "repository_renamed", trigger, ...named })
    if (planned.length > 0) yield* Notices.use(({ add }) => add(planned, now))
    return {
      ...refusal,
      reason: "repository_renamed",
      rule: { _tag: "RepositoryRenamed", ...named, workspace }
    } as const satisfies Refusal
  })
}
