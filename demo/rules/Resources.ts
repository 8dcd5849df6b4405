/** Things that are opened and not closed, and results that are used before it is known whether they exist. */
import { eachLine, escaped, go, python, restOfBlock, script } from "./Rule.ts"
import type { Rule } from "./Rule.ts"

const openInPython = /^\s*(\w+)\s*=\s*(?:open|socket\.socket|urllib\.request\.urlopen)\(/
const openInGo = /^\s*(\w+)\s*,\s*(?:\w+)\s*:?=\s*(?:os\.(?:Open|Create|OpenFile)|net\.Dial|sql\.Open)\(/

export const unclosedInPython: Rule = {
  id: "unclosed-resource",
  title: "Opened and never closed",
  category: "resource-leak",
  severity: "medium",
  extensions: python,
  find: (hunk) =>
    eachLine(hunk, (text, index) => {
      const name = openInPython.exec(text)?.[1]
      if (name === undefined) return undefined
      const { rest, complete } = restOfBlock(hunk, index)
      if (
        !complete ||
        rest.some((line) => new RegExp(`\\b${name}\\.close\\(|return ${name}\\b(?!\\.)|with ${name}\\b`).test(line))
      ) {
        return undefined
      }
      return {
        message: `\`${name}\` is opened here and never closed: what was written may stay in the buffer, and the descriptor leaks with each call. Use \`with … as ${name}:\`.`
      }
    })
}

export const unclosedInGo: Rule = {
  ...unclosedInPython,
  extensions: go,
  find: (hunk) =>
    eachLine(hunk, (text, index) => {
      const name = openInGo.exec(text)?.[1]
      if (name === undefined || name === "_") return undefined
      const { rest, complete } = restOfBlock(hunk, index)
      if (!complete || rest.some((line) => new RegExp(`\\b${name}\\.Close\\(|return\\b.*\\b${name}\\b`).test(line))) {
        return undefined
      }
      return {
        message: `\`${name}\` is opened here and never closed, so each call leaks a file descriptor until the process runs out of them. Add \`defer ${name}.Close()\` after the error check.`
      }
    })
}

const call = /^\s*(\w+)\s*,\s*(err)\s*:?=\s*.+\($|^\s*(\w+)\s*,\s*(err)\s*:?=\s*[\w.]+\(.*\)\s*$/

export const usedBeforeCheck: Rule = {
  id: "used-before-error-check",
  title: "Used before the error is checked",
  category: "correctness",
  severity: "high",
  extensions: go,
  find: (hunk) =>
    eachLine(hunk, (text, index) => {
      const before = hunk.lines[index - 1]?.text ?? ""
      const [, first, , second] = call.exec(before) ?? []
      const name = first ?? second
      if (name === undefined || name === "_" || !new RegExp(`^\\s*(?:defer\\s+)?.*\\b${name}\\.\\w+`).test(text))
        return undefined
      if (/\berr\b/.test(text)) return undefined
      return {
        message: `\`${name}\` is nil when the call before it fails, and this line uses it before \`err\` is looked at: the first failure ends in a panic. Move it behind the error check.`
      }
    })
}

const found = /\b(?:const|let|var)\s+(\w+)(?:\s*:\s*[^=]+)?\s*=\s*.*\.find\(/

/** Lines between a find and its use. */
const reach = 12

export const maybeUndefined: Rule = {
  id: "maybe-undefined",
  title: "Result of find used without a check",
  category: "correctness",
  severity: "high",
  extensions: script,
  find: (hunk) =>
    eachLine(hunk, (text, index) => {
      const used = hunk.lines.slice(Math.max(0, index - reach), index).findLast(({ text: line }) => found.test(line))
      const name = found.exec(used?.text ?? "")?.[1]
      if (used === undefined || name === undefined || !new RegExp(`\\b${escaped(name)}\\.\\w`).test(text))
        return undefined
      const between = hunk.lines.slice(hunk.lines.indexOf(used) + 1, index + 1).map((line) => line.text)
      const checked = new RegExp(
        `\\b${escaped(name)}\\s*(?:\\?\\.|[!=]==?|\\?\\?|&&|\\?\\s)|!\\s*${escaped(name)}\\b|(?:if|while)\\s*\\(.*\\b${escaped(name)}\\b|assert\\w*\\(.*\\b${escaped(name)}\\b`
      )
      const before = between.slice(0, -1)
      // Only the first use speaks; a block that ended in between is another function.
      if (
        between.some((line) => checked.test(line)) ||
        before.some((line) => new RegExp(`\\b${escaped(name)}\\.\\w|^\\S`).test(line))
      ) {
        return undefined
      }
      return {
        message: `\`find\` gives \`undefined\` when nothing matches, and then this line throws. Say what happens to an unknown one before using \`${name}\`.`
      }
    })
}
