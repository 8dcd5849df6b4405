/** On whose behalf models are asked: what spend, turns and evidence are accounted to. Set around a run, read by the gateway. */
import { Context } from "effect"

export interface ModelRun {
  readonly id: string
  /** `<trigger>:<repository>`, case-folded: whose daily budget it is. */
  readonly repository: string
}

/** A program that does one review and ends needs to set nothing. */
export const ModelRun = Context.Reference<ModelRun>("aicr/llm/ModelRun", {
  defaultValue: () => ({ id: "local", repository: "local" })
})
