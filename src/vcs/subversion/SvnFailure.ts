/** Converts messages of svn to an error; no other file interprets them. Codes are stable across versions, texts are not. */
import { redactCredentials } from "../../domain/RedactCredentials.ts"
import type { Reason } from "../../domain/Reason.ts"
import { CheckoutError } from "../Checkout.ts"
import { programFailed } from "../process/ProgramFailed.ts"

type Kind = CheckoutError["reason"]

/** Codes in order of precedence: a message about a connection is followed by its cause. */
const table: ReadonlyArray<readonly [RegExp, Kind]> = [
  [/E0*28\b|E0*122\b|E0*30\b|E0*5\b|No space left on device/, "disk"],
  [/E230001|E120171|E205000/, "failed"],
  [/E170001|E215004|E175013|E204900|E220001|Permission denied \(/, "unauthorized"],
  [/E160013|E160006|E195012|E200009|E170000|E160005|E195007|E155010|W160013|W195007|E210005|E160016/, "missing"],
  [/E170013|E210002|E175002|E175012|E120\d\d\d|E670\d\d\d|E0*11[0135]\b|E0*104\b|E000\d\d\d|E730\d\d\d/, "unreachable"]
]

const hints: ReadonlyArray<readonly [RegExp, Reason]> = [
  [/E230001/, { _tag: "TrustForSvn" }],
  [/E170001|E215004|E175013/, { _tag: "CheckUserAndPassword" }]
]

/** Hints for the user's own working copy. */
const ownHints: typeof hints = [[/E170001|E215004|E175013|E230001/, { _tag: "RunSvnInfo" }]]

export const classify = (stderr: string): Kind => table.find(([pattern]) => pattern.test(stderr))?.[1] ?? "failed"

/** Characters of a line of a message. */
const maxLine = 300

export const svnFailure = (
  command: string,
  stderr: string,
  secrets: ReadonlyArray<string>,
  isOwn = false
): CheckoutError => {
  const lines = stderr
    .split(/[\r\n]+/)
    .map((line) => line.trim())
    .filter((line) => line !== "")
  // The cause is in the last line, whatever the length of the others.
  const text = lines
    .slice(-4)
    .map((line) => redactCredentials(line, secrets).slice(0, maxLine))
    .join("; ")
  const hint = (isOwn ? ownHints : hints).find(([pattern]) => pattern.test(stderr))?.[1]
  return new CheckoutError({
    reason: classify(stderr),
    why: programFailed(`svn ${command}`, text, hint)
  })
}
