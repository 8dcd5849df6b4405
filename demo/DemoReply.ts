/**
 * Replies of the demo model to comments about its findings. Like its reviews they come from static rules: words of the comment select the kind
 * of reply, and the code at the head decides it. Four kinds: the reason of a finding, its repair, further places, and an objection.
 */
import type { ReportedProblem } from "../src/domain/Problem.ts"
import type { CodeHunk, CodeLine } from "./DemoDiff.ts"

/** Returns the problems of code; `findProblems` of DemoModel. */
type Find = (hunks: ReadonlyArray<CodeHunk>) => ReadonlyArray<ReportedProblem>

interface Reply {
  readonly outcome: "kept" | "replied" | "withdrawn"
  readonly text: string
  readonly path?: string
  readonly quote?: string
}

interface Subject {
  readonly title: string
  /** Problems of the code at the head that have the title of the finding. */
  readonly found: ReadonlyArray<ReportedProblem>
  readonly code: CodeHunk
}

/** Returns the text of the last block with this tag. */
const readBlock = (prompt: string, tag: string): string => {
  const blocks = prompt.matchAll(new RegExp(`^<${tag} (\\S+)>\\n([\\s\\S]*?)\\n</${tag} \\1>$`, "gm"))
  return [...blocks].at(-1)?.[2] ?? ""
}

/** Parses numbered lines of a file. All count as added, so that the rules match them. */
const readCode = (block: string): CodeHunk => {
  const [heading = "", ...rows] = block.split("\n")
  const path = heading.replace(/^file /, "")
  const lines = rows.flatMap((row): ReadonlyArray<CodeLine> => {
    const [, number, text] = /^(\d+): (.*)$/.exec(row) ?? []
    return text === undefined ? [] : [{ number: Number(number), text, added: true }]
  })
  return { path, extension: /\.(\w+)$/.exec(path)?.[1]?.toLowerCase() ?? "", whole: false, lines }
}

const note = "_Written by static demo rules, not by a language model._"
const fenced = (text: string): string => `\`\`\`\n${text}\n\`\`\``
const showPlaces = (found: Subject["found"]): string => found.map(({ line }) => `line ${line}`).join(", ")

const explain = ({ code, found, title }: Subject): Reply => {
  const [problem] = found
  const text =
    problem === undefined
      ? `No rule matches the lines of \`${code.path}\` that I can see any more.`
      : `${title}, on ${showPlaces(found)} of \`${code.path}\`. ${problem.message.split("\n")[0]}\n\n${fenced(problem.quote ?? "")}`
  return { outcome: "replied", text }
}

const repair = (subject: Subject): Reply => {
  const problem = subject.found.find(({ suggestion }) => suggestion !== undefined)
  if (problem === undefined) return explain(subject)
  return {
    outcome: "replied",
    text: `Replace line ${problem.line} of \`${subject.code.path}\` with this:\n\n${fenced(problem.suggestion ?? "")}`
  }
}

const listPlaces = ({ code, found, title }: Subject): Reply => ({
  outcome: "replied",
  text:
    found.length === 0
      ? `Nowhere in the lines of \`${code.path}\` that I can see.`
      : `"${title}" is on ${showPlaces(found)} of \`${code.path}\`, in the lines that I can see.`
})

const judgeObjection = ({ code, found, title }: Subject): Reply => {
  const [problem] = found
  if (problem !== undefined) {
    return {
      outcome: "kept",
      text: `The code still has it on ${showPlaces(found)}:\n\n${fenced(problem.quote ?? "")}\n\nI would drop "${title}" if that code were changed.`
    }
  }
  const quote = code.lines.find(({ text }) => text.trim().length > 8)?.text
  if (quote === undefined) return { outcome: "kept", text: "I cannot see the code, so the finding stays." }
  return {
    outcome: "withdrawn",
    text: `You are right: no rule matches these lines of \`${code.path}\` at the head.`,
    path: code.path,
    quote
  }
}

/** Words of a comment for each kind of reply. The first row that matches is used. */
const kinds: ReadonlyArray<readonly [RegExp, (subject: Subject) => Reply]> = [
  [/false positive|\bwrong\b|not (?:a|an|true)\b|disagree|误报|不对|错了/i, judgeObjection],
  [/\b(?:where|else|elsewhere|other places)\b|哪里|还有/i, listPlaces],
  [/\b(?:how|fix|repair|instead)\b|怎么|如何|修/i, repair],
  [/(?:)/, explain]
]

/** Returns the reply to the last comment of a prompt of `replyPrompt`. */
export const writeDemoReply = (prompt: string, find: Find): Reply => {
  const comment = readBlock(prompt, "comment-of-person").split("\n").slice(1).join("\n")
  const title = readBlock(prompt, "finding").split("\n")[1] ?? ""
  const code = readCode(readBlock(prompt, "code-at-head"))
  if (title === "") {
    const listed = [...readBlock(prompt, "findings").matchAll(/^\d+\. (\w+) \w+ (\S+)\n(.*)/gm)]
    const rows = listed.map(([, severity, place, name]) => `- ${severity}: ${name} (${place})`)
    const text =
      rows.length === 0
        ? "The newest review has no findings."
        : `The findings of the newest review:\n\n${rows.join("\n")}`
    return { outcome: "replied", text: `${text}\n\n${note}` }
  }
  const subject = { title, code, found: find([code]).filter((problem) => problem.title === title) }
  const write = kinds.find(([words]) => words.test(comment))?.[1] ?? explain
  const reply = write(subject)
  return { ...reply, text: `${reply.text}\n\n${note}` }
}
