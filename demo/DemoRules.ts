/**
 * The rules of the demo model. Their only input is the text of a diff, without file names and line numbers, and they are not
 * specific to the bundled change. They detect a few well-known faults, so that the demo shows a review without a model.
 */
import type { ReportedProblem } from "../src/domain/Problem.ts"
import type { CodeHunk } from "./DemoDiff.ts"
import { swallowedInGo, swallowedInPython, swallowedInScript } from "./rules/Errors.ts"
import { shellFromStrings, sqlFromStrings } from "./rules/Injection.ts"
import { assignmentInCondition, lockNotReleased, missingAwait, offByOne, sharedDefault } from "./rules/Loops.ts"
import { maybeUndefined, unclosedInGo, unclosedInPython, usedBeforeCheck } from "./rules/Resources.ts"
import type { Rule } from "./rules/Rule.ts"
import { secretInSource, tlsUnchecked } from "./rules/Secrets.ts"

export const demoRules: ReadonlyArray<Rule> = [
  sqlFromStrings,
  shellFromStrings,
  secretInSource,
  tlsUnchecked,
  missingAwait,
  offByOne,
  maybeUndefined,
  usedBeforeCheck,
  lockNotReleased,
  assignmentInCondition,
  swallowedInScript,
  swallowedInPython,
  swallowedInGo,
  unclosedInPython,
  unclosedInGo,
  sharedDefault
]

/** Maximum number of problems in one response. */
const maxProblems = 200

export const findProblems = (hunks: ReadonlyArray<CodeHunk>): ReadonlyArray<ReportedProblem> =>
  hunks
    .flatMap((hunk) =>
      demoRules
        .filter(({ extensions }) => extensions.includes(hunk.extension))
        .flatMap((rule) =>
          rule.find(hunk).map(({ from, to, message, suggestion }): ReportedProblem => {
            const lines = hunk.lines.slice(from, to + 1)
            return {
              file: hunk.path,
              line: lines[0]?.number ?? 1,
              ...(to > from ? { end_line: lines.at(-1)?.number } : {}),
              severity: rule.severity,
              category: rule.category,
              title: rule.title,
              message: `${message}\n\n_Found by the static demo rule \`${rule.id}\`, not by a language model._`,
              quote: lines.map(({ text }) => text).join("\n"),
              ...(suggestion === undefined ? {} : { suggestion })
            }
          })
        )
    )
    .slice(0, maxProblems)
