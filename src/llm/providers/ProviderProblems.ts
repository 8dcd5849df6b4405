/** Reports providers of a configuration that cannot be called, and fields without effect, before the first review. */
import type { ConfigIssue } from "../../config/ConfigIssue.ts"
import type { Snapshot } from "../../config/Snapshot.ts"
import { providerProblem } from "./Providers.ts"
import { providerSettings } from "./ProviderSettings.ts"
import { unusedFields } from "./UnusedFields.ts"

export const providerProblems = (
  snapshot: Pick<Snapshot, "baseDir" | "credential" | "document">
): ReadonlyArray<ConfigIssue> =>
  snapshot.document.llm.providers.flatMap((provider, index): ReadonlyArray<ConfigIssue> => {
    const path = `llm.providers[${index}]`
    const problem = providerProblem(providerSettings(provider, snapshot))
    const unused = unusedFields(provider).map((field): ConfigIssue => ({
      severity: "warning",
      path: `${path}.${field}`,
      reason: { _tag: "ProviderFieldUnused", provider: provider.id, kind: provider.kind, field }
    }))
    return problem === undefined
      ? unused
      : [
          { severity: "warning", path, reason: { _tag: "ProviderProblem", provider: provider.id, why: problem } },
          ...unused
        ]
  })
