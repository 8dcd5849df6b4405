/** Providers of a configuration that calls cannot reach as they stand, said before the first review needs them. */
import type { ConfigIssue } from "../config/ConfigIssue.ts"
import type { Snapshot } from "../config/Snapshot.ts"
import { providerProblem } from "./Providers.ts"
import { providerSettings } from "./ProviderSettings.ts"

export const providerProblems = (snapshot: Pick<Snapshot, "credential" | "document">): ReadonlyArray<ConfigIssue> =>
  snapshot.document.llm.providers.flatMap((provider, index): ReadonlyArray<ConfigIssue> => {
    const problem = providerProblem(providerSettings(provider, snapshot))
    return problem === undefined
      ? []
      : [{ severity: "warning", path: `llm.providers[${index}]`, message: `provider ${provider.id}: ${problem}` }]
  })
