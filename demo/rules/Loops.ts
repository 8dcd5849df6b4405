/** Bounds of loops, forgotten awaits, and defaults that are shared between calls. */
import { code, eachLine, escaped, go, isCode, python, script } from "./Rule.ts"
import type { Rule } from "./Rule.ts"

const upToLength = /(\w+)\s*<=\s*(?:([\w.]+)\.(?:length|size\(\)|Length|Count)|len\(([\w.]+)\))(?!\s*[-+*/])/
const rangeBeyond = /\brange\((?:\s*0\s*,)?\s*len\(([\w.]+)\)\s*\+\s*1\s*\)/

export const offByOne: Rule = {
  id: "off-by-one",
  title: "Loop runs one step too far",
  category: "correctness",
  severity: "high",
  extensions: code,
  find: (hunk) =>
    eachLine(hunk, (text, index) => {
      const [, counter, ofProperty, ofLen] = upToLength.exec(text) ?? []
      const list = ofProperty ?? ofLen ?? rangeBeyond.exec(text)?.[1]
      const name = counter ?? /\bfor\s+(\w+)\s+in\b/.exec(text)?.[1]
      if (list === undefined || name === undefined || !/^\s*for\b/.test(text)) return undefined
      const body = hunk.lines.slice(index, index + 12).map((line) => line.text)
      if (!body.some((line) => line.includes(`${list}[${name}]`))) return undefined
      return {
        message: `The last step has \`${name}\` equal to the number of elements, one behind the last index: it reads an element that is not there.`,
        suggestion:
          counter === undefined
            ? text.replace(rangeBeyond, (whole) => whole.replace(/\s*\+\s*1/, ""))
            : text.replace(upToLength, (whole) => whole.replace("<=", "<"))
      }
    })
}

const declared = /\basync\s+(?:function\s+)?(\w+)\s*\(|\b(\w+)\s*=\s*async\b/

export const missingAwait: Rule = {
  id: "missing-await",
  title: "Promise is not awaited",
  category: "concurrency",
  severity: "high",
  extensions: script,
  find: (hunk) => {
    const names = new Set(
      hunk.lines.flatMap(({ text }) => {
        const [, method, constant] = declared.exec(text) ?? []
        const name = method ?? constant
        return name === undefined || name === "function" ? [] : [name]
      })
    )
    return eachLine(hunk, (text) => {
      const [, receiver = "", name] = /^\s*((?:this\.)?)(\w+)\(.*\);?\s*$/.exec(text) ?? []
      if (name === undefined || !names.has(name)) return undefined
      return {
        message: `\`${name}\` is async and its promise is dropped here: the code goes on before it is done, and when it fails the rejection is unhandled and the caller sees success.`,
        suggestion: text.replace(`${receiver}${name}(`, `await ${receiver}${name}(`)
      }
    })
  }
}

export const sharedDefault: Rule = {
  id: "shared-default",
  title: "Default value shared between calls",
  category: "correctness",
  severity: "medium",
  extensions: python,
  find: (hunk) =>
    eachLine(hunk, (text) => {
      const [, name] =
        /^\s*(?:async\s+)?def\s+\w+\(.*\b(\w+)(?:\s*:\s*[^,=]+)?\s*=\s*(?:\[\]|\{\}|set\(\))/.exec(text) ?? []
      return name === undefined
        ? undefined
        : {
            message: `The default of \`${name}\` is made once, when the function is defined: what one call puts into it is still there in the next. Use \`None\` and make a new one inside.`
          }
    })
}

export const assignmentInCondition: Rule = {
  id: "assignment-in-condition",
  title: "Assignment where a comparison is meant",
  category: "correctness",
  severity: "high",
  extensions: script,
  find: (hunk) =>
    eachLine(hunk, (text) =>
      /\bif\s*\(\s*[\w.]+\s*=\s*(?!=|>)[^=)]+\)\s*\{?\s*$/.test(text)
        ? {
            message: "This assigns instead of comparing, so the condition does not depend on the old value.",
            suggestion: text.replace(/([\w.]\s*)=(\s*)/, "$1===$2")
          }
        : undefined
    )
}

const lockInGo = /^\s*(\w[\w.]*)\.(R?)Lock\(\)\s*$/

export const lockNotReleased: Rule = {
  id: "lock-not-released",
  title: "Lock kept on an early return",
  category: "concurrency",
  severity: "high",
  extensions: go,
  find: (hunk) =>
    eachLine(hunk, (text, index) => {
      const [, mutex, read = ""] = lockInGo.exec(text) ?? []
      if (mutex === undefined) return undefined
      const unlock = new RegExp(`${escaped(mutex)}\\.${read}Unlock\\(\\)`)
      for (const { text: line } of hunk.lines.slice(index + 1)) {
        if (!isCode(line)) continue
        if (unlock.test(line) || /^\S/.test(line)) return undefined
        if (/^\s*return\b/.test(line)) {
          return {
            message: `A return further down leaves the function with \`${mutex}\` locked, and the next call waits for ever. Add \`defer ${mutex}.${read}Unlock()\` right here.`,
            suggestion: `${text}\n${/^\s*/.exec(text)?.[0] ?? ""}defer ${mutex}.${read}Unlock()`
          }
        }
      }
      return undefined
    })
}
