/**
 * Owner of a model call, to which cost, permits and evidence are accounted. Every call of the gateway requires it, so that a call
 * without an owner does not compile.
 */
import { Context } from "effect"

export interface ModelAccount {
  /** Id of the run; a fixed name for single commands. */
  readonly id: string
  /** `<trigger>:<repository>`, case-folded, whose daily budget applies. */
  readonly repository: string
  /** `<trigger>:<account>` of the author of the change, whose daily budget also applies. Absent if the author is unknown. */
  readonly author?: string | undefined
  /** Team of the workspace, whose daily budget also applies. Absent if it has none. */
  readonly team?: string | undefined
  /** Model calls that the review expects to make. Of reviews that wait for permits, shorter ones are served first. */
  readonly expectedCalls?: number | undefined
  /** Secret that the attempts of the run share, for the fences of its prompts. Absent: that of the process is used. */
  readonly fenceKey?: string | undefined
  /**
   * Set for another attempt at a review: recorded responses of the runs in `earlier` are reused. `attempt` distinguishes the
   * attempts of one run.
   */
  readonly resumes?: { readonly attempt: number; readonly earlier: ReadonlyArray<string> } | undefined
}

export class ModelRun extends Context.Service<ModelRun, ModelAccount>()("aicr/llm/ModelRun") {}
