/** The reviews that keep the configuration of their admission, for commands that change the configuration. */
import { Context } from "effect"
import type { Effect } from "effect"
import type { ExitWith } from "./Exit.ts"

export interface UnfinishedList {
  /** Oldest first. */
  readonly items: ReadonlyArray<{ readonly workspace: string; readonly targetKey: string }>
  /** More exist than are listed. */
  readonly more: boolean
}

export class UnfinishedReviews extends Context.Service<
  UnfinishedReviews,
  {
    /** Lists those whose configuration has another hash. */
    readonly list: (hash: string, limit: number) => Effect.Effect<UnfinishedList, ExitWith>
  }
>()("aicr/cli/UnfinishedReviews") {}
