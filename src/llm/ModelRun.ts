/**
 * On whose behalf a model is called: what spend, turns and evidence are accounted to. Required by every call of the gateway, so that a
 * caller that names nobody does not compile.
 */
import { Context } from "effect"

export interface ModelAccount {
  /** The run; for a program that does one thing and ends, a name of its own. */
  readonly id: string
  /** `<trigger>:<repository>`, case-folded: whose daily budget it is. */
  readonly repository: string
  /** `<trigger>:<account>` of who wrote the change: whose daily budget it is as well. Absent where nobody is named. */
  readonly author?: string | undefined
  /**
   * Set for an attempt at a review that was begun before: recorded answers of the runs named `earlier` are reused. `attempt` tells the
   * attempts of one run apart.
   */
  readonly resumes?: { readonly attempt: number; readonly earlier: ReadonlyArray<string> } | undefined
}

export class ModelRun extends Context.Service<ModelRun, ModelAccount>()("aicr/llm/ModelRun") {}
