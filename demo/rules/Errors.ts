/** Rules for swallowed failures. */
import { go, countIndent, isCode, python, script } from "./Rule.ts"
import type { RuleMatch, Rule } from "./Rule.ts"
import type { CodeHunk } from "../DemoDiff.ts"

const message =
  "The error is dropped: whatever fails here, the caller goes on as if it had worked, and nothing is logged. Handle the errors that are expected, and pass the others on."

const swallowed = (hunk: CodeHunk, opening: RegExp, isBodyDropped: (body: ReadonlyArray<string>) => boolean) =>
  hunk.lines.flatMap((line, from): ReadonlyArray<RuleMatch> => {
    if (!line.added || !opening.test(line.text)) return []
    const end = hunk.lines.findIndex(
      ({ text }, at) => at > from && isCode(text) && countIndent(text) <= countIndent(line.text)
    )
    if (end === -1 && !hunk.whole) return []
    const body = hunk.lines.slice(from + 1, end === -1 ? undefined : end).map(({ text }) => text)
    // A comment in the body shows that the empty handler is intended.
    if (body.some((text) => text.trim() !== "" && !isCode(text))) return []
    if (!isBodyDropped(body.filter(isCode).map((text) => text.trim()))) return []
    return [{ from, to: from, message }]
  })

export const swallowedInScript: Rule = {
  id: "swallowed-error",
  title: "Error swallowed",
  category: "error-handling",
  severity: "medium",
  extensions: script,
  find: (hunk) => [
    ...swallowed(hunk, /\bcatch\s*(?:\([^)]*\)\s*)?\{\s*$/, (body) => body.length === 0),
    ...hunk.lines.flatMap(({ added, text }, at) =>
      added &&
      isCode(text) &&
      /\bcatch\s*\([^)]*\)\s*\{\s*\}|(?<!\.(?:close|cancel|abort|destroy)\(\))\.catch\(\s*\(\)\s*=>\s*\{\s*\}\s*\)\s*;?\s*$/.test(
        text
      )
        ? [{ from: at, to: at, message }]
        : []
    )
  ]
}

export const swallowedInPython: Rule = {
  ...swallowedInScript,
  extensions: python,
  find: (hunk) =>
    swallowed(hunk, /^\s*except(?:\s+(?:Base)?Exception(?:\s+as\s+\w+)?)?\s*:\s*$/, (body) =>
      body.every((text) => text === "pass" || text === "continue" || text === "...")
    )
}

export const swallowedInGo: Rule = {
  ...swallowedInScript,
  extensions: go,
  severity: "high",
  find: (hunk) =>
    swallowed(
      hunk,
      /^\s*if\s+(?:[^;]+;\s*)?err\s*!=\s*nil\s*\{\s*$/,
      (body) => body.length === 1 && body[0] === "return nil"
    )
}
