/** Every parser that sees bytes of outsiders, with the inputs that once broke it in `corpus/<target>/`. */
import { existsSync, readFileSync, readdirSync } from "node:fs"
import { join } from "node:path"
import { planted } from "./planted/Planted.ts"
import type { FuzzTarget } from "./Target.ts"
import { callbackTargets } from "./targets/Callbacks.ts"
import { agentTraffic } from "./targets/AgentTraffic.ts"
import { comments } from "./targets/Comments.ts"
import { configuration } from "./targets/Configuration.ts"
import { diffs } from "./targets/Diffs.ts"
import { repositoryFiles } from "./targets/RepositoryFiles.ts"
import { triggerCalls } from "./targets/TriggerCalls.ts"
import { modelText } from "./targets/ModelText.ts"
import { outsiders } from "./targets/Outsiders.ts"
import { postedText } from "./targets/PostedText.ts"
import { prose } from "./targets/Prose.ts"
import { serverOutput } from "./targets/ServerOutput.ts"
import { webhookTargets } from "./targets/Webhooks.ts"

export const targets: ReadonlyArray<FuzzTarget> = [
  ...webhookTargets,
  ...triggerCalls,
  ...diffs,
  ...repositoryFiles,
  ...comments,
  ...modelText,
  ...agentTraffic,
  ...postedText,
  ...callbackTargets,
  ...outsiders,
  ...serverOutput,
  prose,
  configuration
]

/** Inputs of earlier findings, which a target has to survive from then on. */
export const corpus = (name: string): ReadonlyArray<Uint8Array> => {
  const folder = join(import.meta.dirname, "corpus", name)
  return existsSync(folder) ? readdirSync(folder).map((file) => readFileSync(join(folder, file))) : []
}

export const targetNamed = (name: string): FuzzTarget => {
  const target = [...targets, ...planted].find((one) => one.name === name)
  if (target === undefined) throw new Error(`unknown fuzz target "${name}"`)
  return { ...target, seeds: () => [...corpus(name), ...target.seeds()] }
}
