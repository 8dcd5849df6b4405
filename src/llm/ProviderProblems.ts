/** Reports providers of a configuration that cannot be called, and fields without effect, before the first review. */
import type { ConfigIssue } from "../config/ConfigIssue.ts"
import type { Snapshot } from "../config/Snapshot.ts"
import { providerProblem } from "./Providers.ts"
import { providerSettings } from "./ProviderSettings.ts"
import { unusedFields } from "./UnusedFields.ts"
import { verbatimReason } from "../domain/Reason.ts"

export const providerProblems = (
  snapshot: Pick<Snapshot, "baseDir" | "credential" | "document">
): ReadonlyArray<ConfigIssue> =>
  snapshot.document.llm.providers.flatMap((provider, index): ReadonlyArray<ConfigIssue> => {
    const path = `llm.providers[${index}]`
    const problem = providerProblem(providerSettings(provider, snapshot))
    const unused = unusedFields(provider).map((field): ConfigIssue => ({
      severity: "warning",
      path: `${path}.${field}`,
      reason: verbatimReason(
        `provider ${provider.id}: ${provider.kind} has no ${field}, so it has no effect; remove it`
      )
    }))
    return problem === undefined
      ? unused
      : [{ severity: "warning", path, reason: verbatimReason(`provider ${provider.id}: ${problem}`) }, ...unused]
  })
