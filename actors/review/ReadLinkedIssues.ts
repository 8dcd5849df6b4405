/** Reads the titles of the issues that a pull request closes. A failure costs only their titles. */
import { Effect } from "effect"
import type { Change } from "../../src/domain/Change.ts"
import type { ForgeClient } from "../../src/forge/Forge.ts"
import { linkedNumbers } from "../../src/review/LinkedIssues.ts"
import type { LinkedIssue } from "../../src/review/LinkedIssues.ts"

const timeout = "10 seconds"

export const readLinkedIssues = ({ repo, target, description }: Change, client: Pick<ForgeClient, "issues">) =>
  Effect.map(
    Effect.forEach(
      target.kind === "pull_request" ? linkedNumbers(description) : [],
      (number) =>
        client.issues.read(repo, number).pipe(
          // The author of a change must not be able to have the title of a confidential issue quoted.
          Effect.map(({ title, confidential }) => (confidential === true ? [] : [{ number, title }])),
          Effect.timeout(timeout),
          Effect.catch(({ message }) =>
            Effect.as(Effect.logInfo("linked issue not read", { number, error: message }), [])
          )
        ),
      { concurrency: "unbounded" }
    ),
    (found): ReadonlyArray<LinkedIssue> => found.flat()
  )
