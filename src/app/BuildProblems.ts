/**
 * Configured features that this build does not support, collected from every part for the start of the service and for
 * doctor.
 */
import { Effect, Layer } from "effect"
import { emptyProblems } from "../config/snapshots/Acceptable.ts"
import { agentProblems } from "../agent/clis/FieldWarnings.ts"
import { nodeProblems } from "../config/checks/Cluster.ts"
import type { ConfigIssue } from "../config/ConfigIssue.ts"
import { formatIssue } from "../config/ConfigIssue.ts"
import { ConfigStore } from "../config/ConfigStore.ts"
import { callsModels } from "../config/credentials/RoleCredentials.ts"
import type { Snapshot } from "../config/Snapshot.ts"
import type { Role } from "../domain/Role.ts"
import { contextProblems } from "../engine/read/ContextMounts.ts"
import { providerProblems } from "../llm/providers/ProviderProblems.ts"
import { channelProblems } from "../outputs/channels/ChannelProblems.ts"
import { templateProblems } from "../outputs/SampleRender.ts"
import { templateFileProblems } from "../outputs/text/TemplateFiles.ts"
import { sandboxProblems } from "../sandbox/drivers/SandboxProblems.ts"

/** `roles`: those of the node, whose providers count only if it calls models; undefined for the whole configuration. */
export const buildProblems = (snapshot: Snapshot, roles?: ReadonlySet<Role>): ReadonlyArray<ConfigIssue> => [
  ...emptyProblems(snapshot),
  ...(roles === undefined || callsModels(snapshot.document, roles) ? providerProblems(snapshot) : []),
  ...agentProblems(snapshot),
  ...sandboxProblems(snapshot),
  ...channelProblems(snapshot),
  ...templateProblems(snapshot),
  ...templateFileProblems(snapshot),
  ...contextProblems(snapshot),
  ...nodeProblems(snapshot, process.env)
]

/** Logs them once at the start. */
export const layer = (roles: ReadonlySet<Role>) =>
  Layer.effectDiscard(
    Effect.gen(function* () {
      const config = yield* ConfigStore
      for (const issue of buildProblems(config.current(), roles))
        yield* Effect.logWarning("configuration warning", { issue: formatIssue(issue) })
    })
  )
