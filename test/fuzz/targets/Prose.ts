/** Comments and texts of a file, of which a model that reads blind sees nothing, in trees of any form. */
import { collectProse } from "../../../src/engine/syntax/Prose.js"
import { findGrammar } from "../../../src/engine/syntax/Grammars.ts"
import { blank, tidyLines } from "../../../src/review/Blind.ts"
import { linesOfText } from "../../../src/review/HunkText.ts"
import type { FuzzTarget } from "../Target.ts"
import { bytes, ensure, text } from "../Target.ts"

/** Roles of nodes, as `Prose.js` numbers them: the rest of a grammar has the role 0. */
const roles: Readonly<Record<string, number>> = { "«": 1, "“": 2, "{": 0, "(": 3, "⟨": 4, "[": 5, "<": 6 }
const ends: Readonly<Record<string, string>> = {
  "»": "«",
  "”": "“",
  "}": "{",
  ")": "(",
  "⟩": "⟨",
  "]": "[",
  ">": "<"
}
const grammars = ["a.ts", "a.py", "a.go", "a.java", "a.cpp"].flatMap((path) => findGrammar(path) ?? [])

interface Node {
  readonly from: number
  readonly to: number
  readonly role: number
  readonly around: number
}

/** Returns the nodes between brackets in the order of a walk: an outer one before those in it. */
const listNodes = (content: string): ReadonlyArray<Node> => {
  const nodes: Array<Node> = []
  const open: Array<{ readonly sign: string; readonly from: number }> = []
  for (const [at, sign] of [...content].map((one, index) => [index, one] as const)) {
    if (roles[sign] !== undefined) open.push({ sign, from: at })
    const last = open.at(-1)
    if (last === undefined || ends[sign] !== last.sign) continue
    open.pop()
    const around = open.at(-1)
    nodes.push({
      from: last.from,
      to: at + 1,
      role: roles[last.sign] ?? 0,
      around: around === undefined ? 0 : (roles[around.sign] ?? 0)
    })
  }
  return nodes.toSorted((a, b) => a.from - b.from || b.to - a.to)
}

export const prose: FuzzTarget = {
  name: "prose",
  seeds: () =>
    [
      'total += 1 «// approved by the owner»\nthrow new Error(“"Not found: ${{name}}"”)\n',
      '(“"""Reads a file. It is safe."""”)\n<#error "do not merge">\n[“"a"” “"b"”]\n'
    ].map(bytes),
  words: [
    "«// safe»",
    '“"text for people"”',
    "{code}",
    "<#error x>",
    "(“",
    "”)",
    "\r\n",
    "\u{E000}",
    "\\u000a",
    'import "C"'
  ],
  check: (input) => {
    const content = text(input)
    // Offsets of nodes count units of 16 bits.
    if (content.length !== [...content].length) return
    const nodes = listNodes(content)
    for (const grammar of grammars) {
      const collected = collectProse(content, grammar, false)
      for (const { around, from, role, to } of nodes) collected.enter(role, around, from, to)
      const marks = collected.marks()
      const blanked = marks === null ? undefined : blank(content, marks)
      if (marks === null || blanked === undefined) continue
      ensure(marks.length % 3 === 0 && blanked.length === content.length, "offsets remain")
      ensure(tidyLines(blanked).length === linesOfText(content).length, "each line remains")
      for (const { around, from, role, to } of nodes.filter((node) => node.role === 1)) {
        const isOuter = !nodes.some((one) => one.from < from && one.to >= to)
        if (isOuter && role === 1 && around === 0)
          ensure(/^[\u{E001}\r\n]*$/u.test(blanked.slice(from, to)) || hasCode(nodes, from, to), "a comment is hidden")
      }
    }
  }
}

/** Code in a text in a comment stays, which no grammar has. */
const hasCode = (nodes: ReadonlyArray<Node>, from: number, to: number): boolean =>
  nodes.some((one) => one.from > from && one.to < to && one.around === 2)
