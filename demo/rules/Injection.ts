/** Data that becomes code: SQL and shell commands put together from strings. */
import { code, eachLine, go, python, script } from "./Rule.ts"
import type { Rule } from "./Rule.ts"

const statement = /\b(?:select\b.+\bfrom|insert\s+into|update\b.+\bset|delete\s+from)\b/i

// Matches the text before a value in a statement. Inserted table and column names have other reasons and risks.
const before = String.raw`(?:['=<>%]|\b(?:i?like|limit|offset)\s|\b(?:in|values)\s*\()\s*%?`

// A value in the text: ${x}, {x} of an f-string, "…" % x, .format(x), Sprintf with a verb for text, "…" + x.
const values: ReadonlyArray<readonly [ReadonlyArray<string>, RegExp]> = [
  [script, new RegExp(String.raw`(?<!\bsql|>)\x60[^\x60]*${before}\$\{`, "i")],
  [python, new RegExp(String.raw`\bf(["']).*${before}\{[^{}]+\}.*\1`, "i")],
  [python, new RegExp(String.raw`${before}(?:%s.*["']\s*%\s*[(\w]|\{\w*\}.*["']\.format\()`, "i")],
  [go, new RegExp(String.raw`Sprintf\(\s*["\x60].*${before}%[svq]`, "i")],
  [code, new RegExp(String.raw`${before}["']\s*\+\s*[A-Za-z_]`, "i")]
]

// The same for a shell, where any place is a value's.
const parts: ReadonlyArray<readonly [ReadonlyArray<string>, RegExp]> = [
  [script, /`[^`]*\$\{/],
  [python, /\bf(["']).*\{[^{}]+\}.*\1|["']\s*%\s*[(\w]|["']\.format\(/],
  [go, /Sprintf\(\s*["`].*%[svq]/],
  [code, /["']\s*\+\s*[A-Za-z_]/]
]

const matches = (table: typeof values, extension: string, text: string): boolean =>
  table.some(([extensions, pattern]) => extensions.includes(extension) && pattern.test(text))

const placeholders: ReadonlyArray<readonly [ReadonlyArray<string>, string]> = [
  [script, "Pass the value as a parameter: `… WHERE email = $1` with `[email]`."],
  [python, 'Pass the value as a parameter: `cursor.execute("… WHERE email = %s", (email,))`.'],
  [go, 'Pass the value as a parameter: `db.Query("… WHERE email = $1", email)`.'],
  [code, "Pass the value as a parameter of a prepared statement."]
]

export const sqlFromStrings: Rule = {
  id: "sql-from-strings",
  title: "SQL put together from strings",
  category: "security",
  severity: "critical",
  extensions: code,
  find: (hunk) =>
    eachLine(hunk, (text) => {
      if (!statement.test(text) || !matches(values, hunk.extension, text)) return undefined
      const advice = placeholders.find(([extensions]) => extensions.includes(hunk.extension))?.[1] ?? ""
      return {
        message: `A value is put into the SQL text itself. Anyone who controls the value controls the statement and can read or change other rows. ${advice}`
      }
    })
}

const shell =
  /\bos\.system\(|\bshell\s*=\s*True|(?<![.\w])(?:(?:child_process|cp)\.)?exec(?:Sync)?\(|\bexec\.Command\(\s*"(?:sh|bash)"\s*,\s*"-c"/

export const shellFromStrings: Rule = {
  id: "shell-from-strings",
  title: "Shell command put together from strings",
  category: "security",
  severity: "critical",
  extensions: [...script, ...python, ...go],
  find: (hunk) =>
    eachLine(hunk, (text) =>
      shell.test(text) && matches(parts, hunk.extension, text)
        ? {
            message:
              "A value is put into a shell command. A `;` or `$(…)` in it runs as a command of its own. Call the program directly with a list of arguments, without a shell."
          }
        : undefined
    )
}
