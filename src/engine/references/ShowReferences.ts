/** References of changed names as part of a prompt: after what a pass shows, and with the findings of a verification. */
import { Effect } from "effect"
import type { AnalysisError } from "../AnalysisError.ts"
import type { ChangeThread } from "../ChangeThreads.ts"

/** Returns the prompt with the references of names that these files define, as data between fences; for a blind reading without their lines. */
export const withReferences =
  (change: ChangeThread, fence: string, paths: ReadonlyArray<string>, isBlind: boolean) =>
  (prompt: string): Effect.Effect<string, AnalysisError> =>
    Effect.map(change.run("referencesFor", paths, isBlind), (references) =>
      references === ""
        ? prompt
        : [
            prompt,
            "Uses of names whose definition is changed or removed here, in lines that the diff does not show. Check that they still hold; a use may be of another thing with this name.",
            `<references ${fence}>\n${references}\n</references ${fence}>`
          ].join("\n\n")
    )
